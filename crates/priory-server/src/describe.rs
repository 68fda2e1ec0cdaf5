//! What a model is, as JSON: all that a form needs to ask about a row.

use priory::plot::{Detail, Drawing, Subject};
use priory::report::{FeatureSummary, Summary};
use priory::{Column, Kind};
use serde_json::{Map, Value, json};

use crate::frozen::Frozen;

/// Values of a column beyond this are counted, not listed; the most frequent are.
const MOST_VALUES: usize = 500;
/// Points of the density of each class.
const POINTS: usize = 96;
/// The most telling tokens of each class.
const MOST_TOKENS: usize = 20;

/// The description of a model.
///
/// # Errors
/// If the model cannot be laid open.
pub(crate) fn describe(frozen: &Frozen) -> priory::Result<Map<String, Value>> {
    let Frozen { learnt, model, .. } = frozen;
    let summary = learnt.summary(model, MOST_TOKENS)?;
    let subject = Subject::new(learnt, model)?;
    let classes: Vec<Value> = summary
        .classes
        .iter()
        .map(|class| json!({ "name": class.name, "weight": class.weight, "prior": class.prior }))
        .collect();
    let total: f64 = summary.classes.iter().map(|class| class.weight).sum();
    let columns = model.schema().columns.iter();
    let columns: Vec<Value> = columns
        .map(|column| {
            Described { frozen, subject: &subject, summary: &summary, column, total }.to_json().into()
        })
        .collect();
    let json = json!({
        "target": model.schema().target,
        "rows": summary.rows,
        "classes": classes,
        "columns": columns,
        "left_out": summary.left_out,
        "judged": learnt.is_judged(),
        "judgement": summary.judgement,
        "half_life": summary.half_life,
        "answers": frozen.decider.answers(),
        "missing_spellings": model.schema().missing,
        "settings": model.settings(),
        "fingerprint": format!("{:016x}", learnt.fingerprint()),
    });
    let Value::Object(object) = json else { return Ok(Map::new()) };
    Ok(object)
}

/// A column to be described.
struct Described<'a> {
    frozen: &'a Frozen,
    subject: &'a Subject<'a>,
    summary: &'a Summary,
    column: &'a Column,
    /// The weight of all rows.
    total: f64,
}

impl Described<'_> {
    fn to_json(&self) -> Map<String, Value> {
        let Column { name, kind, .. } = self.column;
        let mut object = Map::new();
        object.insert("name".into(), name.as_str().into());
        object.insert("from".into(), self.column.source().into());
        object.insert("kind".into(), kind.name().into());
        object.insert("word".into(), self.column.word().into());
        let feature = self.feature();
        object.insert("family".into(), feature.map(|feature| feature.family.to_string()).into());
        let missing = feature.filter(|_| self.total > 0.0).and_then(|feature| self.missing(feature));
        object.insert("missing".into(), missing.into());
        match kind {
            Kind::Category | Kind::Joint => object.extend(self.values(feature)),
            Kind::Number | Kind::Moments | Kind::Group => object.extend(self.numbers()),
            Kind::Text => {
                let text = feature.and_then(|feature| feature.text.as_ref());
                object.insert("text".into(), serde_json::to_value(text).unwrap_or_default());
            }
        }
        object
    }

    /// What is said of the column, or of the joint table or group that it is part of.
    fn feature(&self) -> Option<&FeatureSummary> {
        let Column { name, kind, .. } = self.column;
        self.summary.features.iter().find(|feature| match kind {
            Kind::Joint | Kind::Group => feature.kind == *kind,
            _ => feature.name == *name,
        })
    }

    /// The share of the rows that have no value.
    fn missing(&self, feature: &FeatureSummary) -> Option<f64> {
        let weight: f64 = match &feature.group {
            None => feature.missing.iter().sum(),
            Some(group) => {
                let at = group.columns.iter().position(|name| *name == self.column.name)?;
                group.missing.iter().map(|missing| missing[at]).sum()
            }
        };
        Some(weight / self.total)
    }

    /// The values of a column of categories and the share of the rows that have each, the most frequent first.
    fn values(&self, feature: Option<&FeatureSummary>) -> Map<String, Value> {
        let mut values: Vec<(&str, f64)> = match (feature, self.column.kind) {
            (Some(feature), Kind::Category) => {
                feature.values.iter().map(|value| (value.value.as_str(), value.count.iter().sum())).collect()
            }
            // A joint table counts combinations.
            _ => {
                self.frozen.learnt.statistics.values_of(&self.column.name).map(|value| (value, 0.0)).collect()
            }
        };
        values.sort_by(|a, b| b.1.total_cmp(&a.1));
        let more = values.len().saturating_sub(MOST_VALUES);
        let listed = values.iter().take(MOST_VALUES).map(|(value, weight)| {
            let share = (self.total > 0.0 && self.column.kind == Kind::Category).then(|| weight / self.total);
            json!({ "value": value, "weight": weight, "share": share })
        });
        let listed: Vec<Value> = listed.collect();
        [("values".to_owned(), listed.into()), ("more_values".to_owned(), more.into())].into_iter().collect()
    }

    /// Where the numbers of a column are, and the density of each class.
    fn numbers(&self) -> Map<String, Value> {
        let name = &self.column.name;
        let detail = Detail { points: POINTS, values: MOST_VALUES, map: (1, 1) };
        let picture = self.subject.one(std::slice::from_ref(name), detail).ok();
        let drawing = picture.and_then(|picture| Some(picture.panels.into_iter().next()?.drawing));
        let counted = self.frozen.learnt.statistics.numbers(name).ok();
        let mut cells: Vec<(f64, f64)> = counted.into_iter().flatten().flatten().collect();
        cells.sort_by(|a, b| a.0.total_cmp(&b.0));
        let by_class = |values: &[Vec<f64>]| {
            let pairs = self.frozen.model.classes().iter().cloned().zip(values);
            pairs.map(|(class, values)| (class, values.clone().into())).collect::<Map<String, Value>>()
        };
        let density = match &drawing {
            Some(Drawing::Densities(densities)) => json!({
                "low": densities.low,
                "high": densities.high,
                "classes": by_class(&densities.curves),
            }),
            Some(Drawing::Bars(bars)) => {
                let values = bars.values.iter().map(|(value, bars)| (value.clone(), bars.clone().into()));
                json!({ "values": values.collect::<Map<String, Value>>() })
            }
            Some(Drawing::Regions(_) | Drawing::Words(_)) | None => Value::Null,
        };
        let range = match (cells.first(), cells.last(), &drawing) {
            (Some(first), Some(last), _) => json!([first.0, last.0]),
            (_, _, Some(Drawing::Densities(densities))) => json!([densities.low, densities.high]),
            _ => Value::Null,
        };
        let is_whole = !cells.is_empty() && cells.iter().all(|cell| cell.0.fract() == 0.0);
        [
            ("range".to_owned(), range),
            ("median".to_owned(), median(&cells).into()),
            ("whole".to_owned(), is_whole.into()),
            ("density".to_owned(), density),
        ]
        .into_iter()
        .collect()
    }
}

/// The number in the middle of these, which are in order, with their weights.
fn median(cells: &[(f64, f64)]) -> Option<f64> {
    let half = cells.iter().map(|cell| cell.1).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    let middle = cells.iter().find(|cell| {
        sum += cell.1;
        sum >= half
    });
    middle.map(|cell| cell.0)
}
