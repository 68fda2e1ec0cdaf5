//! The worked examples of the lecture notes, to the digit, and each estimate computed by hand.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::BTreeMap;

use priory::report::{ByClass, FeatureFamily, FractionExplanation, Fractions, Summary};
use priory::settings::{Family, Prior, Pseudocounts, Smoothing, TextFamily};
use priory::{Batch, Column, Kind, Schema, Settings, Statistics, Value};

/// A table as text: the last column is the class, `?` is missing.
fn learn(columns: &[&str], kind: Kind, rows: &[&str]) -> Statistics {
    let schema = Schema::new("class", columns.iter().map(|&name| Column::new(name, kind)).collect()).unwrap();
    let mut statistics = Statistics::empty(&schema);
    statistics.observe(&batch(rows)).unwrap();
    statistics
}

fn batch(rows: &[&str]) -> Batch {
    let rows: Vec<(String, Vec<Option<String>>)> = rows
        .iter()
        .map(|row| {
            let mut cells: Vec<&str> = row.split_whitespace().collect();
            let class = cells.pop().unwrap().to_owned();
            (class, cells.into_iter().map(|cell| (cell != "?").then(|| cell.to_owned())).collect())
        })
        .collect();
    let borrowed: Vec<(&str, Vec<Option<&str>>)> = rows
        .iter()
        .map(|(class, cells)| (class.as_str(), cells.iter().map(Option::as_deref).collect()))
        .collect();
    Batch::from_rows(&borrowed)
}

const TENNIS: [&str; 14] = [
    "S H H W -",
    "S H H S -",
    "O H H W +",
    "R M H W +",
    "R C N W +",
    "R C N S -",
    "O C N S +",
    "S M H W -",
    "S C N W +",
    "R M N W +",
    "S M N S +",
    "O M H S +",
    "O H N W +",
    "R M H S -",
];

fn tennis(kind: Kind) -> Statistics {
    learn(&["outlook", "temperature", "humidity", "wind"], kind, &TENNIS)
}

fn maximum_likelihood() -> Settings {
    Settings { smoothing: Smoothing::None, ..Settings::default() }
}

/// 000_d2972fea54550ab6.txt: p(y=1) = 9/14, p(O=S|+) = 2/9, R 3/9, O 4/9.
#[test]
fn tennis_fractions() {
    let summary = Summary::new(&tennis(Kind::Category), &maximum_likelihood()).unwrap();
    let fractions: Vec<_> = summary.classes.iter().map(|class| class.fraction.clone().unwrap()).collect();
    assert_eq!(fractions, ["9/14", "5/14"]);
    let outlook = &summary.features[0];
    let of_plus: Vec<(&str, &str)> =
        outlook.values.iter().map(|v| (v.value.as_str(), v.fraction.as_ref().unwrap()[0].as_str())).collect();
    assert_eq!(of_plus, [("O", "4/9"), ("R", "3/9"), ("S", "2/9")]);
    // 3 · 3 · 2 · 2 − 1 cells against (3−1) + (3−1) + (2−1) + (2−1), for each class.
    assert_eq!(summary.parameters.joint, Some(70_u32.into()));
    assert_eq!(summary.parameters.naive, 12_u32.into());
}

/// The classic day: sunny, cool, high, strong. 9/14 · 2/9 · 3/9 · 3/9 · 3/9 against 5/14 · 3/5 · 1/5 · 4/5 · 3/5.
#[test]
fn tennis_day() {
    let statistics = tennis(Kind::Category);
    let day = batch(&["S C H S +"]);
    let model = statistics.estimate(&maximum_likelihood()).unwrap();
    let posterior = model.score(&day).unwrap().normalize();
    let plus: f64 = 9.0 / 14.0 * (2.0 / 9.0) * (3.0 / 9.0) * (3.0 / 9.0) * (3.0 / 9.0);
    let minus: f64 = 5.0 / 14.0 * (3.0 / 5.0) * (1.0 / 5.0) * (4.0 / 5.0) * (3.0 / 5.0);
    assert!((posterior.row(0)[1] - minus / (plus + minus)).abs() < 1e-15);
    assert_eq!(format!("{:.4}", posterior.row(0)[1]), "0.7954");

    let fractions = Fractions::new(&statistics, &model).unwrap().explain(&day, 0).unwrap();
    assert_eq!(known(&fractions), [["2/9", "3/5"], ["3/9", "1/5"], ["3/9", "4/5"], ["3/9", "3/5"]]);
    assert_eq!(fractions.joint.unwrap(), ["1/189", "18/875"]);
    assert_eq!(fractions.posterior.unwrap(), ["125/611", "486/611"]);
}

