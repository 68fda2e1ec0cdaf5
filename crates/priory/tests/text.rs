//! Text: the lecture's numbers, the laws, and what happens to what was never met.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use priory::format::ModelFile;
use priory::settings::{Prior, Smoothing, TextFamily, TextModel};
use priory::text::{DocumentLength, TermFrequency, TextSettings};
use priory::vocabulary::Vocabulary;
use priory::{
    Batch, BatchColumn, Column, Kind, Learnt, Outcome, Schema, Settings, Statistics, TextColumn, Value,
};
use proptest::prelude::*;

/// Tokens are what stands between spaces: how documents are cut up is not the matter here.
fn batch(schema: &Schema, rows: &[(&str, Option<&str>)]) -> Batch {
    let mut batch = Batch::new(schema);
    fill(&mut batch, rows);
    batch
}

fn fill(batch: &mut Batch, rows: &[(&str, Option<&str>)]) {
    for (class, document) in rows {
        let class = (!class.is_empty()).then_some(*class);
        let tokens: Option<Vec<&str>> = document.map(|document| document.split_whitespace().collect());
        let text = tokens.as_deref().map_or(Value::Missing, Value::Text);
        let there = Value::Category(if document.is_some() { "there" } else { "gone" });
        let columns = batch.columns.len();
        batch.push(class, 1.0, &[text, there][..columns]).unwrap();
    }
}

fn schema() -> Schema {
    Schema::new("class", vec![Column::new("text", Kind::Text)]).unwrap()
}

fn learn(rows: &[(&str, Option<&str>)]) -> Statistics {
    let mut statistics = Statistics::empty(&schema());
    statistics.observe(&batch(&schema(), rows)).unwrap();
    statistics
}

fn settings(model: TextFamily, smoothing: Smoothing) -> Settings {
    let text = TextModel { model: Some(model), smoothing, ..TextModel::default() };
    Settings { text, ..Settings::default() }
}

/// log P(class, document) for every class.
fn log_joint(statistics: &Statistics, settings: &Settings, document: &str) -> Vec<f64> {
    let model = statistics.estimate(settings).unwrap();
    model.score(&batch(&schema(), &[("", Some(document))])).unwrap().row(0).to_vec()
}

fn close(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= 1e-12 * b.abs().max(1.0)
}

#[track_caller]
fn check(found: &[f64], expected: &[f64]) {
    assert!(found.iter().zip(expected).all(|(&a, &b)| close(a, b)), "{found:?} is not {expected:?}");
}

/// "Email spam filter": five mails, six words.
const MAILS: [(&str, Option<&str>); 5] = [
    ("ham", Some("do math today")),
    ("spam", Some("buy")),
    ("ham", Some("buy book")),
    ("spam", Some("do drugs math today")),
    ("spam", Some("buy book drugs today")),
];

#[test]
fn five_mails_as_sentences() {
    let mails = learn(&MAILS);
    let bernoulli = settings(TextFamily::Bernoulli, Smoothing::None);
    let joint = log_joint(&mails, &bernoulli, "buy book today");
    // P(ham, x) = 2/5 (1/2)^5, for no ham has drugs; P(spam, x) = 3/5 · 2/3 1/3 2/3 (1 − 1/3) (1 − 2/3) (1 − 1/3).
    check(&joint, &[(0.4 / 32.0f64).ln(), (0.6 * 16.0 / 729.0f64).ln()]);
    let model = mails.estimate(&bernoulli).unwrap();
    let posterior = model.score(&batch(&schema(), &[("", Some("buy book today"))])).unwrap().normalize();
    assert!((posterior.row(0)[1] - 256.0 / 499.0).abs() < 1e-15);
}

#[test]
fn the_smoothed_formula_of_the_lecture() {
    // P(v | Spam) = (Count(v, Spam) + α) / (Count(Spam) + α |V|), here with α = 0.5 and |V| = 6.
    let (alpha, words) = (0.5, 6.0);
    let pair = Smoothing::Pair { present: alpha, absent: alpha * (words - 1.0) };
    let joint = log_joint(&learn(&MAILS), &settings(TextFamily::Bernoulli, pair), "buy book today");
    let p = |count: f64, class: f64| (count + alpha) / (class + alpha * words);
    let present = |class: f64, counts: [f64; 3]| counts.iter().map(|&n| p(n, class).ln()).sum::<f64>();
    let absent = |class: f64, counts: [f64; 3]| counts.iter().map(|&n| (1.0 - p(n, class)).ln()).sum::<f64>();
    let ham = 0.4f64.ln() + present(2.0, [1.0, 1.0, 1.0]) + absent(2.0, [1.0, 0.0, 1.0]);
    let spam = 0.6f64.ln() + present(3.0, [2.0, 1.0, 2.0]) + absent(3.0, [1.0, 2.0, 1.0]);
    check(&joint, &[ham, spam]);
}

