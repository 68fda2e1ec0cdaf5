//! What the columns of a table are: what was said about them, and for the rest what their first rows look like.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use anyhow::{Context, Result, bail};
use priory::words::{Meaning, kind_for};
use priory::{
    Column, Decision, Family, Kind, MISSING_SPELLINGS, Schema, Selection, Settings, Stored, TakenAs,
    canonical_order, infer,
};
use priory_input::Table;
use serde::{Deserialize, Serialize};

use crate::args::{InputArgs, TableArgs};
use crate::choices::AsChoice;
use crate::output::{note, short};

/// The name that stands for every column in `--as`.
const EVERY_COLUMN: &str = "*";
/// So many rows are looked at before a decision.
const SAMPLE_ROWS: usize = 10_000;
/// A target of numbers with more different values than this in the sample is not one of classes.
const MOST_NUMBER_CLASSES: usize = 1_000;

/// A schema, the families that were asked for, and how each column came to its kind.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Understood {
    pub(crate) schema: Schema,
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub(crate) families: BTreeMap<String, Family>,
    #[serde(skip)]
    pub(crate) decisions: Vec<(String, Decision)>,
}

/// Opens tables to have a look at them; standard input cannot be looked at beforehand.
pub(crate) fn others<'a>(
    paths: &'a [String],
    input: &'a InputArgs,
) -> impl Iterator<Item = Result<Table>> + 'a {
    paths.iter().filter(|path| *path != "-").map(|path| input.open(path))
}

impl Understood {
    /// Understands the columns of the first table; the others are looked at as well if it has few rows.
    pub(crate) fn new(
        first: &mut Table,
        others: &mut dyn Iterator<Item = Result<Table>>,
        args: &TableArgs,
    ) -> Result<Self> {
        if let Some(path) = &args.schema {
            return read(path, args);
        }
        let target = args.target.clone().or_else(|| first.has_documents().then(|| "class".to_owned()));
        let Some(target) = &target else { bail!("say with --target which column to predict") };
        check_names(first, target, args)?;
        let missing = match &args.missing {
            Some(spellings) => spellings.clone(),
            None => MISSING_SPELLINGS.map(String::from).to_vec(),
        };
        let sample = Sample::new(first, others, &missing)?;
        check_target(&sample, target)?;

        let mut understood = Understood {
            schema: Schema {
                target: target.clone(),
                weight: args.weight.clone(),
                missing,
                columns: Vec::new(),
            },
            families: BTreeMap::new(),
            decisions: Vec::new(),
        };
        for (i, name) in sample.names.iter().enumerate() {
            if name == target || Some(name) == args.weight.as_ref() || args.ignore.contains(name) {
                continue;
            }
            match meaning(name, &args.kinds) {
                Some(Meaning::Ignored) => {}
                Some(Meaning::Kept(kind, family)) => {
                    understood.schema.columns.push(Column::new(name, kind));
                    understood.families.extend(family.map(|family| (name.clone(), family)));
                }
                None => understood.infer(name, sample.stored[i], &sample.values(i)),
            }
        }
        if understood.schema.columns.is_empty() {
            bail!("no columns are left to learn from");
        }
        args.text.apply(&mut understood.schema)?;
        understood.schema = understood.schema.checked()?;
        Ok(understood)
    }

    fn infer(&mut self, name: &str, stored: Stored, values: &[Option<&str>]) {
        let decision = infer(name, stored, values);
        if let TakenAs::Feature(kind) = decision.taken_as {
            self.schema.columns.push(Column::new(name, kind));
        }
        self.decisions.push((name.to_owned(), decision));
    }

