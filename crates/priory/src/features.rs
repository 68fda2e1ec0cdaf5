//! Which columns tell the classes apart, each by itself: from the statistics alone.
//!
//! Two measures, both in bits per row of the table, so that a column that is mostly missing is worth little:
//!
//! ```text
//! information = Σ n(x, c) / N · log₂ (n(x, c) n / (n(x) n(c)))
//! gain        = Σ over rows of log₂ (P(c | x) / P(c)) / N,    both as if the row had not been there
//! ```
//!
//! The **mutual information** looks back: how much the column says about the class in the rows that were counted. It is
//! never negative and grows with the number of values, helpful or not. Numbers are put into bins first. The **gain** looks
//! ahead: by how much the log-loss of a new row is lower than with the prior alone. A column that says nothing has a
//! gain below zero, since what it seems to say is chance. A row is taken to weigh one.

use std::collections::BTreeSet;
use std::f64::consts::LN_2;

use serde::{Deserialize, Serialize, Serializer};

use crate::error::{Error, Result};
use crate::families::number::HOW_TO_KEEP_NUMBERS;
use crate::families::{Alike, FamilyStatistics, Prepared, Removed};
use crate::judgement::Judgement;
use crate::leave_one_out::Priors;
use crate::model::{Model, check_columns, exponent_of, feature_name, raised};
use crate::posterior::{argmax, log_sum};
use crate::report::FeatureFamily;
use crate::schema::{Kind, Schema};
use crate::settings::{Selection, Settings};
use crate::statistics::{Statistics, check_prior, resolve};

/// The columns of a table, the most helpful first.
///
/// ```
/// use priory::{Batch, Column, Kind, Schema, Settings, Statistics};
/// use priory::report::Features;
///
/// let schema = Schema::new("play", vec![Column::new("day", Kind::Category), Column::new("sky", Kind::Category)])?;
/// let row = |class, day, sky| (class, [Some(day), Some(sky)]);
/// let days = [row("yes", "Mo", "blue"), row("no", "Mo", "grey"), row("yes", "Tu", "blue"), row("no", "Tu", "grey")];
/// let mut statistics = Statistics::empty(&schema);
/// statistics.observe(&Batch::from_rows(&days))?;
///
/// let features = Features::new(&statistics, &Settings::default())?;
/// assert_eq!(features.ranked[0].name, "sky");
/// assert_eq!(features.ranked[0].information, Some(1.0)); // bits: all there is to know
/// # Ok::<(), priory::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Features {
    /// Rows learnt.
    pub rows: u64,
    /// How many classes they have.
    #[serde(skip)]
    pub classes: usize,
    /// Bits that it takes to say the class of a row about which nothing else is known: what could be gained at most.
    pub entropy: f64,
    /// By gain; of equals, by information, then as in the table. Those of which nothing is known come last. If the model was
    /// judged, by what it loses without each instead, and those that were not selected come last.
    #[serde(rename = "features")]
    pub ranked: Vec<FeatureRank>,
}

/// How much one feature helps by itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeatureRank {
    /// The column, or all columns of a joint table or of a group.
    pub name: String,
    /// Its columns: one, unless it is a joint table or a group.
    #[serde(skip)]
    pub columns: Vec<String>,
    /// What is counted of it.
    pub kind: Kind,
    /// The distribution it follows.
    pub family: FeatureFamily,
    /// Mutual information with the class in bits per row; `None` if it is not known what the rows held: of a
    /// column of text tokens are counted, and of a group and some columns of numbers sums.
    pub information: Option<f64>,
    /// Leave-one-out gain; `None` likewise.
    #[serde(flatten, serialize_with = "as_two_numbers")]
    pub gain: Option<Gain>,
    /// By how many bits a row is less well predicted without it, if the model was judged; `None` also if there are too many
    /// columns to tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<Gain>,
    /// Whether the settings select it.
    pub used: bool,
    /// The factor of the statistics, or of the model.
    #[serde(skip)]
    factor: usize,
}