/// Manning, Raghavan and Schütze 2008, table 13.1: is document 5 about China?
const CHINA: [(&str, Option<&str>); 4] = [
    ("China", Some("Chinese Beijing Chinese")),
    ("China", Some("Chinese Chinese Shanghai")),
    ("China", Some("Chinese Macao")),
    ("not China", Some("Tokyo Japan Chinese")),
];

#[test]
fn chinese_tokyo_japan() {
    let china = learn(&CHINA);
    let document = "Chinese Chinese Chinese Tokyo Japan";
    let multinomial = log_joint(&china, &settings(TextFamily::Multinomial, Smoothing::LAPLACE), document);
    let expected = [0.75 * (3.0f64 / 7.0).powi(3) / 14.0 / 14.0, 0.25 * (2.0f64 / 9.0).powi(5)];
    check(&multinomial, &expected.map(f64::ln));
    assert_eq!(format!("{:.4} {:.4}", multinomial[0].exp(), multinomial[1].exp()), "0.0003 0.0001");
    let bernoulli = log_joint(&china, &settings(TextFamily::Bernoulli, Smoothing::LAPLACE), document);
    let expected = [0.75 * 0.8 * 0.2 * 0.2 * 0.6f64.powi(3), 0.25 * (2.0f64 / 3.0).powi(6)];
    check(&bernoulli, &expected.map(f64::ln));
    assert_eq!(format!("{:.3} {:.3}", bernoulli[0].exp(), bernoulli[1].exp()), "0.005 0.022");
    // Each word counts once: (3 + 1)/(6 + 6) for Chinese, (0 + 1)/(6 + 6) for the others; 2/9 for all of them.
    let presence = log_joint(&china, &settings(TextFamily::Presence, Smoothing::LAPLACE), document);
    check(&presence, &[(0.75 / 3.0 / 144.0f64).ln(), (0.25 * (2.0f64 / 9.0).powi(3)).ln()]);
    // The complement of China is `not China` and the other way round.
    let complement = log_joint(&china, &settings(TextFamily::Complement, Smoothing::LAPLACE), document);
    let weights = [-5.0 * (2.0f64 / 9.0).ln(), -3.0 * (3.0f64 / 7.0).ln() + 2.0 * 14.0f64.ln()];
    check(&complement, &[0.75f64.ln() + weights[0], 0.25f64.ln() + weights[1]]);
}

#[test]
fn background_mixes_with_all_documents() {
    let joint = log_joint(
        &learn(&CHINA),
        &settings(TextFamily::Multinomial, Smoothing::Background(0.5)),
        "Tokyo Chinese",
    );
    let p = |own: f64, of: f64, all: f64| 0.5 * own / of + 0.5 * all / 11.0;
    let china = 0.75 * p(0.0, 8.0, 1.0) * p(5.0, 8.0, 6.0);
    let not = 0.25 * p(1.0, 3.0, 1.0) * p(1.0, 3.0, 6.0);
    check(&joint, &[china.ln(), not.ln()]);
}

#[test]
fn words_never_met_move_no_class() {
    for family in
        [TextFamily::Multinomial, TextFamily::Bernoulli, TextFamily::Presence, TextFamily::ComplementPresence]
    {
        let settings = settings(family, Smoothing::Auto);
        let model = learn(&CHINA).estimate(&settings).unwrap();
        let asked = batch(
            &schema(),
            &[
                ("", Some("Chinese Tokyo")),
                ("", Some("Chinese Paris Tokyo")),
                ("", Some("Paris Rome")),
                ("", None),
            ],
        );
        let scores = model.score(&asked).unwrap();
        assert_eq!(scores.row(0), scores.row(1));
        assert_eq!(scores.unseen_tokens(), 3);
        let posterior = scores.normalize();
        let outcomes: Vec<Outcome> = (0..4).map(|row| posterior.outcome(row)).collect();
        use Outcome::{Evidence, NoEvidence};
        assert_eq!(outcomes, [Evidence, Evidence, NoEvidence, NoEvidence]);
        assert!((posterior.row(2)[0] - 0.75).abs() < 1e-15 && (posterior.row(3)[0] - 0.75).abs() < 1e-15);
        assert_eq!(model.explain(&asked, 2).unwrap().outcome, NoEvidence);
    }
}