    /// Puts the families that were asked for into the settings. Columns of numbers of which no more than sums will be
    /// used are counted like that, unless columns are to be selected: sums do not tell which help. A discriminant takes
    /// all of them together, unless some were grouped by name.
    pub(crate) fn apply(&mut self, settings: &mut Settings) -> Result<()> {
        settings.families.extend(self.families.clone());
        let grouped = self.schema.columns.iter().any(|column| column.kind == Kind::Group);
        if settings.discriminant.is_some() && !grouped {
            let numbers = self.schema.columns.iter_mut().filter(|column| column.kind == Kind::Number);
            let mut numbers =
                numbers.filter(|column| !settings.families.contains_key(&column.name)).peekable();
            if numbers.peek().is_none() {
                bail!("--discriminant is for columns of numbers, and there is none left for it");
            }
            numbers.for_each(|column| column.kind = Kind::Group);
        }
        if settings.select != Selection::All {
            let sums = self.schema.columns.iter_mut().filter(|column| column.kind == Kind::Moments);
            sums.for_each(|column| column.kind = Kind::Number);
            return Ok(());
        }
        let Some(family) = settings.numbers else { return Ok(()) };
        let others = self.schema.columns.iter_mut().filter(|column| column.kind == Kind::Number);
        for column in others.filter(|column| !settings.families.contains_key(&column.name)) {
            column.kind = kind_for(family);
        }
        Ok(())
    }

    /// 4 numbers, 3 categories.
    pub(crate) fn describe(&self) -> String {
        describe_columns(&self.schema)
    }

    /// Says on standard error what was decided, and what else it might have been.
    pub(crate) fn explain(&self) {
        for (title, kind) in [("numbers", Kind::Number), ("categories", Kind::Category), ("text", Kind::Text)]
        {
            let decided = self.decisions.iter().filter(|(_, d)| d.taken_as == TakenAs::Feature(kind));
            let names: Vec<&str> = decided.map(|(name, _)| name.as_str()).collect();
            if !names.is_empty() {
                note(&format!("{title}: {}", short_list(&names)));
            }
        }
        self.explain_left_out();
        for (name, decision) in &self.decisions {
            if let (TakenAs::Feature(_), Some(hint)) = (decision.taken_as, &decision.hint) {
                note(&format!("perhaps: {name} has {hint}"));
            }
        }
    }

    /// Says on standard error which columns were left out, and why.
    pub(crate) fn explain_left_out(&self) {
        for (name, decision) in &self.decisions {
            if decision.taken_as == TakenAs::Identifier {
                let hint = decision.hint.as_ref().map_or(String::new(), |hint| format!("; {hint}"));
                note(&format!("left out: {name}, {}{hint}", decision.reason));
            }
        }
    }
}

/// 4 numbers, 3 categories.
pub(crate) fn describe_columns(schema: &Schema) -> String {
    let words = [
        (Kind::Number, "number", "numbers"),
        (Kind::Category, "category", "categories"),
        (Kind::Text, "text", "texts"),
        (Kind::Joint, "joint column", "joint columns"),
        (Kind::Group, "number in a group", "numbers in a group"),
    ];
    let counted = words.iter().filter_map(|(kind, one, many)| {
        let counted_as = |column: &&Column| match column.kind {
            Kind::Moments => *kind == Kind::Number,
            other => other == *kind,
        };
        let n = schema.columns.iter().filter(counted_as).count();
        (n > 0).then(|| format!("{n} {}", if n == 1 { one } else { many }))
    });
    counted.collect::<Vec<_>>().join(", ")
}

/// Names, but not hundreds of them.
pub(crate) fn short_list(names: &[&str]) -> String {
    const MOST: usize = 12;
    let shown = names.iter().take(MOST).map(|name| short(name)).collect::<Vec<_>>().join(", ");
    if names.len() > MOST { format!("{shown} and {} more", names.len() - MOST) } else { shown }
}

/// Every name on the command line must be that of a column.
fn check_names(table: &Table, target: &str, args: &TableArgs) -> Result<()> {
    table.column("target", target)?;
    if let Some(name) = &args.weight {
        table.column("weight", name)?;
    }
    let about = args.kinds.iter().map(|choice| &choice.column).filter(|name| *name != EVERY_COLUMN);
    for name in args.ignore.iter().chain(about) {
        table.column("feature", name)?;
    }
    Ok(())
}

