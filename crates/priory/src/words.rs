//! The words for what can be chosen: the same on the command line and in Python.

use std::collections::BTreeMap;

use crate::decide::Cost;
use crate::schema::Kind;
use crate::settings::{
    Discriminant, Divisor, Family, MissingValues, NumberFamily, Prior, Regularization, Selection, Smoothing,
    TextFamily, VarianceFloor,
};
use crate::text::{CharacterNgrams, Cjk, Reach, TermFrequency, TokenStyle, WordNgrams};
use crate::written::{DateOrder, DatePart, DecimalMark};

/// What a column is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// Left out.
    Ignored,
    /// A feature of this kind, and of this family if one was named.
    Kept(Kind, Option<Family>),
    /// Dates, and which parts of them count.
    Dates(Dates),
}

/// What counts of a column of dates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dates {
    /// How they are written, if it was said.
    pub order: Option<DateOrder>,
    /// Whether the moments count as numbers.
    pub number: bool,
    /// Whether weekday, month and hour count as categories, in the order of [`DatePart::ALL`].
    pub parts: [bool; 3],
}

/// `number`, `category`, `text`, `ignore` and so on, or a family of numbers.
///
/// ```
/// use priory::{Kind, words};
/// use priory::settings::NumberFamily;
///
/// assert_eq!(words::meaning("poisson"), Ok(words::Meaning::Kept(Kind::Number, Some(NumberFamily::Poisson.into()))));
/// assert!(words::meaning("fish").is_err());
/// ```
///
/// # Errors
/// The words that there are, if it is none of them.
pub fn meaning(word: &str) -> Result<Meaning, String> {
    Ok(match word {
        "number" => Meaning::Kept(Kind::Number, None),
        "category" => Meaning::Kept(Kind::Category, None),
        "categorical" => Meaning::Kept(Kind::Category, Some(Family::Categorical)),
        "bernoulli" => Meaning::Kept(Kind::Category, Some(Family::Bernoulli)),
        "joint" => Meaning::Kept(Kind::Joint, None),
        "text" => Meaning::Kept(Kind::Text, None),
        "group" => Meaning::Kept(Kind::Group, None),
        "ignore" => Meaning::Ignored,
        _ if is_about_dates(word) => Meaning::Dates(dates(word)?),
        _ => {
            let family = numbers(word).map_err(|families| {
                format!("`{word}` is none of number, category, categorical, bernoulli, date, text, joint, group, ignore, nor {families}")
            })?;
            Meaning::Kept(kind_for(family), Some(family.into()))
        }
    })
}

/// Whether a word begins like those about dates.
fn is_about_dates(word: &str) -> bool {
    let first = word.split(['+', ':']).next().unwrap_or_default();
    first == "date" || DatePart::ALL.iter().any(|part| part.name() == first)
}

/// `date`, `date:dmy`, and with a plus between them `weekday`, `month` and `hour`.
fn dates(text: &str) -> Result<Dates, String> {
    let mut dates = Dates::default();
    for word in text.split('+') {
        let (word, order) = word.split_once(':').map_or((word, None), |(word, order)| (word, Some(order)));
        if let Some(place) = DatePart::ALL.iter().position(|part| part.name() == word && order.is_none()) {
            dates.parts[place] = true;
            continue;
        }
        let named = DateOrder::ALL.into_iter().find(|known| Some(known.name()) == order);
        if word != "date" || named.is_none() != order.is_none() {
            let (orders, parts) = (DateOrder::ALL.map(DateOrder::name), DatePart::ALL.map(DatePart::name));
            let (orders, parts) = (orders.join(", date:"), parts.join(", "));
            return Err(format!("expected date, date:{orders}, and with a plus between them {parts}"));
        }
        dates.number = true;
        dates.order = named;
    }
    Ok(dates)
}

/// What has to be counted of a column for this family. More than sums is counted only where more is needed.
pub fn kind_for(family: NumberFamily) -> Kind {
    if family.needs_sums_only() { Kind::Moments } else { Kind::Number }
}

/// A family of numbers.
///
/// # Errors
/// The families that there are, if it is none of them.
pub fn numbers(text: &str) -> Result<NumberFamily, String> {
    text.parse()
}

/// The same, or `auto` for the one that each column seems to follow.
///
/// # Errors
/// The families that there are, if it is none of them.
pub fn numbers_or_auto(text: &str) -> Result<Option<NumberFamily>, String> {
    match text {
        "auto" => Ok(None),
        _ => numbers(text).map(Some).map_err(|families| format!("expected auto or {families}")),
    }
}

/// A model of text, or `auto` for the one that the rule gives.
///
/// # Errors
/// The models that there are, if it is none of them.
pub fn text_model(text: &str) -> Result<Option<TextFamily>, String> {
    if text == "auto" {
        return Ok(None);
    }
    let found = TextFamily::ALL.into_iter().find(|family| family.name() == text);
    found.map(Some).ok_or_else(|| {
        let names = TextFamily::ALL.map(TextFamily::name).join(", ");
        format!("expected {names} or auto")
    })
}