#[test]
fn maximum_likelihood_means_it() {
    let china = learn(&CHINA);
    for (family, document, expected) in [
        (TextFamily::Multinomial, "Tokyo Chinese", [f64::NEG_INFINITY, (0.25 / 9.0f64).ln()]),
        (TextFamily::Presence, "Macao", [(0.75 / 6.0f64).ln(), f64::NEG_INFINITY]),
        // Every document about China has `Chinese`, and so has the other one: without it nothing is possible.
        (TextFamily::Bernoulli, "Macao", [f64::NEG_INFINITY; 2]),
        (TextFamily::Bernoulli, "Chinese Macao", [(0.75 * 4.0 / 27.0f64).ln(), f64::NEG_INFINITY]),
    ] {
        check(&log_joint(&china, &settings(family, Smoothing::None), document), &expected);
    }
    let complement = settings(TextFamily::Complement, Smoothing::None);
    let refusal = china.estimate(&complement).unwrap_err().to_string();
    assert!(refusal.contains("needs pseudocounts"), "{refusal}");
}

#[test]
fn exponents_raise_and_zero_silences() {
    let china = learn(&CHINA);
    let mut settings = settings(TextFamily::Multinomial, Smoothing::LAPLACE);
    let plain = log_joint(&china, &settings, "Chinese Tokyo");
    settings.exponents.insert("text".into(), 0.5);
    let halved = log_joint(&china, &settings, "Chinese Tokyo");
    let prior = [0.75f64.ln(), 0.25f64.ln()];
    check(&halved, &[prior[0] + 0.5 * (plain[0] - prior[0]), prior[1] + 0.5 * (plain[1] - prior[1])]);
    let model = china.estimate(&settings).unwrap();
    let explained = model.explain(&batch(&schema(), &[("", Some("Chinese Tokyo"))]), 0).unwrap();
    check(&explained.log_joint, &halved);
    assert_eq!(explained.contributions[0].exponent, 0.5);
    settings.exponents.insert("text".into(), 0.0);
    assert_eq!(log_joint(&china, &settings, "Chinese Tokyo"), prior);
    settings.exponents.insert("other".into(), 2.0);
    assert!(china.estimate(&settings).is_err());
}

#[test]
fn limits_keep_totals_right() {
    let mut settings = settings(TextFamily::Multinomial, Smoothing::LAPLACE);
    settings.text.min_documents = 2.0;
    // Only `Chinese` is in two documents or more: everything else is as if it had never been there.
    let joint = log_joint(&learn(&CHINA), &settings, "Chinese Tokyo");
    check(&joint, &[0.75f64.ln(), 0.25f64.ln()]);
    settings.text = TextModel { min_documents: 0.0, most_tokens: Some(2), ..settings.text };
    // `Japan` and `Tokyo` tell most; the class China has neither.
    let joint = log_joint(&learn(&CHINA), &settings, "Chinese Tokyo Macao");
    check(&joint, &[(0.75 / 2.0f64).ln(), (0.25 / 2.0f64).ln()]);
}

#[test]
fn transforms_change_what_is_counted() {
    let text = TextSettings {
        frequency: TermFrequency::Logarithm,
        length: DocumentLength::Normalized,
        ..TextSettings::default()
    };
    let schema = Schema::new("class", vec![Column::text("text", text)]).unwrap();
    let mut statistics = Statistics::empty(&schema);
    statistics.observe(&batch(&schema, &[("a", Some("x x x y")), ("b", Some("y"))])).unwrap();
    let settings = settings(TextFamily::Multinomial, Smoothing::LAPLACE);
    let model = statistics.estimate(&settings).unwrap();
    let found = model.score(&batch(&schema, &[("", Some("x"))])).unwrap().row(0).to_vec();
    let (x, y) = (4.0f64.ln(), 2.0f64.ln());
    let norm = x.hypot(y);
    let expected = [(0.5 * (x / norm + 1.0) / ((x + y) / norm + 2.0)).ln(), (0.5f64 / 3.0).ln()];
    assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-7), "{found:?} is not {expected:?}");
    // Rounded to a grain: two documents and their removal leave no trace.
    let before = Learnt::new(statistics.clone(), settings.clone()).to_bytes();
    let more = batch(&schema, &[("a", Some("y z z")), ("b", Some("x y z z z"))]);
    statistics.observe(&more).unwrap();
    statistics.forget(&more).unwrap();
    assert_eq!(Learnt::new(statistics.clone(), settings.clone()).to_bytes(), before);
}

