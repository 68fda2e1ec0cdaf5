//! What the columns of a table are: what was said about them, and for the rest what their first rows look like.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use priory::infer::{Decision, TakenAs};
use priory::schema::MISSING_SPELLINGS;
use priory::settings::Family;
use priory::words::Meaning;
use priory::written::Written;
use priory::{Column, Kind, Schema, Settings, Statistics};
use priory_input::{Hints, Table, apply_families, check_kinds};
use serde::{Deserialize, Serialize};

use crate::advice::about_column;
use crate::args::{InputArgs, TableArgs, wrong_usage};
use crate::choices::AsChoice;
use crate::output::{note, short};

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
            return from_schema(path, args);
        }
        let target = args.target.clone().or_else(|| first.has_documents().then(|| "class".to_owned()));
        let Some(target) = &target else {
            let names: Vec<&str> = first.header().iter().map(String::as_str).collect();
            wrong_usage(&format!("say with --target which column to predict: {}", short_list(&names)));
        };
        if args.target.is_none() && first.has_paths() && !first.has_mails() && !args.input.documents {
            note(&format!("{}: documents, each in a folder of its class, as with --documents", first.name()));
        }
        let hints = hints(target, first.header(), args)?;
        let understood = priory_input::Understood::new(first, others, &hints)?;
        if !first.has_mails() {
            return Understood::with_text(understood, args);
        }
        if args.text.is_given()? {
            bail!("mail is taken apart in its own way: what a token is cannot be said beside it");
        }
        let priory_input::Understood { schema, families, decisions } = understood;
        Ok(Understood { schema: schema.checked()?, families, decisions })
    }

    /// Understands the columns that tables of counts are about.
    pub(crate) fn of_counts(
        tables: &mut dyn Iterator<Item = Result<Table>>,
        args: &TableArgs,
    ) -> Result<Self> {
        if let Some(path) = &args.schema {
            return from_schema(path, args);
        }
        let hints = hints(args.target.as_deref().unwrap_or("class"), &[], args)?;
        Understood::with_text(priory_input::Understood::of_counts(tables, &hints)?, args)
    }

    fn with_text(understood: priory_input::Understood, args: &TableArgs) -> Result<Self> {
        let priory_input::Understood { mut schema, families, decisions } = understood;
        args.text.apply(&mut schema)?;
        Ok(Understood { schema: schema.checked()?, families, decisions })
    }

    /// Puts the families that were asked for into the settings, and has counted what they need.
    pub(crate) fn apply(&mut self, settings: &mut Settings) -> Result<()> {
        Ok(apply_families(&mut self.schema, &self.families, settings)?)
    }

    /// What was learnt must not contradict what the columns were taken for.
    pub(crate) fn check(&self, statistics: &Statistics, input: &InputArgs) -> Result<()> {
        Ok(check_kinds(&self.decisions, statistics, input.options().bad_values)?)
    }

    /// 4 numbers, 3 categories.
    pub(crate) fn describe(&self) -> String {
        describe_columns(&self.schema)
    }

    /// Says on standard error what was decided, and what else it might have been.
    pub(crate) fn explain(&self) {
        let word = |decision: &Decision| match (decision.taken_as, &decision.written) {
            (TakenAs::Feature(_), Some(Written::Date(_))) => "date",
            (TakenAs::Feature(kind), _) => kind.name(),
            (TakenAs::LeftOut, _) => "",
        };
        for (title, kind) in
            [("numbers", "number"), ("dates", "date"), ("categories", "category"), ("text", "text")]
        {
            let decided = self.decisions.iter().filter(|(_, decision)| word(decision) == kind);
            let names: Vec<&str> = decided.map(|(name, _)| name.as_str()).collect();
            if !names.is_empty() {
                note(&format!("{title}: {}", short_list(&names)));
            }
        }
        self.explain_left_out();
        for (name, decision) in &self.decisions {
            if let (TakenAs::Feature(_), Some(hint)) = (decision.taken_as, &decision.hint) {
                note(&format!("perhaps: {name} has {}", about_column(name, hint)));
            }
        }
    }

    /// The columns that were left out because of what they hold, and why.
    pub(crate) fn left_out(&self) -> Vec<(String, String)> {
        let left_out = self.decisions.iter().filter(|(_, decision)| decision.taken_as == TakenAs::LeftOut);
        left_out.map(|(name, decision)| (name.clone(), decision.reason.to_string())).collect()
    }

    /// Says on standard error which columns were left out, and why.
    pub(crate) fn explain_left_out(&self) {
        for (name, decision) in &self.decisions {
            if decision.taken_as == TakenAs::LeftOut {
                let hint = decision.hint.as_ref();
                let hint = hint.map_or(String::new(), |hint| format!("; {}", about_column(name, hint)));
                note(&format!("left out: {name}, {}{hint}", decision.reason));
            }
        }
    }
}