/// 001_8fd87026921e054d.txt: the brute-force table learns each combination by itself.
#[test]
fn tennis_as_a_full_joint_table() {
    let statistics = tennis(Kind::Joint);
    let model = statistics.estimate(&maximum_likelihood()).unwrap();
    let fractions = Fractions::new(&statistics, &model).unwrap();
    let seen = fractions.explain(&batch(&["S H H W -"]), 0).unwrap();
    assert_eq!(known(&seen), [["0/9", "1/5"]]);
    // A combination nobody has met is impossible, which is what the naive assumption avoids.
    assert_eq!(fractions.explain(&batch(&["S C H S +"]), 0).unwrap().posterior, None);
    // Wind summed out: two of five minus days were sunny, hot and humid.
    let partly = fractions.explain(&batch(&["S H H ? -"]), 0).unwrap();
    assert_eq!(known(&partly), [["0/9", "2/5"]]);
    // Laplace over 36 cells.
    let model = statistics.estimate(&Settings::default()).unwrap();
    let laplace = Fractions::new(&statistics, &model).unwrap();
    assert_eq!(known(&laplace.explain(&batch(&["S H H W -"]), 0).unwrap()), [["1/45", "2/41"]]);
    assert_eq!(known(&laplace.explain(&batch(&["S H H ? -"]), 0).unwrap()), [["2/45", "4/41"]]);
}

fn movies() -> Statistics {
    let mut rows = Vec::new();
    // Counts of the table in 001_8fd87026921e054d.txt; the pairs are free.
    for (y, stars, potter) in [("0", [3, 10], [5, 8]), ("1", [4, 13], [7, 10])] {
        let n = stars[0] + stars[1];
        for i in 0..n {
            let x1 = usize::from(i >= stars[0]);
            let x2 = usize::from(i % n >= potter[0]);
            rows.push(format!("{x1} {x2} {y}"));
        }
    }
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    learn(&["star_wars", "harry_potter"], Kind::Category, &rows)
}

/// 001_8fd87026921e054d.txt: −2.05 and −1.72, with Laplace on the conditionals −2.06 and −1.74; prediction 1.
#[test]
fn movies_log_joints() {
    let user = batch(&["1 0 ?"]);
    for (settings, expected) in
        [(maximum_likelihood(), ["-2.05", "-1.72"]), (Settings::default(), ["-2.06", "-1.74"])]
    {
        let model = movies().estimate(&settings).unwrap();
        let explanation = model.explain(&user, 0).unwrap();
        let shown: Vec<String> = explanation.log_joint.iter().map(|x| format!("{x:.2}")).collect();
        assert_eq!(shown, expected);
        assert_eq!(explanation.classes[explanation.best], "1");
    }
    let exact = [(13.0 / 30.0) * (10.0 / 13.0) * (5.0 / 13.0), (17.0 / 30.0) * (13.0 / 17.0) * (7.0 / 17.0)]
        .map(f64::ln);
    let scores = movies().estimate(&maximum_likelihood()).unwrap().score(&user).unwrap();
    scores.row(0).iter().zip(exact).for_each(|(found, exact)| assert!((found - exact).abs() < 1e-15));
}

fn emails() -> Statistics {
    let words = ["book", "buy", "do", "drugs", "math", "today"];
    let rows =
        ["0 0 1 0 1 1 ham", "0 1 0 0 0 0 spam", "1 1 0 0 0 0 ham", "0 0 1 1 1 1 spam", "1 1 0 1 0 1 spam"];
    learn(&words, Kind::Category, &rows)
}