#[test]
fn what_was_never_learnt_is_named() {
    let mut china = learn(&CHINA);
    let strange = batch(&schema(), &[CHINA[0], ("not China", Some("Tokyo Tokyo"))]);
    let error = china.forget(&strange).unwrap_err().to_string();
    assert_eq!(error, "row 2 was never learnt: text=Tokyo with class=not China would count less than zero");
}

#[test]
fn the_pseudocount_can_be_left_to_the_data() {
    // The same few words in every document: hardly anything is to be expected that was not met.
    let narrow: Vec<(&str, Option<&str>)> = (0..40).map(|i| (["a", "b"][i % 2], Some("x y z x"))).collect();
    // Every document has words of its own, and one that few others have.
    let words: Vec<String> = (0..40).map(|i| format!("w{i} w{} u{i} v{i}", i / 2)).collect();
    let wide: Vec<(&str, Option<&str>)> =
        words.iter().enumerate().map(|(i, words)| (["a", "b"][i % 2], Some(words.as_str()))).collect();
    let spread = |rows: &[(&str, Option<&str>)], document: &str| {
        let joint = log_joint(&learn(rows), &settings(TextFamily::Multinomial, Smoothing::Auto), document);
        (joint[0] - joint[1]).abs()
    };
    assert!(spread(&narrow, "x") < 1e-12);
    assert!(spread(&wide, "u0") < 5.0); // a single occurrence is not taken at its word
}

const WORDS: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];

/// Class, weight, and how often each word occurs; `None` is missing.
type Row = (usize, f64, Option<Vec<u8>>);

fn rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
    let few = prop::sample::select(vec![2.0, 0.1, 0.7, 0.3, 1e-17]);
    let weight = prop_oneof![6 => Just(1.0), 4 => few, 1 => 0.1..1e4];
    let document = prop::collection::vec(prop_oneof![3 => Just(0u8), 2 => 1u8..4], WORDS.len());
    prop::collection::vec((0usize..3, weight, prop::option::weighted(0.9, document)), 1..most)
}

fn table(schema: &Schema, rows: &[Row], weighted: bool) -> Batch {
    let documents: Vec<(usize, Option<String>)> = rows
        .iter()
        .map(|(class, _, counts)| {
            let words = counts.as_ref().map(|counts| {
                let words =
                    counts.iter().zip(WORDS).map(|(&n, word)| format!("{word} ").repeat(usize::from(n)));
                words.collect::<String>()
            });
            (*class, words)
        })
        .collect();
    let rows_of: Vec<(&str, Option<&str>)> =
        documents.iter().map(|(class, words)| (["x", "y", "z"][*class], words.as_deref())).collect();
    let mut batch = batch(schema, &rows_of);
    if weighted {
        batch.weights = rows.iter().map(|row| row.1).collect();
    }
    batch
}

fn models() -> impl Strategy<Value = Settings> {
    let family = prop::sample::select(vec![
        TextFamily::Multinomial,
        TextFamily::Bernoulli,
        TextFamily::Presence,
        TextFamily::Complement,
        TextFamily::ComplementPresence,
        TextFamily::ComplementNormalized,
    ]);
    let smoothing = prop::sample::select(vec![
        Smoothing::None,
        Smoothing::LAPLACE,
        Smoothing::Lidstone(0.05),
        Smoothing::Background(0.6),
        Smoothing::Background(0.0),
        Smoothing::Background(1.0),
        Smoothing::Pair { present: 0.5, absent: 2.0 },
    ]);
    // Some of the least numbers of documents are sums of weights, which rounding could miss.
    let min = prop_oneof![3 => Just(0.0), 1 => prop::sample::select(vec![2.0, 0.8, 1.8, 2.6])];
    (family, smoothing, min).prop_map(|(family, smoothing, min)| {
        let mut settings = settings(family, smoothing);
        settings.text.min_documents = min;
        settings
    })
}

