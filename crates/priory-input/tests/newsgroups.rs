//! Equal to scikit-learn on 20 Newsgroups, from the archive to the joint log-probabilities of 200 documents.
//!
//! The expected values were written by scripts/newsgroups-fixture.py; its first line names the version.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]
#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

#[path = "../../../testdata/datasets.rs"]
mod datasets;

use std::path::{Path, PathBuf};

use priory::settings::{Prior, Smoothing, TextFamily, TextModel};
use priory::text::{TextSettings, TokenSettings, TokenStyle};
use priory::{Column, Schema, Settings, Statistics};
use priory_input::{Purpose, ReadOptions, Table};

const CLASSES: [usize; 4] = [0, 6, 13, 19];

fn archive(part: &str) -> Option<PathBuf> {
    datasets::dataset(&format!("newsgroups20/20news-bydate-{part}.tar.gz"))
}

fn table(path: &Path) -> Table {
    Table::open(&path.to_string_lossy(), &ReadOptions::default()).unwrap()
}

#[test]
fn joint_log_probabilities_are_those_of_scikit_learn() {
    let (Some(train), Some(test)) = (archive("train"), archive("test")) else { return };
    let tokens = TokenSettings { style: TokenStyle::Sklearn, ..TokenSettings::default() };
    let schema = Schema::new("class", vec![Column::text("text", TextSettings::new(tokens))]).unwrap();
    let mut statistics = Statistics::empty(&schema);
    let mut batches = table(&train).batches(&schema, Purpose::Learning).unwrap();
    let mut batch = batches.reader().empty_batch();
    while batches.read(&mut batch).unwrap() {
        statistics.observe(&batch).unwrap();
    }
    assert_eq!(statistics.rows(), 11_314);

    let models = [
        ("MultinomialNB", TextFamily::Multinomial),
        ("BernoulliNB", TextFamily::Bernoulli),
        ("ComplementNB", TextFamily::Complement),
        ("ComplementNB-normalized", TextFamily::ComplementNormalized),
    ];
    let models = models.map(|(name, family)| {
        let text = TextModel { model: Some(family), smoothing: Smoothing::LAPLACE, ..TextModel::default() };
        // scikit-learn's complement has no prior.
        let complement = name.starts_with("Complement");
        let prior = if complement { Prior::Uniform } else { Prior::Empirical };
        let offset = if complement { 20.0f64.ln() } else { 0.0 };
        (name, statistics.estimate(&Settings { text, prior, ..Settings::default() }).unwrap(), offset)
    });

    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sklearn/newsgroups.csv");
    let mut lines = csv::Reader::from_path(fixture).unwrap();
    let expected: Vec<csv::StringRecord> = lines.records().map(Result::unwrap).collect();
    assert_eq!(expected.len(), 4 * 200);
    let mut batches = table(&test).batches(&schema, Purpose::Scoring).unwrap();
    let mut checked = 0;
    while batches.read(&mut batch).unwrap() {
        let scores =
            models.each_ref().map(|(name, model, offset)| (name, model.score(&batch).unwrap(), offset));
        for row in 0..batch.rows {
            let document = batch.row_number(row) as usize - 1;
            if !document.is_multiple_of(37) || document >= 7400 {
                continue;
            }
            for (name, scores, offset) in &scores {
                let line =
                    expected.iter().find(|line| line[0] == ***name && line[1] == (document / 37).to_string());
                for (i, class) in CLASSES.into_iter().enumerate() {
                    let expected: f64 = line.unwrap()[2 + i].parse().unwrap();
                    let found = scores.row(row)[class] + **offset;
                    let error = (found - expected).abs() / expected.abs().max(1.0);
                    assert!(error < 1e-12, "{name}, document {document}: {found} is not {expected}");
                    checked += 1;
                }
            }
        }
    }
    assert_eq!(checked, 4 * 200 * 4);
}