/// By how many bits a row is better predicted with a column than without, and how sure that is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gain {
    /// The mean over all rows; −∞ if the class of some row is impossible without that row.
    pub bits: f64,
    /// The standard error of the mean.
    pub standard_error: f64,
}

impl Features {
    /// Ranks the columns under these settings. What they select is marked, and does not matter otherwise.
    ///
    /// # Errors
    /// If nothing was learnt, or the settings do not fit the data.
    pub fn new(statistics: &Statistics, settings: &Settings) -> Result<Self> {
        settings.check()?;
        let statistics = statistics.canonical();
        check_columns(settings, &statistics.schema)?;
        check_prior(&settings.prior, &statistics.classes)?;
        if statistics.classes.is_empty() {
            return Err(Error::Empty);
        }
        let settings = &resolve(settings, &statistics.factors);
        let factors = statistics.factors.iter();
        Judge::new(&statistics, settings)
            .features(factors.map(|factor| Ok((factor, factor.prepare(&statistics.schema, settings)?))))
    }

    /// Ranks the features of a model that was estimated from these canonical statistics.
    pub(crate) fn of(statistics: &Statistics, model: &Model) -> Result<Self> {
        let settings = model.resolved();
        let factors = model.factors_in(statistics)?.into_iter();
        Judge::new(statistics, settings).features(factors.map(|(factor, found)| {
            Ok((factor, factor.prepare_again(&statistics.schema, settings, &found.likelihood)?))
        }))
    }

    /// The same for a judged model: ranked by what it loses without each. Those that were not selected come last.
    pub(crate) fn judged(mut self, judgement: &Judgement, schema: &Schema) -> Self {
        for rank in &mut self.ranked {
            let column = rank.columns.first().and_then(|name| schema.position(name));
            rank.lost = column.and_then(|column| judgement.lost.get(column).copied());
            rank.used = judgement
                .used
                .as_ref()
                .is_none_or(|used| column.is_some_and(|column| used.contains(&column)));
        }
        let lost = |rank: &FeatureRank| rank.lost.map_or(f64::NEG_INFINITY, |lost| lost.bits);
        self.ranked.sort_by(|a, b| b.used.cmp(&a.used).then(lost(b).total_cmp(&lost(a))));
        self
    }

    /// The factors that are selected.
    ///
    /// # Errors
    /// If a column could be left out, and nobody can say whether it helps.
    pub(crate) fn used(&self) -> Result<BTreeSet<usize>> {
        let unknown = |rank: &&FeatureRank| rank.gain.is_none() && !is_always_used(rank.kind);
        if let Some(unknown) = self.ranked.iter().find(unknown) {
            return Err(Error::Settings(format!(
                "columns cannot be selected: only sums were kept of `{}`; {HOW_TO_KEEP_NUMBERS}",
                unknown.name
            )));
        }
        Ok(self.ranked.iter().filter(|rank| rank.used).map(|rank| rank.factor).collect())
    }
}

/// A gain under two names, both null if it is not known.
fn as_two_numbers<S: Serializer>(gain: &Option<Gain>, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    let numbers =
        [("gain", gain.map(|gain| gain.bits)), ("standard_error", gain.map(|gain| gain.standard_error))];
    serializer.collect_map(numbers)
}

/// Text and groups of numbers are used whatever is selected: nobody can say that they do not help.
pub(crate) fn is_always_used(kind: Kind) -> bool {
    matches!(kind, Kind::Text | Kind::Group)
}

/// Marks what is used.
fn select(ranked: &mut [FeatureRank], selection: Selection) {
    for (place, rank) in (0..).zip(ranked) {
        rank.used = match (selection, rank.gain) {
            (Selection::All, _) => true,
            (_, None) => is_always_used(rank.kind),
            (Selection::Best(most), _) => place < most,
            (Selection::Auto, Some(gain)) => gain.bits > gain.standard_error,
        };
    }
}

struct Judge<'a> {
    statistics: &'a Statistics,
    settings: &'a Settings,
    total: f64,
    priors: Priors<'a>,
    /// The logarithm of each numerator of the prior.
    ln_numerators: Vec<f64>,
}