#[test]
fn counts_can_be_handed_over() {
    let tokens: Vocabulary = WORDS.into_iter().collect();
    let (ends, ids, counts) = ([3, 3, 5], [0, 2, 6, 1, 2], [1, 2, 1, 0, 4]);
    let documents = TextColumn::from_counts(tokens.clone(), &ends, &ids, &counts).unwrap();
    let classes = ["x", "x", "y"].into_iter().map(Some).collect();
    let handed = Batch::from_columns(&schema(), classes, None, vec![BatchColumn::Text(documents)]).unwrap();
    let mut statistics = Statistics::empty(&schema());
    statistics.observe(&handed).unwrap();
    let expected = learn(&[("x", Some("a c c g")), ("x", Some("")), ("y", Some("c c c c"))]);
    let file = |statistics: &Statistics| Learnt::new(statistics.clone(), Settings::default()).to_bytes();
    assert_eq!(file(&statistics), file(&expected));

    let refused = |ends: &[usize], ids: &[u32], counts: &[u32]| {
        TextColumn::from_counts(tokens.clone(), ends, ids, counts).unwrap_err().to_string()
    };
    assert!(refused(&[2], &[2, 2], &[1, 1]).starts_with("document 1 of the counts: its tokens are not"));
    assert!(refused(&[1, 2], &[0, 7], &[1, 1]).contains("document 2 of the counts: it has a token without"));
    assert!(refused(&[2, 1, 2], &[0, 1], &[1, 1]).contains("it ends before it begins"));
    assert!(refused(&[3, 2], &[0, 1], &[1, 1]).contains("document 1"));
    assert!(refused(&[1], &[0, 1], &[1, 1]).contains("do not end where"));
    assert!(refused(&[2], &[0, 1], &[1]).contains("do not end where"));
    assert!(TextColumn::from_counts(tokens.clone(), &[], &[], &[]).is_ok());
}

/// 0.7 + 1 + 0.1 rounds to 1.8, and 0.7 + 0.1 to a little less than 0.8, to which 1 may not simply be added again.
/// Rows that count one each are counted in another way than rows of which somebody says that they weigh one.
#[test]
fn however_often_a_token_occurs_it_is_counted() {
    let tokens: Vocabulary = WORDS.into_iter().collect();
    let counts = [1, 65_535, 65_536, u32::MAX, 70_000, u32::MAX];
    let text = TextColumn::from_counts(tokens, &[4, 6], &[0, 1, 2, 3, 1, 3], &counts).unwrap();
    let mut batch = batch(&schema(), &[("x", None), ("x", None)]);
    batch.columns[0] = BatchColumn::Text(text);
    let learn = |batch: &Batch| {
        let mut statistics = Statistics::empty(&schema());
        statistics.observe(batch).unwrap();
        Learnt::new(statistics.clone(), Settings::default()).to_bytes()
    };
    let plain = learn(&batch);
    batch.weights = vec![1.0; 2];
    assert_eq!(plain, learn(&batch));
}

#[test]
fn weights_taken_away_and_put_back_are_those_that_were_there() {
    let rows: Vec<Row> = [(0.7, 1), (1.0, 1), (0.1, 1), (1.0, 0)]
        .map(|(weight, a)| (0, weight, Some(vec![a, 1, 0, 0, 0, 0, 0])))
        .to_vec();
    let batch = table(&schema(), &rows, true);
    let mut statistics = Statistics::empty(&schema());
    statistics.observe(&batch).unwrap();
    let settings = settings(TextFamily::Bernoulli, Smoothing::None);
    let scores = statistics.leave_one_out(&settings, |left_out| left_out.score(&batch)).flatten().unwrap();
    // Without the second document, `a` is in 0.8 of 1.8, and `b` in all of them.
    check(scores.row(1), &[(0.8 / 1.8f64).ln()]);
}

