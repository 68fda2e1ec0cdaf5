//! The families: what is counted of a column, and what follows from it. The only matches on a family, but for those of
//! their likelihoods, are here.

pub(crate) mod bernoulli;
pub(crate) mod categorical;
pub(crate) mod counted;
pub(crate) mod discriminant;
pub(crate) mod joint;
pub(crate) mod likelihood;
pub(crate) mod lookup;
pub(crate) mod number;
pub(crate) mod text;

use bernoulli::{BernoulliLikelihood, Sides};
use categorical::{CategoricalLikelihood, CategoryEstimate, CategoryStatistics, MISSING_ROW};
use counted::CountedNumbers;
use discriminant::{GroupEstimate, GroupStatistics};
use joint::{JointEstimate, JointLikelihood, JointStatistics};
use likelihood::{FamilyLikelihood, Unseen};
use num_rational::BigRational;
use number::{Fitted, NumberEstimate, NumberStatistics};
use text::TextStatistics;
use text::estimate::TextEstimate;
use text::likelihood::TextLikelihood;

use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::estimate::{Ratio, Scalar};
use crate::exact::ExactSum;
use crate::moments::{ColumnSums, Moments};
use crate::report::FeatureFamily;
use crate::schema::{Kind, Schema};
use crate::settings::{Family, MissingValues, Settings};
use crate::tally::Tally;
use crate::vocabulary::Vocabulary;

/// A training row to be imagined away: its class and weight. What it holds is what is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Removed {
    pub(crate) class: usize,
    pub(crate) weight: f64,
}

/// The weight that is taken away from what a class counts of a value, and from what all classes do.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Gone {
    pub(crate) of_class: f64,
    pub(crate) of_all: f64,
}

/// Rows that a factor does not tell apart.
pub(crate) struct Alike<'a> {
    /// The classes that have such rows, in order, and their weight.
    pub(crate) cells: Vec<(usize, f64)>,
    /// log P(x | class) for every class, without a row of this weight that belongs to another class.
    pub(crate) others: &'a dyn Fn(f64) -> Vec<f64>,
    /// log P(x | class) without such a row of that class; it is also told what the class says with the row.
    pub(crate) own: &'a dyn Fn(Removed, f64) -> f64,
}

/// A row of a batch that counts, and its class.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CountedRow {
    pub(crate) row: u32,
    pub(crate) class: u32,
}

/// What is remembered of one factor of the model: a column, or a group of columns taken together.
#[derive(Debug, Clone)]
pub(crate) enum FamilyStatistics {
    /// One column of values, at this position in the schema.
    Category(usize, CategoryStatistics),
    /// Several columns at once.
    Joint(JointStatistics),
    /// One column of numbers, at this position in the schema.
    Number(usize, NumberStatistics),
    /// One column of documents, at this position in the schema.
    Text(usize, Box<TextStatistics>),
    /// Several columns of numbers at once.
    Group(GroupStatistics),
}

impl FamilyStatistics {
    /// One empty factor for each column or group of the schema, in its order.
    pub(crate) fn for_schema(schema: &Schema) -> Vec<Self> {
        let (joint, group) = (schema.columns_of(Kind::Joint), schema.columns_of(Kind::Group));
        let mut factors = Vec::new();
        for (i, column) in schema.columns.iter().enumerate() {
            match column.kind {
                Kind::Category => factors.push(FamilyStatistics::Category(i, CategoryStatistics::empty())),
                Kind::Joint if joint.first() == Some(&i) => {
                    factors.push(FamilyStatistics::Joint(JointStatistics::empty(joint.clone())));
                }
                Kind::Group if group.first() == Some(&i) => {
                    factors.push(FamilyStatistics::Group(GroupStatistics::empty(group.clone())));
                }
                Kind::Joint | Kind::Group => {}
                Kind::Number => factors.push(FamilyStatistics::Number(i, NumberStatistics::empty(true))),
                Kind::Moments => factors.push(FamilyStatistics::Number(i, NumberStatistics::empty(false))),
                Kind::Text => {
                    let settings = column.text.clone().unwrap_or_default();
                    factors.push(FamilyStatistics::Text(i, Box::new(TextStatistics::empty(&settings))));
                }
            }
        }
        factors
    }

    /// Positions in the schema of the columns that this factor covers.
    pub(crate) fn columns(&self) -> &[usize] {
        match self {
            FamilyStatistics::Category(column, _)
            | FamilyStatistics::Number(column, _)
            | FamilyStatistics::Text(column, _) => std::slice::from_ref(column),
            FamilyStatistics::Joint(joint) => &joint.columns,
            FamilyStatistics::Group(group) => &group.columns,
        }
    }