/// What was said about the columns of a table with this header.
fn hints(target: &str, header: &[String], args: &TableArgs) -> Result<Hints> {
    let ignored = named_columns(&args.ignore, header);
    check_roles(target, &ignored, args)?;
    let missing = match &args.missing {
        Some(spellings) => spellings.clone(),
        None => MISSING_SPELLINGS.map(String::from).to_vec(),
    };
    // Columns that are ignored stay so, whatever else is said about them.
    let ignored = ignored.into_iter().map(|name| (name, Meaning::Ignored));
    let kinds = args.kinds.iter().map(|choice| (choice.column.clone(), choice.meaning));
    Ok(Hints {
        target: target.to_owned(),
        weight: args.weight.clone(),
        group: args.group.clone(),
        missing,
        decimal: args.decimal,
        bins: args.bins,
        target_is_class: args.kinds.iter().any(|choice| choice.column == target),
        meanings: kinds.chain(ignored).collect(),
    })
}

/// The columns that were named, one or several at a time.
pub(crate) fn named_columns(named: &[String], header: &[String]) -> Vec<String> {
    let columns = named.iter().flat_map(|names| match header.contains(names) {
        true => vec![names.clone()],
        false => names.split(',').map(String::from).collect(),
    });
    columns.collect()
}

/// Refuses what is said of a column that is no feature.
fn check_roles(target: &str, ignored: &[String], args: &TableArgs) -> Result<()> {
    let is_feature = |name: &str| {
        name != target && ![&args.weight, &args.group].iter().any(|role| role.as_deref() == Some(name))
    };
    if let Some(name) = ignored.iter().find(|name| !is_feature(name)) {
        bail!(
            "--ignore {name}: this column is the target, the weight or the group, which cannot be left out"
        );
    }
    let is_class = Meaning::Kept(Kind::Category, None);
    let is_said =
        |choice: &&AsChoice| choice.column == target && choice.meaning == is_class && args.bins.is_none();
    let others = args.kinds.iter().filter(|choice| !is_feature(&choice.column));
    if let Some(choice) = others.into_iter().find(|choice| !is_said(choice)) {
        bail!("--as {}=…: this column is the target, the weight or the group, and no feature", choice.column);
    }
    Ok(())
}

/// 4 numbers, 3 categories.
pub(crate) fn describe_columns(schema: &Schema) -> String {
    let words = [
        ("number", "number", "numbers"),
        ("date", "date", "dates"),
        ("category", "category", "categories"),
        ("text", "text", "texts"),
        ("joint", "joint column", "joint columns"),
        ("group", "number in a group", "numbers in a group"),
    ];
    let counted = words.iter().filter_map(|(word, one, many)| {
        let counted_as = |column: &&Column| match column.word() {
            "moments" => *word == "number",
            other => other == *word,
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

/// Reads a schema that `priory schema -o` wrote. What else was said about columns contradicts it.
pub(crate) fn from_schema(path: &Path, args: &TableArgs) -> Result<Understood> {
    let name = path.display();
    let spoken_of = args.weight.is_some() || args.missing.is_some() || args.decimal.is_some();
    let spoken_of = spoken_of || args.bins.is_some() || args.group.is_some();
    if spoken_of || !args.ignore.is_empty() || !args.kinds.is_empty() {
        bail!(
            "--schema says all about the columns; --weight, --group, --missing, --decimal, --bins, --ignore and --as cannot be given with it"
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