/// 0.1 + 0.7 rounds to a little less than 0.8; yet all three weights together round to 1.8.
#[test]
fn enough_documents_are_counted_exactly() {
    let rows: Vec<Row> = [(0, 1.0, 1), (1, 0.1, 1), (1, 0.7, 1), (1, 2.0, 0)]
        .map(|(class, weight, a)| (class, weight, Some(vec![a, 1, 0, 0, 0, 0, 0])))
        .to_vec();
    let mut statistics = Statistics::empty(&schema());
    statistics.observe(&table(&schema(), &rows, true)).unwrap();
    let mut settings = settings(TextFamily::Presence, Smoothing::None);
    for (min, kept) in [(1.8, true), (1.9, false)] {
        settings.text.min_documents = min;
        // Class y has `a` in 0.8 of its 3.6 tokens, or else nothing but `b`.
        let expected = if kept { (2.8 / 3.8 * 2.8 / 3.6 * 0.8 / 3.6f64).ln() } else { (2.8 / 3.8f64).ln() };
        check(&log_joint(&statistics, &settings, "a b")[1..], &[expected]);
    }
}

/// Without the second document only `b` is in enough others, and of one token every complement has nothing else: its
/// weight is log 1 = 0, which no rounding may leave something of to be divided by.
#[test]
fn a_token_that_is_all_there_is_says_nothing() {
    let mut settings = settings(TextFamily::ComplementNormalized, Smoothing::LAPLACE);
    settings.text.min_documents = 2.0;
    let batch = batch(&schema(), &[("x", Some("b b")), ("x", Some("a b b b")), ("y", Some("a b"))]);
    let mut statistics = Statistics::empty(&schema());
    statistics.observe(&batch).unwrap();
    let scores = statistics.leave_one_out(&settings, |left_out| left_out.score(&batch)).flatten().unwrap();
    check(scores.row(1), &[0.5f64.ln(); 2]);
}

/// Where only one class has any tokens and nothing is added for what is absent, its complement gives each of them
/// (0 + α) / (0 + α) = 1.
#[test]
fn a_complement_without_tokens_says_nothing() {
    let smoothing = Smoothing::Pair { present: 0.5, absent: 0.0 };
    let settings = settings(TextFamily::ComplementNormalized, smoothing);
    let statistics = learn(&[("x", Some("a b b c c c d d d d d e e e e e e e")), ("y", None)]);
    check(&log_joint(&statistics, &settings, "a b b c d e")[..1], &[0.5f64.ln()]);
}