/// 002_2cfdb9a4744c3993.txt: P(spam | "Buy book today") = 256/499; Laplace gives `drugs` in ham 1/4.
#[test]
fn emails_as_bernoulli_columns() {
    let statistics = emails();
    let model = statistics.estimate(&maximum_likelihood()).unwrap();
    let fractions = Fractions::new(&statistics, &model).unwrap();
    let mail = batch(&["1 1 0 0 0 1 ?"]);
    assert_eq!(fractions.explain(&mail, 0).unwrap().posterior.unwrap(), ["243/499", "256/499"]);
    let posterior = statistics.estimate(&maximum_likelihood()).unwrap().score(&mail).unwrap().normalize();
    assert!((posterior.row(0)[1] - 256.0 / 499.0).abs() < 1e-15);

    let laplace = Summary::new(&statistics, &Settings::default()).unwrap();
    let drugs = &laplace.features[3];
    assert_eq!((drugs.name.as_str(), drugs.family), ("drugs", FeatureFamily::Of(Family::Bernoulli)));
    assert_eq!(drugs.values[1].fraction.as_ref().unwrap(), &["1/4", "3/5"]);
    assert_eq!(laplace.parameters.joint, Some((2_u32 * (64 - 1)).into()));
    assert_eq!(laplace.parameters.naive, 12_u32.into());
}

/// 000_d2972fea54550ab6.txt: b = log(θ/(1−θ) ∏ (1−w₁)/(1−w₀)), wᵢ = log(w₁/w₀ · (1−w₀)/(1−w₁)). The notes write
/// the boundary as b + Σ w x = 1; after the logarithm it is 0.
#[test]
fn emails_as_a_linear_form() {
    let model = emails().estimate(&Settings::default()).unwrap();
    let form = model.linear_form().unwrap();
    assert_eq!((form.first.as_str(), form.second.as_str()), ("ham", "spam"));
    // By hand with Laplace: ham (c + 1)/4, spam (c + 1)/5.
    let ham = [2.0_f64, 2.0, 2.0, 1.0, 2.0, 2.0].map(|c| c / 4.0);
    let spam = [2.0_f64, 3.0, 2.0, 3.0, 2.0, 3.0].map(|c| c / 5.0);
    let mut bias = (3.0 / 2.0_f64).ln();
    for (i, (h, s)) in ham.iter().zip(spam).enumerate() {
        bias += ((1.0 - s) / (1.0 - h)).ln();
        let weight = ((s / h) * ((1.0 - h) / (1.0 - s))).ln();
        assert!((form.weights[i].weight - weight).abs() < 1e-14, "{i}");
    }
    assert!((form.bias - bias).abs() < 1e-14);
    // It decides like the posterior.
    for row in ["1 1 0 0 0 1 ?", "0 0 0 1 0 0 ?", "0 0 1 0 1 0 ?", "0 0 0 0 0 0 ?"] {
        let scores = model.score(&batch(&[row])).unwrap();
        let present =
            row.split_whitespace().zip(&form.weights).filter(|(x, _)| *x == "1").map(|(_, w)| w.weight);
        let odds = form.bias + present.sum::<f64>();
        assert!((odds - (scores.row(0)[1] - scores.row(0)[0])).abs() < 1e-14);
    }
    assert!(emails().estimate(&maximum_likelihood()).unwrap().linear_form().is_err()); // `drugs` never in ham
    assert!(tennis(Kind::Category).estimate(&Settings::default()).unwrap().linear_form().is_err());
}

/// Three 1s and one 0 in class a; no 1 and two 0s in class b.
fn coins() -> Statistics {
    learn(&["x"], Kind::Category, &["1 a", "1 a", "1 a", "0 a", "0 b", "0 b"])
}

fn fraction_of_one(settings: &Settings) -> Vec<String> {
    let summary = Summary::new(&coins(), settings).unwrap();
    let one = summary.features[0].values.iter().find(|value| value.value == "1").unwrap();
    let fractions = one.fraction.clone().unwrap();
    for (fraction, p) in fractions.iter().zip(one.probability.iter()) {
        let (n, d) = fraction.split_once('/').map_or((fraction.as_str(), "1"), |parts| parts);
        let exact = n.parse::<f64>().unwrap() / d.parse::<f64>().unwrap();
        assert!((exact - p).abs() < 1e-15);
    }
    fractions.to_vec()
}