/// The least variance of a Gaussian.
///
/// # Errors
/// What was expected.
pub fn floor(text: &str) -> Result<VarianceFloor, String> {
    match text.split_once(':') {
        None if text == "sklearn" => Ok(VarianceFloor::Sklearn(1e-9)),
        Some(("relative", share)) => Ok(VarianceFloor::Relative(amount(share)?)),
        Some(("absolute", least)) => Ok(VarianceFloor::Absolute(amount(least)?)),
        Some(("added", more)) => Ok(VarianceFloor::Added(amount(more)?)),
        Some(("sklearn", share)) => Ok(VarianceFloor::Sklearn(amount(share)?)),
        _ => Err("expected relative:R, absolute:A, added:A, sklearn or sklearn:R".into()),
    }
}

/// How the numbers of a group belong together.
///
/// # Errors
/// What was expected.
pub fn discriminant(text: &str) -> Result<Discriminant, String> {
    let expected =
        || "expected linear, quadratic, regularized, regularized:L,G, linear:unbiased or quadratic:unbiased";
    let (word, rest) = text.split_once(':').map_or((text, None), |(word, rest)| (word, Some(rest)));
    let divisor = || match rest {
        None => Ok(Divisor::Rows),
        Some("unbiased") => Ok(Divisor::Freedom),
        Some(_) => Err(expected()),
    };
    Ok(match (word, rest) {
        ("linear", _) => Discriminant::Linear(divisor()?),
        ("quadratic", _) => Discriminant::Quadratic(divisor()?),
        ("regularized", None) => Discriminant::Regularized(None),
        ("regularized", Some(amounts)) => {
            let (shared, diagonal) = amounts.split_once(',').ok_or_else(expected)?;
            let (shared, diagonal) = (share(shared)?, share(diagonal)?);
            Discriminant::Regularized(Some(Regularization { shared, diagonal }))
        }
        _ => return Err(expected().into()),
    })
}

/// Which columns are used.
///
/// # Errors
/// What was expected.
pub fn select(text: &str) -> Result<Selection, String> {
    match text {
        "all" => Ok(Selection::All),
        "auto" => Ok(Selection::Auto),
        _ => {
            let most = text.parse().ok().filter(|&most| most > 0).map(Selection::Best);
            most.ok_or_else(|| format!("`{text}` is not a number of columns from 1 on, nor auto or all"))
        }
    }
}

/// How counts become probabilities; pseudocounts from a file are the command line's affair.
///
/// # Errors
/// What was expected.
pub fn smoothing(text: &str) -> Result<Smoothing, String> {
    match text.split_once(':') {
        None if text == "none" => Ok(Smoothing::None),
        None if text == "laplace" => Ok(Smoothing::LAPLACE),
        Some(("lidstone", "auto")) => Ok(Smoothing::Auto),
        Some(("pseudocounts", amounts)) => {
            let (present, absent) = amounts.split_once(',').ok_or("expected pseudocounts:PRESENT,ABSENT")?;
            Ok(Smoothing::Pair { present: amount(present)?, absent: amount(absent)? })
        }
        Some(("lidstone", alpha)) => Ok(Smoothing::Lidstone(amount(alpha)?)),
        Some(("background", lambda)) => Ok(Smoothing::Background(share(lambda)?)),
        _ => Err("expected none, laplace, lidstone:A, background:L or dirichlet:FILE".into()),
    }
}

/// Where P(class) comes from.
///
/// # Errors
/// What was expected.
pub fn prior(text: &str) -> Result<Prior, String> {
    match text.split_once(':') {
        None if text == "empirical" => Ok(Prior::Empirical),
        None if text == "uniform" => Ok(Prior::Uniform),
        Some(("smoothed", more)) => Ok(Prior::Smoothed(amount(more)?)),
        Some(("given", shares)) => {
            let shares = shares.split(',').map(|given| {
                let (class, p) =
                    given.rsplit_once('=').ok_or(format!("expected CLASS=P, found `{given}`"))?;
                Ok((class.to_owned(), share(p)?))
            });
            Ok(Prior::Given(shares.collect::<Result<BTreeMap<_, _>, String>>()?))
        }
        _ => Err("expected empirical, uniform, smoothed:L or given:CLASS=P,...".into()),
    }
}

/// What stands before the fraction of a number.
///
/// # Errors
/// What was expected.
pub fn decimal(text: &str) -> Result<DecimalMark, String> {
    let found = DecimalMark::ALL.into_iter().find(|mark| mark.name() == text);
    found.ok_or_else(|| "expected point or comma".into())
}

/// Into how many classes a target of numbers is cut.
///
/// # Errors
/// If that makes no classes.
pub fn bins(text: &str) -> Result<usize, String> {
    let classes = text.parse().ok().filter(|classes| (2..=1000).contains(classes));
    classes.ok_or_else(|| format!("`{text}` is not a number of classes from 2 to 1000"))
}