    /// Lets go of pairs of neighbours, if it is a text that counts them.
    pub(crate) fn drop_neighbours(&mut self) {
        if let FamilyStatistics::Text(_, text) = self {
            text.drop_neighbours();
        }
    }

    /// Whether they were let go.
    pub(crate) fn lacks_neighbours(&self) -> bool {
        matches!(self, FamilyStatistics::Text(_, text) if text.lacks_neighbours)
    }

    /// Whether these are too many, or have been.
    pub(crate) fn has_too_many_neighbours(&self) -> bool {
        matches!(self, FamilyStatistics::Text(_, text) if text.has_too_many_neighbours())
    }

    /// The same, to be changed.
    pub(crate) fn columns_mut(&mut self) -> &mut [usize] {
        match self {
            FamilyStatistics::Category(column, _)
            | FamilyStatistics::Number(column, _)
            | FamilyStatistics::Text(column, _) => std::slice::from_mut(column),
            FamilyStatistics::Joint(joint) => &mut joint.columns,
            FamilyStatistics::Group(group) => &mut group.columns,
        }
    }

    /// The weights of values or combinations; a column of numbers or of text has none.
    pub(crate) fn counts(&self) -> Option<&Tally> {
        match self {
            FamilyStatistics::Category(_, category) => Some(&category.counts),
            FamilyStatistics::Joint(joint) => Some(&joint.counts),
            FamilyStatistics::Number(..) | FamilyStatistics::Text(..) | FamilyStatistics::Group(_) => None,
        }
    }

    /// The positions of the columns that hold numbers.
    pub(crate) fn number_columns(&self) -> &[usize] {
        match self {
            FamilyStatistics::Number(..) | FamilyStatistics::Group(_) => self.columns(),
            FamilyStatistics::Category(..) | FamilyStatistics::Joint(_) | FamilyStatistics::Text(..) => &[],
        }
    }

    /// The sums of each column of numbers, all classes together.
    pub(crate) fn pooled_moments(&self) -> Vec<Moments> {
        match self {
            FamilyStatistics::Number(_, number) => vec![number.pooled()],
            FamilyStatistics::Group(group) => group.pooled(),
            FamilyStatistics::Category(..) | FamilyStatistics::Joint(_) | FamilyStatistics::Text(..) => {
                Vec::new()
            }
        }
    }

    /// About how many bytes names and counts take. Numbers are bounded, however many rows there are.
    pub(crate) fn memory(&self) -> usize {
        match self {
            FamilyStatistics::Category(_, category) => category.values.memory() + category.counts.memory(),
            FamilyStatistics::Text(_, text) => text.memory(),
            FamilyStatistics::Joint(_) | FamilyStatistics::Number(..) | FamilyStatistics::Group(_) => 0,
        }
    }

    /// How many classes were seen here.
    fn classes(&self) -> usize {
        match self {
            FamilyStatistics::Category(_, category) => category.counts.classes(),
            FamilyStatistics::Joint(joint) => joint.counts.classes(),
            FamilyStatistics::Number(_, number) => number.moments.len(),
            FamilyStatistics::Text(_, text) => text.totals.classes(),
            FamilyStatistics::Group(group) => group.classes.len(),
        }
    }

    /// Counts the rows of a batch, but for what [`add_numbers`](Self::add_numbers) does.
    pub(crate) fn observe(&mut self, counted: &[CountedRow], batch: &Batch, classes: usize) {
        match self {
            FamilyStatistics::Category(column, category) => {
                category.observe(batch.category(*column), counted, batch, classes);
            }
            FamilyStatistics::Joint(joint) => joint.observe(counted, batch, classes),
            FamilyStatistics::Text(column, text) => {
                text.observe(batch.text(*column), counted, batch, classes);
            }
            FamilyStatistics::Number(..) | FamilyStatistics::Group(_) => {}
        }
    }