/// 004_a23c615c1a359a0d.txt: θ = (α₁ + β₁ − 1) / ((α₁ + β₁ − 1) + (α₀ + β₀ − 1)), here with Beta(β₁ = 3, β₀ = 2).
#[test]
fn map_under_a_beta_prior() {
    let beta = |one: f64, zero: f64| {
        let pseudocounts = BTreeMap::from([("0".into(), zero - 1.0), ("1".into(), one - 1.0)]);
        let columns = Pseudocounts(BTreeMap::from([("x".into(), pseudocounts)]));
        Settings { smoothing: Smoothing::Dirichlet(columns), ..Settings::default() }
    };
    assert_eq!(fraction_of_one(&beta(3.0, 2.0)), ["5/7", "2/5"]); // (3+3−1)/(5 + 1+2−1), (0+3−1)/(2 + 2+2−1)
    assert_eq!(fraction_of_one(&beta(2.0, 2.0)), fraction_of_one(&Settings::default())); // Beta(2, 2) is Laplace
    assert_eq!(fraction_of_one(&beta(1.0, 1.0)), ["3/4", "0/2"]); // Beta(1, 1) is flat
}

/// 004_a23c615c1a359a0d.txt: (#D{X = x, Y = y} + l) / (#D{Y = y} + l J), with l = 1/2 and J = 2.
#[test]
fn lidstone() {
    let settings = |alpha| Settings { smoothing: Smoothing::Lidstone(alpha), ..Settings::default() };
    assert_eq!(fraction_of_one(&settings(0.5)), ["7/10", "1/6"]); // 3.5/5, 0.5/3
    assert_eq!(fraction_of_one(&settings(2.0)), ["5/8", "2/6"]);
    let mut per_column = settings(0.5);
    per_column.column_smoothing.insert("x".into(), Smoothing::Lidstone(2.0));
    assert_eq!(fraction_of_one(&per_column), ["5/8", "2/6"]);
}

/// 003_b524d790fa322036.txt: λ P(i) + (1 − λ) Q(i), Q from all classes together; here Q(1) = 3/6.
#[test]
fn background() {
    let settings = |lambda| Settings { smoothing: Smoothing::Background(lambda), ..Settings::default() };
    assert_eq!(fraction_of_one(&settings(0.8)), ["7/10", "1/10"]); // 0.8 · 3/4 + 0.2 · 1/2, 0.8 · 0 + 0.2 · 1/2
    assert_eq!(fraction_of_one(&settings(0.0)), ["1/2", "1/2"]);
    assert_eq!(fraction_of_one(&settings(1.0)), ["3/4", "0"]);
}

/// 003_b524d790fa322036.txt: Laplace (tᵢ + 1) / (M + N).
#[test]
fn laplace() {
    assert_eq!(fraction_of_one(&Settings::default()), ["4/6", "1/4"]);
}

/// 004_a23c615c1a359a0d.txt: π = (#D{Y = y} + l) / (|D| + l K), with l = 1 and K = 2.
#[test]
fn priors() {
    let fractions = |prior: Prior| {
        let settings = Settings { prior, ..Settings::default() };
        let statistics = coins();
        Fractions::new(&statistics, &statistics.estimate(&settings).unwrap()).unwrap().priors()
    };
    assert_eq!(fractions(Prior::Empirical), ["4/6", "2/6"]);
    assert_eq!(fractions(Prior::Uniform), ["1/2", "1/2"]);
    assert_eq!(fractions(Prior::Smoothed(1.0)), ["5/8", "3/8"]);
    let given = Prior::Given(BTreeMap::from([("a".into(), 0.1), ("b".into(), 0.9)]));
    assert_eq!(fractions(given), ["1/10", "9/10"]);
}

/// A column that only ever shows 1 has two possible values as Bernoulli, one as categorical.
#[test]
fn bernoulli_knows_both_sides() {
    let statistics = learn(&["x"], Kind::Category, &["1 a", "1 a", "1 b"]);
    let one = |family: Option<Family>| {
        let families = family.map(|family| ("x".to_owned(), family)).into_iter().collect();
        let summary = Summary::new(&statistics, &Settings { families, ..Settings::default() }).unwrap();
        summary.features[0].values.last().unwrap().fraction.clone().unwrap()
    };
    assert_eq!(one(None), ["3/4", "2/3"]);
    assert_eq!(one(Some(Family::Bernoulli)), ["3/4", "2/3"]);
    assert_eq!(one(Some(Family::Categorical)), ["3/3", "2/2"]);
}