impl<'a> Judge<'a> {
    fn new(statistics: &'a Statistics, settings: &'a Settings) -> Self {
        let priors = Priors::new(statistics, &settings.prior);
        let ln_numerators = priors.numerators.iter().map(|&numerator| libm::log(numerator)).collect();
        Judge { statistics, settings, total: statistics.total_weight(), priors, ln_numerators }
    }

    /// Ranks factors, each of which is let go before the next is prepared.
    fn features<'f>(
        &self,
        factors: impl Iterator<Item = Result<(&'f FamilyStatistics, Prepared<'f, f64>)>>,
    ) -> Result<Features> {
        let ranked = factors.enumerate().map(|(i, factor)| {
            let (factor, prepared) = factor?;
            self.rank(i, factor, &prepared)
        });
        let mut ranked = ranked.collect::<Result<Vec<_>>>()?;
        let key = |rank: &FeatureRank| {
            (rank.gain.map_or(f64::NAN, |gain| gain.bits), rank.information.unwrap_or(f64::NAN))
        };
        // Not a number comes last here, after −∞.
        let down = |a: f64, b: f64| a.is_nan().cmp(&b.is_nan()).then(b.total_cmp(&a));
        ranked.sort_by(|a, b| {
            let ((gain_a, information_a), (gain_b, information_b)) = (key(a), key(b));
            down(gain_a, gain_b).then(down(information_a, information_b))
        });
        select(&mut ranked, self.settings.select);
        let (rows, classes) = (self.statistics.rows, self.statistics.classes.len());
        Ok(Features { rows, classes, entropy: self.entropy(), ranked })
    }

    fn rank(
        &self,
        position: usize,
        factor: &FamilyStatistics,
        prepared: &Prepared<'_, f64>,
    ) -> Result<FeatureRank> {
        let schema = &self.statistics.schema;
        let contingency = factor.contingency(self.settings.missing);
        let mut sums = GainSums::new(self, exponent_of(self.settings, schema, factor.columns()));
        let mut refused = Ok(());
        let known = prepared.each_value(|alike| {
            if refused.is_ok() {
                refused = sums.add(alike);
            }
        });
        refused?;
        Ok(FeatureRank {
            name: feature_name(schema, factor.columns()),
            columns: factor.columns().iter().map(|&column| schema.columns[column].name.clone()).collect(),
            kind: schema.columns[factor.columns()[0]].kind,
            family: prepared.family(),
            information: contingency.map(|counts| self.information(&counts)),
            gain: known.then(|| sums.gain(self.total)),
            lost: None,
            used: true,
            factor: position,
        })
    }

    /// H(class) in bits.
    fn entropy(&self) -> f64 {
        let share = |class: usize| self.statistics.class_weight.get(0, class) / self.total;
        let bits = (0..self.statistics.classes.len()).map(share).map(|p| -p * libm::log2(p));
        bits.sum::<f64>().max(0.0)
    }

    /// Mutual information of a table of values and classes, in bits per row of all.
    fn information(&self, counts: &[f64]) -> f64 {
        let classes = self.statistics.classes.len();
        let mut of_class = vec![0.0; classes];
        for value in counts.chunks_exact(classes) {
            of_class.iter_mut().zip(value).for_each(|(sum, count)| *sum += count);
        }
        let known: f64 = of_class.iter().sum();
        let mut bits = 0.0;
        for value in counts.chunks_exact(classes) {
            let of_value: f64 = value.iter().sum();
            for (&count, &of_class) in value.iter().zip(&of_class).filter(|(count, _)| **count > 0.0) {
                bits += count / self.total * libm::log2(count / of_value * (known / of_class));
            }
        }
        bits.max(0.0)
    }
}

/// GainSums of what rows gain, and of its square.
struct GainSums<'a> {
    judge: &'a Judge<'a>,
    /// The power that the likelihood is raised to.
    exponent: f64,
    gain: f64,
    square: f64,
}