    /// Adds the numbers of the rows, and their sums, which are made of all columns at once: of each column of numbers, in
    /// their order.
    pub(crate) fn add_numbers<'s>(
        &mut self,
        numbers: &CountedNumbers<'_>,
        sums: &mut impl Iterator<Item = ColumnSums<'s>>,
        classes: usize,
    ) {
        match self {
            FamilyStatistics::Number(column, number) => {
                let sums = sums.next().expect("every column of numbers was summed");
                number.observe(numbers, *column, sums, classes);
            }
            FamilyStatistics::Group(group) => {
                let columns = group.columns.len();
                group.observe(numbers, sums.take(columns), classes);
            }
            FamilyStatistics::Category(..) | FamilyStatistics::Joint(_) | FamilyStatistics::Text(..) => {}
        }
    }

    /// Counts values that are missing: for each class, rows of this weight. Columns that are counted together with others have
    /// nothing like that.
    pub(crate) fn add_missing(&mut self, weights: &[ExactSum]) {
        match self {
            FamilyStatistics::Category(_, category) => {
                category.counts.grow(1, weights.len());
                for (class, weight) in weights.iter().enumerate() {
                    category.counts.add_exact(MISSING_ROW, class, weight);
                }
            }
            FamilyStatistics::Number(_, number) => {
                number.grow(weights.len());
                number.moments.iter_mut().zip(weights).for_each(|(of, weight)| of.missing.merge(weight));
            }
            FamilyStatistics::Joint(_) | FamilyStatistics::Text(..) | FamilyStatistics::Group(_) => {}
        }
    }

    /// Adds `sign` times `other`. Schemas have been compared, so the kinds agree.
    pub(crate) fn merge(&mut self, other: &Self, class_of: &[usize], classes: usize, sign: f64) {
        match (self, other) {
            (FamilyStatistics::Category(_, a), FamilyStatistics::Category(_, b)) => {
                a.merge(b, class_of, classes, sign)
            }
            (FamilyStatistics::Joint(a), FamilyStatistics::Joint(b)) => a.merge(b, class_of, classes, sign),
            (FamilyStatistics::Number(_, a), FamilyStatistics::Number(_, b)) => {
                a.merge(b, class_of, classes, sign)
            }
            (FamilyStatistics::Text(_, a), FamilyStatistics::Text(_, b)) => {
                a.merge(b, class_of, classes, sign)
            }
            (FamilyStatistics::Group(a), FamilyStatistics::Group(b)) => a.merge(b, class_of, classes, sign),
            _ => unreachable!("statistics of one schema have the same factors"),
        }
    }

    /// Multiplies all weights by a power of two, which loses nothing if they [can be halved](Self::can_be_halved).
    pub(crate) fn scale(&mut self, power: f64) {
        match self {
            FamilyStatistics::Category(_, category) => category.counts.scale(power),
            FamilyStatistics::Joint(joint) => joint.counts.scale(power),
            FamilyStatistics::Number(_, number) => number.scale(power),
            FamilyStatistics::Text(_, text) => text.scale(power),
            FamilyStatistics::Group(group) => group.scale(power),
        }
    }

    /// Whether every weight can be halved this many times without losing a bit. Sums of numbers always can.
    pub(crate) fn can_be_halved(&self, times: u32) -> bool {
        match self {
            FamilyStatistics::Category(_, category) => category.counts.can_be_halved(times),
            FamilyStatistics::Joint(joint) => joint.counts.can_be_halved(times),
            FamilyStatistics::Number(_, number) => {
                number.spectrum.as_ref().is_none_or(|spectrum| spectrum.counts().can_be_halved(times))
            }
            FamilyStatistics::Text(_, text) => {
                text.counts.can_be_halved(times) && text.totals.can_be_halved(times)
            }
            FamilyStatistics::Group(_) => true,
        }
    }

    /// The first value, written out, and class of which `other` has more.
    pub(crate) fn first_shortfall(
        &self,
        other: &Self,
        class_of: &[Option<usize>],
    ) -> Option<(Option<String>, usize)> {
        match (self, other) {
            (FamilyStatistics::Category(_, a), FamilyStatistics::Category(_, b)) => {
                a.first_shortfall(b, class_of).map(|(value, class)| (value.map(str::to_owned), class))
            }
            (FamilyStatistics::Joint(a), FamilyStatistics::Joint(b)) => a.first_shortfall(b, class_of),
            (FamilyStatistics::Number(_, a), FamilyStatistics::Number(_, b)) => {
                let written = |x: Option<f64>| x.map_or("these numbers".to_owned(), |x| x.to_string());
                a.first_shortfall(b, class_of).map(|(value, class)| (Some(written(value)), class))
            }
            (FamilyStatistics::Text(_, a), FamilyStatistics::Text(_, b)) => {
                let found = a.first_shortfall(b, class_of);
                found.map(|(token, class)| (Some(token.unwrap_or("a document").to_owned()), class))
            }
            (FamilyStatistics::Group(a), FamilyStatistics::Group(b)) => {
                a.first_shortfall(b, class_of).map(|class| (Some("these numbers".to_owned()), class))
            }
            _ => unreachable!("statistics of one schema have the same factors"),
        }
    }

    pub(crate) fn canonical(&self, classes: &[usize]) -> Self {
        match self {
            FamilyStatistics::Category(column, category) => {
                FamilyStatistics::Category(*column, category.canonical(classes))
            }
            FamilyStatistics::Joint(joint) => FamilyStatistics::Joint(joint.canonical(classes)),
            FamilyStatistics::Number(column, number) => {
                FamilyStatistics::Number(*column, number.canonical(classes))
            }
            FamilyStatistics::Text(column, text) => {
                FamilyStatistics::Text(*column, Box::new(text.canonical(classes)))
            }
            FamilyStatistics::Group(group) => FamilyStatistics::Group(group.canonical(classes)),
        }
    }

    /// Whether this factor counted rows of just this weight in a class, missing ones included.
    pub(crate) fn counts_all(&self, class: usize, weight: &ExactSum) -> bool {
        match self {
            FamilyStatistics::Category(_, category) => category.counts.class_total(class) == *weight,
            FamilyStatistics::Joint(joint) => joint.counts.class_total(class) == *weight,
            FamilyStatistics::Number(_, number) => number.counts_all(class, weight),
            FamilyStatistics::Text(_, text) => {
                let mut total = text.totals.exact(text::MISSING_ROW, class);
                total.merge(&text.totals.exact(text::DOCUMENTS_ROW, class));
                total == *weight
            }
            FamilyStatistics::Group(group) => group.counts_all(class, weight),
        }
    }

    /// The weight of each value in each class, the classes of a value side by side; numbers are put into bins that all
    /// classes share. `None` if that is not known. The statistics are canonical.
    pub(crate) fn contingency(&self, missing: MissingValues) -> Option<Vec<f64>> {
        let counts = match self {
            FamilyStatistics::Number(_, number) => return number.contingency(),
            // Neither documents nor points are told apart.
            FamilyStatistics::Text(..) | FamilyStatistics::Group(_) => return None,
            FamilyStatistics::Category(_, category) => &category.counts,
            FamilyStatistics::Joint(joint) => &joint.counts,
        };
        let first = match (self, missing) {
            (FamilyStatistics::Category(..), MissingValues::Counted) => MISSING_ROW,
            _ => MISSING_ROW + 1,
        };
        Some(counts.cells().skip(first * counts.classes()).collect())
    }

    /// The likelihood under these settings. The statistics are canonical.
    pub(crate) fn likelihood(&self, schema: &Schema, settings: &Settings) -> Result<FamilyLikelihood> {
        let classes = self.classes();
        Ok(match self.prepare::<f64>(schema, settings)? {
            Prepared::Categorical(estimate) => {
                FamilyLikelihood::Categorical(self.columns()[0], CategoricalLikelihood::new(&estimate))
            }
            Prepared::Bernoulli(estimate, sides) => FamilyLikelihood::Bernoulli(
                self.columns()[0],
                BernoulliLikelihood::new(&estimate, sides, classes),
            ),
            Prepared::Joint(_, joint) => FamilyLikelihood::Joint(JointLikelihood::new(joint, settings)?),
            Prepared::Number(estimate) => {
                FamilyLikelihood::Number(self.columns()[0], estimate.fitted, estimate.choice)
            }
            Prepared::Text(estimate) => {
                FamilyLikelihood::Text(self.columns()[0], TextLikelihood::new(&estimate))
            }
            Prepared::Group(estimate) => FamilyLikelihood::Group(estimate.likelihood()),
        })
    }

    /// Everything needed to ask for single probabilities, exact or not. The statistics are canonical.
    pub(crate) fn prepare<'a, T: Scalar>(
        &'a self,
        schema: &Schema,
        settings: &'a Settings,
    ) -> Result<Prepared<'a, T>> {
        let (column, category) = match self {
            FamilyStatistics::Joint(joint) => {
                return Ok(Prepared::Joint(JointEstimate::new(joint, settings)?, joint));
            }
            FamilyStatistics::Number(column, number) => {
                let column = &schema.columns[*column].name;
                return Ok(Prepared::Number(NumberEstimate::new(number, settings, column)?));
            }
            FamilyStatistics::Text(column, text) => {
                let column = &schema.columns[*column].name;
                return Ok(Prepared::Text(Box::new(TextEstimate::new(text, settings, column)?)));
            }
            FamilyStatistics::Group(group) => {
                return Ok(Prepared::Group(GroupEstimate::new(group, settings, schema)?));
            }
            FamilyStatistics::Category(column, category) => (&schema.columns[*column].name, category),
        };
        let sides = match settings.families.get(column) {
            None => Sides::recognised(&category.values),
            Some(Family::Bernoulli) => Some(bernoulli_sides(column, category)?),
            Some(Family::Categorical | Family::Joint) => None,
            Some(family @ (Family::Number(_) | Family::Text(_))) => {
                return Err(Error::Settings(format!(
                    "`{column}` cannot be {family}: it is a column of categories"
                )));
            }
        };
        let declared = sides.as_ref().map_or_else(Vec::new, Sides::names);
        let estimate = CategoryEstimate::new(category, settings, column, declared);
        Ok(match sides {
            Some(sides) => Prepared::Bernoulli(estimate, sides),
            None => Prepared::Categorical(estimate),
        })
    }

    /// What [`prepare`](Self::prepare) gives, but nothing is chosen or fitted that a model of these statistics has already.
    pub(crate) fn prepare_again<'a>(
        &'a self,
        schema: &Schema,
        settings: &'a Settings,
        found: &FamilyLikelihood,
    ) -> Result<Prepared<'a, f64>> {
        Ok(match (self, found) {
            (FamilyStatistics::Number(column, number), FamilyLikelihood::Number(_, fitted, choice)) => {
                let (name, fitted) = (&schema.columns[*column].name, Fitted::clone(fitted));
                Prepared::Number(NumberEstimate::again(number, settings, name, fitted, choice.clone())?)
            }
            (FamilyStatistics::Text(_, text), FamilyLikelihood::Text(_, found)) => {
                Prepared::Text(Box::new(TextEstimate::again(text, settings, found.formula)))
            }
            (FamilyStatistics::Group(group), FamilyLikelihood::Group(found)) => {
                let normals = Some(found.normals.clone());
                Prepared::Group(GroupEstimate::again(group, settings, schema, normals)?)
            }
            _ => self.prepare(schema, settings)?,
        })
    }
}