#[test]
fn a_model_of_another_table_is_refused() {
    let (tennis, coins) = (tennis(Kind::Category), coins());
    let model = tennis.estimate(&Settings::default()).unwrap();
    assert!(Summary::of(&tennis, &model, 0).is_ok() && Fractions::new(&tennis, &model).is_ok());
    assert!(Summary::of(&coins, &model, 0).is_err() && Fractions::new(&coins, &model).is_err());
}

/// The fractions of all features, each of which has some.
fn known(explanation: &FractionExplanation) -> Vec<ByClass<String>> {
    explanation.likelihood.iter().map(|of_feature| of_feature.clone().unwrap()).collect()
}

/// Nagoya University, Mathematics for machine learning 2022, lecture 7: five mails as sentences. The table of the words, and the
/// posterior of "Buy book today".
#[test]
fn five_mails_word_by_word() {
    let schema = Schema::new("class", vec![Column::new("text", Kind::Text)]).unwrap();
    let mut mails = Batch::new(&schema);
    for (class, mail) in [
        ("ham", "do math today"),
        ("spam", "buy"),
        ("ham", "buy book"),
        ("spam", "today do math drugs"),
        ("spam", "buy drugs book today"),
    ] {
        let words: Vec<&str> = mail.split(' ').collect();
        mails.push(Some(class), 1.0, &[Value::Text(&words)]).unwrap();
    }
    let mut statistics = Statistics::empty(&schema);
    statistics.observe(&mails).unwrap();
    let mut settings = Settings { smoothing: Smoothing::None, ..Settings::default() };
    settings.text.smoothing = Smoothing::None;
    settings.text.model = Some(TextFamily::Bernoulli);
    let model = statistics.estimate(&settings).unwrap();
    let summary = Summary::new(&statistics, &settings).unwrap();
    let table = &summary.features[0].text.as_ref().unwrap().table;
    let fractions: Vec<(&str, &str, &str)> = (table.iter())
        .map(|word| {
            let fraction = word.fraction.as_ref().unwrap();
            (&word.token[..], &fraction[0][..], &fraction[1][..])
        })
        .collect();
    let expected = [
        ("book", "1/2", "1/3"),
        ("buy", "1/2", "2/3"),
        ("do", "1/2", "1/3"),
        ("drugs", "0/2", "2/3"),
        ("math", "1/2", "1/3"),
        ("today", "1/2", "2/3"),
    ];
    assert_eq!(fractions, expected);

    let mut new = Batch::new(&schema);
    new.push(None, 1.0, &[Value::Text(&["buy", "book", "today"])]).unwrap();
    let explanation = Fractions::new(&statistics, &model).unwrap().explain(&new, 0).unwrap();
    assert_eq!(*explanation.likelihood[0].as_ref().unwrap(), ["1/32", "16/729"]);
    assert_eq!(explanation.posterior.unwrap(), ["243/499", "256/499"]);
    // The factors of the words that are there and of those that are not.
    let factors: Vec<(&str, bool, &str)> = (explanation.tokens[0].iter())
        .map(|word| (&word.token[..], word.present, &word.fraction.as_ref().unwrap()[1][..]))
        .collect();
    let expected = [
        ("buy", true, "2/3"),
        ("book", true, "1/3"),
        ("today", true, "2/3"),
        ("do", false, "2/3"),
        ("drugs", false, "1/3"),
        ("math", false, "2/3"),
    ];
    assert_eq!(factors, expected);
    let posterior = model.score(&new).unwrap().normalize();
    assert!((posterior.row(0)[1] - 256.0 / 499.0).abs() < 1e-15);

    // The same decision as a weighted sum, with Laplace's smoothing.
    settings.text.smoothing = Smoothing::Lidstone(1.0);
    let model = statistics.estimate(&settings).unwrap();
    let form = model.linear_form().unwrap();
    let weight =
        |word: &str| form.weights.iter().find(|w| w.present.as_deref() == Some(word)).unwrap().weight;
    let sum = form.bias + weight("buy") + weight("book") + weight("today");
    let posterior = model.score(&new).unwrap().normalize();
    assert!((sum - (posterior.row(0)[1] / posterior.row(0)[0]).ln()).abs() < 1e-12);
}