/// All that is left adds up to 0.3 + 2.3 or, a little less, to 0.3 + 0.3 + 2, whichever class has lost 0.3.
#[test]
fn what_is_left_depends_on_the_class_that_has_lost_it() {
    let rows: Vec<Row> = [(2, 0.3, 1), (2, 2.0, 1), (0, 0.3, 1), (1, 0.3, 0)]
        .map(|(class, weight, a)| (class, weight, Some(vec![a, 0, 0, 0, 0, 0, 0])))
        .to_vec();
    let batch = table(&schema(), &rows, true);
    let mut statistics = Statistics::empty(&schema());
    statistics.observe(&batch).unwrap();
    let settings = settings(TextFamily::Bernoulli, Smoothing::Background(0.0));
    let scores = statistics.leave_one_out(&settings, |left_out| left_out.score(&batch)).flatten().unwrap();
    for row in 0..batch.rows {
        let mut rest = Statistics::empty(&schema());
        rest.observe_rows(&batch, (0..batch.rows).filter(|&other| other != row)).unwrap();
        let model = rest.estimate(&settings).unwrap();
        let expected = model.score(&batch).unwrap();
        for (class, name) in model.classes().iter().enumerate() {
            let of_all = ["x", "y", "z"].iter().position(|other| other == name).unwrap();
            check(&scores.row(row)[of_all..=of_all], &expected.row(row)[class..=class]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn leaving_a_document_out_is_training_without_it(
        rows in rows(12), settings in models(), weighted in any::<bool>(), mixed in any::<bool>(),
    ) {
        let mut columns = vec![Column::new("text", Kind::Text)];
        columns.extend(mixed.then(|| Column::new("there", Kind::Category)));
        let schema = Schema::new("class", columns).unwrap();
        let batch = table(&schema, &rows, weighted);
        let mut whole = Statistics::empty(&schema);
        whole.observe(&batch).unwrap();
        let Ok(scores) = whole.leave_one_out(&settings, |left_out| left_out.score(&batch)).flatten() else {
            return Ok(());
        };
        let posterior = scores.normalize();
        for row in 0..batch.rows {
            let mut rest = Statistics::empty(&schema);
            rest.observe_rows(&batch, (0..batch.rows).filter(|&other| other != row)).unwrap();
            let model = rest.estimate(&settings).unwrap();
            let expected = model.score(&batch).unwrap();
            prop_assert_eq!(posterior.outcome(row), expected.normalize().outcome(row));
            for (class, (name, _)) in whole.classes().into_iter().enumerate() {
                let found = scores.row(row)[class];
                match model.classes().iter().position(|other| other == name) {
                    None => prop_assert_eq!(found, f64::NEG_INFINITY),
                    Some(other) => {
                        let expected = expected.row(row)[other];
                        prop_assert!(
                            found == expected || (found - expected).abs() <= 1e-9 * expected.abs().max(1.0),
                            "row {} class {}: {} is not {}", row, name, found, expected
                        );
                    }
                }
            }
        }
    }

    /// Without pseudocounts, too, and where a class has a token in every document: a token is either certain or not,
    /// whoever asks.
    #[test]
    fn what_was_learnt_is_possible(mut rows in rows(12), settings in models(), weighted in any::<bool>()) {
        // One part in 10^17 of a class is lost in its share.
        rows.iter_mut().for_each(|row| row.1 = row.1.max(0.1));
        let batch = table(&schema(), &rows, weighted);
        let mut statistics = Statistics::empty(&schema());
        statistics.observe(&batch).unwrap();
        let Ok(model) = statistics.estimate(&settings) else { return Ok(()) };
        let scores = model.score(&batch).unwrap();
        for row in 0..batch.rows {
            let class = model.classes().iter().position(|name| Some(name.as_str()) == batch.classes.value(row));
            if let Some(class) = class {
                let score = scores.row(row)[class];
                prop_assert!(score.is_finite(), "row {} is impossible in its own class: {}", row, score);
            }
        }
    }

    #[test]
    fn explanations_add_up(rows in rows(12), asked in rows(4), settings in models()) {
        let batch = table(&schema(), &rows, true);
        let mut statistics = Statistics::empty(&schema());
        statistics.observe(&batch).unwrap();
        let Ok(model) = statistics.estimate(&settings) else { return Ok(()) };
        let asked = table(&schema(), &asked, false);
        let scores = model.score(&asked).unwrap();
        for row in 0..asked.rows {
            let explained = model.explain(&asked, row).unwrap();
            for (class, &score) in scores.row(row).iter().enumerate() {
                let listed = explained.log_joint[class];
                prop_assert!(listed == score || (listed - score).abs() < 1e-12 * score.abs().max(1.0));
                let tokens = explained.contributions[0].tokens.as_ref().unwrap();
                let met: Vec<f64> = tokens.tokens.iter().filter_map(|t| Some(t.log_likelihood.as_ref()?[class])).collect();
                if !met.is_empty() && score.is_finite() {
                    let sum = explained.log_prior[class] + tokens.absent[class] + met.iter().sum::<f64>();
                    prop_assert!((sum - score).abs() < 1e-9 * score.abs().max(1.0), "{} is not {}", sum, score);
                }
            }
        }
    }

    /// Parts that are in order, which are merged in order, make the same file as any others; and so does taking one away
    /// again.
    #[test]
    fn parts_in_order_are_merged_alike(
        first in rows(12), second in rows(12), weighted in any::<bool>(), settled in any::<[bool; 2]>(),
    ) {
        let part = |rows: &[Row], settled: bool| {
            let mut statistics = Statistics::empty(&schema());
            statistics.observe(&table(&schema(), rows, weighted)).unwrap();
            if settled {
                statistics.settle();
            }
            statistics
        };
        let whole = part(&[&first[..], &second[..]].concat(), false);
        let mut merged = part(&first, settled[0]);
        merged.merge(&part(&second, settled[1])).unwrap();
        let file = |statistics: &Statistics| Learnt::new(statistics.clone(), Settings::default()).to_bytes();
        prop_assert_eq!(file(&merged), file(&whole));
        // New documents find their tokens after a merge.
        merged.observe(&table(&schema(), &first, weighted)).unwrap();
        merged.forget(&table(&schema(), &second, weighted)).unwrap();
        let mut twice = part(&first, false);
        twice.merge(&part(&first, true)).unwrap();
        prop_assert_eq!(file(&merged), file(&twice));
    }

    /// What numbers its tokens as the model does, batch after batch, is scored to the same bits as what does not.
    #[test]
    fn batches_of_the_model_are_scored_like_others(
        rows in rows(12),
        asked in prop::collection::vec(prop::collection::vec("([a-j]|a word of over 16 bytes| ){0,12}", 0..5), 1..4),
        settings in models(),
    ) {
        let mut statistics = Statistics::empty(&schema());
        statistics.observe(&table(&schema(), &rows, false)).unwrap();
        let Ok(model) = statistics.estimate(&settings) else { return Ok(()) };
        let mut own = model.batch();
        for documents in &asked {
            let documents: Vec<_> = documents.iter().map(|text| ("", Some(text.as_str()))).collect();
            own.clear();
            fill(&mut own, &documents);
            let (found, expected) = (model.score(&own).unwrap(), model.score(&batch(&schema(), &documents)).unwrap());
            prop_assert_eq!(found.unseen_tokens(), expected.unseen_tokens());
            let (outcome, expected_outcome) = (found.normalize(), expected.normalize());
            for row in 0..documents.len() {
                prop_assert_eq!(outcome.outcome(row), expected_outcome.outcome(row));
                let bits = |row: &[f64]| row.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                prop_assert_eq!(bits(found.row(row)), bits(expected.row(row)));
            }
        }
    }

    /// A file of which only the words of the documents are read scores them to the same bits.
    #[test]
    fn a_few_words_of_a_file_are_enough(
        rows in rows(12), asked in rows(4), settings in models(), auto in any::<bool>(), weighted in any::<bool>(),
    ) {
        let mut settings = settings;
        if auto {
            settings.text.smoothing = Smoothing::Auto;
        }
        let mut statistics = Statistics::empty(&schema());
        statistics.observe(&table(&schema(), &rows, weighted)).unwrap();
        let Ok(model) = statistics.estimate(&settings) else { return Ok(()) };
        let file = Learnt::new(statistics.clone(), settings.clone()).to_bytes();
        let read = Learnt::read(&file).unwrap().statistics;
        prop_assert_eq!(Learnt::new(read.clone(), settings.clone()).to_bytes(), file.clone());
        let limited = settings.text.most_tokens.is_some() || settings.text.min_documents > 0.0;
        let Some(file) = ModelFile::open(file).unwrap() else {
            prop_assert!(limited || weighted);
            return Ok(());
        };
        let asked = table(&schema(), &asked, false);
        let scores = file.model_for(&asked).unwrap().score(&asked).unwrap();
        let expected = model.score(&asked).unwrap();
        prop_assert_eq!(scores.unseen_tokens(), expected.unseen_tokens());
        for row in 0..asked.rows {
            prop_assert_eq!(scores.row(row), expected.row(row));
        }
    }

    #[test]
    fn files_are_read_back(rows in rows(12), weighted in any::<bool>()) {
        let mut statistics = Statistics::empty(&schema());
        statistics.observe(&table(&schema(), &rows, weighted)).unwrap();
        let file = Learnt::new(statistics.clone(), Settings::default()).to_bytes();
        let read = Learnt::read(&file).unwrap().statistics;
        prop_assert_eq!(Learnt::new(read.clone(), Settings::default()).to_bytes(), file);
    }
}

#[test]
fn the_prior_of_complement_can_be_left_out() {
    let uniform =
        Settings { prior: Prior::Uniform, ..settings(TextFamily::ComplementNormalized, Smoothing::LAPLACE) };
    let joint = log_joint(&learn(&CHINA), &uniform, "Chinese");
    // scikit-learn 1.7: ComplementNB(norm=True).feature_log_prob_ of `Chinese` for these documents.
    let logged = [
        ["Beijing", "Chinese", "Japan", "Macao", "Shanghai", "Tokyo"].map(|word| {
            let count: f64 = if ["Japan", "Tokyo", "Chinese"].contains(&word) { 2.0 } else { 1.0 };
            (count / 9.0).ln()
        }),
        [2.0, 6.0, 1.0, 2.0, 2.0, 1.0].map(|count: f64| (count / 14.0).ln()),
    ];
    let expected = logged.map(|logged| logged[1] / logged.iter().sum::<f64>() - std::f64::consts::LN_2);
    check(&joint, &expected);
}