impl Prepared<'_, f64> {
    /// Writes log P(x | class) of every row of a batch, of those that were learnt as if just that row had not been, over
    /// zeros; and marks the rows of which a document says something. `likelihood` is that of all rows.
    pub(crate) fn write_without(
        &self,
        likelihood: &FamilyLikelihood,
        batch: &Batch,
        learnt: &[(usize, Removed)],
        ln: &mut [f64],
        evidence: &mut [bool],
    ) -> Unseen {
        if let (Prepared::Text(estimate), FamilyLikelihood::Text(column, text)) = (self, likelihood) {
            let column = batch.text(*column);
            let mut of_all = vec![false; evidence.len()];
            let (tokens, number_of) = text.add_and_number(column, ln, &mut of_all);
            learnt.iter().for_each(|&(row, _)| of_all[row] = false);
            estimate.leave_out(column, &number_of, learnt, ln, &mut of_all);
            evidence.iter_mut().zip(of_all).for_each(|(any, one)| *any |= one);
            return Unseen { values: 0, tokens };
        }
        let unseen = likelihood.log_likelihood(batch, ln);
        match (self, likelihood) {
            (Prepared::Categorical(estimate), FamilyLikelihood::Categorical(column, _))
            | (Prepared::Bernoulli(estimate, _), FamilyLikelihood::Bernoulli(column, _)) => {
                estimate.leave_out(batch.category(*column), learnt, ln);
            }
            (Prepared::Number(estimate), FamilyLikelihood::Number(column, ..)) => {
                estimate.leave_out(batch.numbers(*column), learnt, ln);
            }
            (Prepared::Joint(estimate, _), _) => estimate.leave_out(batch, learnt, ln),
            (Prepared::Group(estimate), _) => estimate.leave_out(batch, learnt, ln),
            _ => unreachable!("a likelihood is of the family that it was made for"),
        }
        Unseen { values: unseen, tokens: 0 }
    }

    /// Writes the variance of log P(x | class) of every row of a batch over zeros. `likelihood` is that of the same factor.
    pub(crate) fn write_variances(
        &self,
        likelihood: &FamilyLikelihood,
        batch: &Batch,
        variances: &mut [f64],
    ) {
        match (self, likelihood) {
            (Prepared::Categorical(estimate), FamilyLikelihood::Categorical(column, _))
            | (Prepared::Bernoulli(estimate, _), FamilyLikelihood::Bernoulli(column, _)) => {
                estimate.write_variances(batch.category(*column), variances);
            }
            (Prepared::Number(estimate), FamilyLikelihood::Number(column, ..)) => {
                estimate.write_variances(batch.numbers(*column), variances);
            }
            (Prepared::Text(estimate), FamilyLikelihood::Text(column, text)) => {
                estimate.write_variances(batch.text(*column), text.scale(), variances);
            }
            (Prepared::Joint(estimate, _), _) => estimate.write_variances(batch, variances),
            (Prepared::Group(estimate), _) => estimate.write_variances(batch, variances),
            _ => unreachable!("a likelihood is of the family that it was made for"),
        }
    }

    /// Shows all rows that this factor does not tell apart, but for those of which nothing is known. False if it is not
    /// known what rows there were.
    pub(crate) fn each_value(&self, mut each: impl FnMut(&Alike<'_>)) -> bool {
        match self {
            Prepared::Categorical(estimate) | Prepared::Bernoulli(estimate, _) => estimate.each_value(each),
            Prepared::Joint(estimate, _) => estimate.each_value(each),
            Prepared::Number(estimate) => {
                let Some(numbers) = estimate.numbers() else { return false };
                for (x, cells) in numbers {
                    let own = |removed, counted| estimate.own_without(x, removed, counted);
                    each(&Alike { cells, others: &|_| estimate.fitted.ln(x), own: &own });
                }
            }
            Prepared::Text(_) | Prepared::Group(_) => return false,
        }
        true
    }
}