/// Numbers are not classes; to find that out after an hour would be late.
fn check_target(sample: &Sample, target: &str) -> Result<()> {
    let Some(i) = sample.names.iter().position(|name| name == target) else { return Ok(()) };
    let mut values: Vec<&str> = sample.values(i).into_iter().flatten().collect();
    let are_numbers = values.iter().all(|value| value.trim().parse::<f64>().is_ok());
    let rows = values.len();
    values.sort_unstable_by(|a, b| canonical_order(a, b));
    values.dedup();
    if are_numbers && values.len() > MOST_NUMBER_CLASSES && 2 * values.len() > rows {
        bail!(
            "the target `{target}` is a number with {} different values in {rows} rows; classes are what is predicted here",
            values.len()
        );
    }
    Ok(())
}

/// The last word about a column counts; a word about the column itself counts more than one about all.
fn meaning(name: &str, choices: &[AsChoice]) -> Option<Meaning> {
    let about = |column: &str| choices.iter().rev().find(|choice| choice.column == column);
    about(name).or_else(|| about(EVERY_COLUMN)).map(|choice| choice.meaning)
}

/// Reads a schema that `priory schema -o` wrote. What else was said about columns contradicts it.
fn read(path: &Path, args: &TableArgs) -> Result<Understood> {
    let name = path.display();
    if args.weight.is_some() || args.missing.is_some() || !args.ignore.is_empty() || !args.kinds.is_empty() {
        bail!(
            "--schema says all about the columns; --weight, --missing, --ignore and --as cannot be given with it"
        );
    }
    if args.text.is_given()? {
        bail!("--schema says all about the columns; what text is cannot be said beside it");
    }
    let text = std::fs::read_to_string(path).with_context(|| format!("{name}: cannot be read"))?;
    let mut understood: Understood = serde_json::from_str(&text)
        .with_context(|| format!("{name}: not a schema as priory schema -o writes it"))?;
    if args.target.as_ref().is_some_and(|target| *target != understood.schema.target) {
        bail!("{name}: the target is `{}`, not the one that --target names", understood.schema.target);
    }
    understood.schema = understood.schema.checked()?;
    Ok(understood)
}

/// The first rows of some tables, as one.
struct Sample {
    names: Vec<String>,
    stored: Vec<Stored>,
    columns: Vec<Vec<Option<String>>>,
    missing: Vec<String>,
}

impl Sample {
    fn new(
        first: &mut Table,
        others: &mut dyn Iterator<Item = Result<Table>>,
        missing: &[String],
    ) -> Result<Self> {
        let (names, stored) = first.columns().into_iter().map(|column| (column.name, column.stored)).unzip();
        let sampled = first.sample(SAMPLE_ROWS)?;
        let mut sample = Sample { names, stored, columns: sampled.columns, missing: missing.to_vec() };
        let mut rows = sampled.rows;
        while rows < SAMPLE_ROWS
            && let Some(table) = others.next()
        {
            let mut table = table?;
            let more = table.sample(SAMPLE_ROWS - rows)?;
            let positions: HashMap<&str, usize> =
                table.header().iter().map(String::as_str).zip(0..).collect();
            rows += more.rows;
            for (name, values) in sample.names.iter().zip(&mut sample.columns) {
                if let Some(&position) = positions.get(name.as_str()) {
                    values.extend_from_slice(&more.columns[position]);
                }
            }
        }
        Ok(sample)
    }

    /// The values of a column, `None` where they are missing.
    fn values(&self, column: usize) -> Vec<Option<&str>> {
        let is_missing = |value: &str| self.missing.iter().any(|spelling| spelling == value);
        self.columns[column].iter().map(|value| value.as_deref().filter(|value| !is_missing(value))).collect()
    }
}