impl<'a> GainSums<'a> {
    fn new(judge: &'a Judge<'a>, exponent: f64) -> Self {
        GainSums { judge, exponent, gain: 0.0, square: 0.0 }
    }

    /// Adds rows that are alike, each judged without itself. What the other classes say is the same for all rows of a
    /// weight, so that many classes take no longer than they are many.
    fn add(&mut self, alike: &Alike<'_>) -> Result<()> {
        let judge = self.judge;
        let mut others = Others::default();
        for &(class, weight) in &alike.cells {
            let of_class = judge.statistics.class_weight.get(0, class).min(1.0);
            let from_prior = Removed { class, weight: of_class };
            if judge.priors.vanishes(from_prior) {
                continue; // nobody can expect a class that was never seen
            }
            let prior = judge.priors.without(from_prior)?;
            let removed = Removed { class, weight: weight.min(1.0) };
            if others.weight != removed.weight {
                others = Others::new(removed.weight, (alike.others)(removed.weight), judge, self.exponent);
            }
            let own = raised((alike.own)(removed, others.ln[class]), self.exponent);
            let own_joint = libm::log(prior.own) + own;
            let joint = log_sum([others.but(class), own_joint].into_iter());
            // Nor one that the prior rules out, nor decide where every class is impossible.
            if prior.own == 0.0 || joint == f64::NEG_INFINITY {
                continue;
            }
            let gain = (own - (joint - libm::log(prior.denominator))) / LN_2;
            self.gain += weight * gain;
            self.square += weight * gain * gain;
        }
        Ok(())
    }

    fn gain(&self, total: f64) -> Gain {
        let bits = self.gain / total;
        let variance = (self.square / total - bits * bits).max(0.0);
        Gain { bits, standard_error: libm::sqrt(variance / total) }
    }
}

/// What classes say of rows that belong to another, and the sum of that over all classes but any one.
struct Others {
    /// The weight of the row that is left out.
    weight: f64,
    /// log P(x | class).
    ln: Vec<f64>,
    /// The class with the largest log-joint, that log-joint, and the logarithm of the sum over all others.
    largest: usize,
    most: f64,
    but_largest: f64,
    /// The sum over the classes before each, and over those after it, as multiples of the largest.
    before: Vec<f64>,
    after: Vec<f64>,
}

impl Default for Others {
    fn default() -> Self {
        let (ln, before, after) = (Vec::new(), Vec::new(), Vec::new());
        Others { weight: f64::NAN, ln, largest: 0, most: 0.0, but_largest: 0.0, before, after }
    }
}

impl Others {
    fn new(weight: f64, ln: Vec<f64>, judge: &Judge<'_>, exponent: f64) -> Self {
        let joint: Vec<f64> =
            ln.iter().zip(&judge.ln_numerators).map(|(&ln, prior)| prior + raised(ln, exponent)).collect();
        let largest = argmax(&joint);
        let most = joint[largest];
        let rest = joint[..largest].iter().chain(&joint[largest + 1..]).copied();
        let share = |&x: &f64| if most == f64::NEG_INFINITY { 0.0 } else { libm::exp(x - most) };
        let shares: Vec<f64> = joint.iter().map(share).collect();
        let mut after = sums_before(shares.iter().rev());
        after.reverse();
        let before = sums_before(shares.iter());
        Others { weight, ln, largest, most, but_largest: log_sum(rest), before, after }
    }

    /// The logarithm of the sum over all classes but one. Nothing is subtracted, so no digits are lost.
    fn but(&self, class: usize) -> f64 {
        if class == self.largest {
            return self.but_largest;
        }
        self.most + libm::log(self.before[class] + self.after[class])
    }
}

/// For each of these the sum of those before it.
fn sums_before<'a>(numbers: impl Iterator<Item = &'a f64>) -> Vec<f64> {
    let add = |sum: &mut f64, number: &f64| {
        let before = *sum;
        *sum += number;
        Some(before)
    };
    numbers.scan(0.0, add).collect()
}