fn bernoulli_sides(column: &str, category: &CategoryStatistics) -> Result<Sides> {
    if category.values.is_empty() {
        return Err(Error::Settings(format!("`{column}` cannot be Bernoulli: it has no values")));
    }
    Sides::of(&category.values).ok_or_else(|| {
        let third = category.values.name(2);
        let count = category.values.len();
        Error::Settings(format!(
            "`{column}` cannot be Bernoulli: it has {count} values, `{third}` among them"
        ))
    })
}

/// A factor made ready for estimation.
pub(crate) enum Prepared<'a, T> {
    Categorical(CategoryEstimate<'a, T>),
    Bernoulli(CategoryEstimate<'a, T>, Sides),
    Joint(JointEstimate<'a, T>, &'a JointStatistics),
    Number(NumberEstimate<'a>),
    Text(Box<TextEstimate<'a>>),
    Group(GroupEstimate<'a>),
}

impl<T: Scalar> Prepared<'_, T> {
    pub(crate) fn family(&self) -> FeatureFamily {
        match self {
            Prepared::Categorical(_) => FeatureFamily::Of(Family::Categorical),
            Prepared::Bernoulli(..) => FeatureFamily::Of(Family::Bernoulli),
            Prepared::Joint(..) => FeatureFamily::Of(Family::Joint),
            Prepared::Number(estimate) => FeatureFamily::Of(Family::Number(estimate.family)),
            Prepared::Text(estimate) => FeatureFamily::Of(Family::Text(estimate.formula.family)),
            Prepared::Group(estimate) => FeatureFamily::Group(estimate.discriminant()),
        }
    }

    /// The values that a single column can take; none for a joint table or for numbers.
    pub(crate) fn possible_values(&self) -> Option<&Vocabulary> {
        match self {
            Prepared::Categorical(estimate) | Prepared::Bernoulli(estimate, _) => Some(&estimate.values),
            Prepared::Joint(..) | Prepared::Number(_) | Prepared::Text(_) | Prepared::Group(_) => None,
        }
    }

    /// P(values | class); `None` where nothing is known, which every class explains alike. Numbers have densities,
    /// not probabilities, and are not asked for here.
    pub(crate) fn probability(&self, values: &[Option<&str>], class: usize) -> Option<Ratio<T>> {
        match self {
            Prepared::Categorical(estimate) | Prepared::Bernoulli(estimate, _) => {
                estimate.asked(values[0]).map(|asked| estimate.likelihood(asked, class))
            }
            Prepared::Joint(estimate, _) => estimate.likelihood(values, class),
            Prepared::Number(_) | Prepared::Text(_) | Prepared::Group(_) => None,
        }
    }
}

/// Exact probabilities of a factor.
pub(crate) type ExactlyPrepared<'a> = Prepared<'a, BigRational>;