/// `CLASS=P`, or `P` for the positive class: the probability that a class must reach to be answered.
///
/// # Errors
/// What was expected.
pub fn threshold(text: &str) -> Result<(Option<String>, f64), String> {
    let (class, p) = text.rsplit_once('=').map_or((None, text), |(class, p)| (Some(class.to_owned()), p));
    let p = p.parse().map_err(|_| format!("expected CLASS=P with a probability P, found `{text}`"))?;
    Ok((class, p))
}

/// `true:predicted=C,…`: what it costs to answer one class where another is true. `*` stands for all that are not named.
///
/// # Errors
/// What was expected.
pub fn costs(text: &str) -> Result<Vec<Cost>, String> {
    text.split(',').map(cost).collect()
}

fn cost(text: &str) -> Result<Cost, String> {
    let expected = || format!("expected TRUE:PREDICTED=COST, found `{text}`");
    let (pair, cost) = text.rsplit_once('=').ok_or_else(expected)?;
    let (true_class, predicted) = pair.split_once(':').ok_or_else(expected)?;
    if predicted.contains(':') {
        return Err(format!("`{pair}` has more than one colon; name such classes in a table of costs"));
    }
    let cost =
        cost.trim().parse().map_err(|_| format!("the cost of {pair} is `{cost}`, which is not a number"))?;
    Ok(Cost { true_class: named(true_class), predicted: named(predicted), cost })
}

/// The class of this name; none if it is `*`.
pub fn named(class: &str) -> Option<String> {
    Some(class.trim()).filter(|class| *class != "*").map(str::to_owned)
}

/// What a missing value says.
///
/// # Errors
/// What was expected.
pub fn missing_values(text: &str) -> Result<MissingValues, String> {
    match text {
        "skipped" => Ok(MissingValues::Skipped),
        "counted" => Ok(MissingValues::Counted),
        _ => Err("expected skipped or counted".into()),
    }
}

/// How scripts without spaces are read.
///
/// # Errors
/// What was expected.
pub fn cjk(text: &str) -> Result<Cjk, String> {
    match text {
        "bigrams" => Ok(Cjk::Bigrams),
        "words" => Ok(Cjk::Words),
        _ => Err("expected bigrams or words".into()),
    }
}

/// What several occurrences of a token in a document count.
///
/// # Errors
/// What was expected.
pub fn frequency(text: &str) -> Result<TermFrequency, String> {
    match text {
        "counts" => Ok(TermFrequency::Counts),
        "log" => Ok(TermFrequency::Logarithm),
        _ => Err("expected counts or log".into()),
    }
}

/// What a token is.
///
/// # Errors
/// What was expected.
pub fn token_style(text: &str) -> Result<TokenStyle, String> {
    let characters = |text: &str, reach| {
        let (min, max) = range(text)?;
        Ok(TokenStyle::Characters(CharacterNgrams { min, max, reach }))
    };
    match text.split_once(':') {
        None if text == "words" => Ok(TokenStyle::Words),
        None if text == "sklearn" => Ok(TokenStyle::Sklearn),
        None if text == "spaces" => Ok(TokenStyle::Spaces),
        None if text == "characters" => Ok(TokenStyle::Characters(CharacterNgrams::default())),
        Some(("characters", range)) => characters(range, Reach::Inside),
        Some(("characters-across", range)) => characters(range, Reach::Across),
        _ => Err("expected words, sklearn, spaces, characters:MIN-MAX or characters-across:MIN-MAX".into()),
    }
}

/// How many neighbouring words make up a token.
///
/// # Errors
/// What is not a number.
pub fn ngrams(text: &str) -> Result<WordNgrams, String> {
    range(text).map(|(min, max)| WordNgrams { min, max })
}

/// How many characters the runs have that are counted beside words.
///
/// # Errors
/// What is not a number.
pub fn characters(text: &str) -> Result<CharacterNgrams, String> {
    range(text).map(|(min, max)| CharacterNgrams { min, max, reach: Reach::Inside })
}

/// `1-2`, or a single number.
fn range(text: &str) -> Result<(u8, u8), String> {
    let (min, max) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.parse().map_err(|_| format!("`{text}` is not a small whole number"));
    Ok((number(min)?, number(max)?))
}

/// A finite number of zero or more.
///
/// # Errors
/// If it is none.
pub fn amount(text: &str) -> Result<f64, String> {
    let amount = text.parse::<f64>().ok().filter(|x| x.is_finite() && *x >= 0.0);
    amount.ok_or_else(|| format!("`{text}` is not a number of zero or more"))
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|x| (0.0..=1.0).contains(x));
    share.ok_or_else(|| format!("`{text}` is not a number between 0 and 1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_styles() {
        assert_eq!(range("2"), Ok((2, 2)));
        assert_eq!(range("1-4"), Ok((1, 4)));
        assert!(range("1-").is_err() && range("a").is_err());
        let across = CharacterNgrams { min: 2, max: 3, reach: Reach::Across };
        assert_eq!(token_style("characters-across:2-3"), Ok(TokenStyle::Characters(across)));
        assert!(token_style("letters").is_err());
    }
}
