//! Batches by rows and by columns, and what is done with one that does not fit.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod tables;

use priory::evaluate::{Evaluation, FoldParts, FoldStatistics, Folds};
use priory::format::ModelFile;
use priory::report::Fractions;
use priory::{
    Batch, BatchColumn, CategoryColumn, Column, Error, Kind, Learnt, Schema, Settings, Statistics,
    TextColumn, Value,
};
use proptest::prelude::*;
use tables::{Row, batch, bytes, rows, schema};

/// Rows with and without each value, so that there is something to estimate, score and divide into folds.
fn some_rows() -> Vec<Row> {
    let value = |row: u8, column: u8| (row != column).then_some((row + column) % 5);
    (0..20).map(|row| (Some(row % 2), 1.0, (0..12).map(|column| value(row, column)).collect())).collect()
}

fn learn(batch: &Batch) -> Statistics {
    let mut statistics = Statistics::empty(&schema());
    statistics.observe(batch).unwrap();
    statistics
}

/// Takes a batch apart and builds it again, value by value.
fn rebuilt(batch: &Batch) -> Batch {
    let rows = 0..batch.rows;
    let strings = |column: &CategoryColumn| rows.clone().map(|row| column.value(row)).collect();
    let documents = |column: &TextColumn| {
        let mut documents = TextColumn::default();
        for row in rows.clone() {
            match column.document(row) {
                None => documents.push_missing(),
                Some(document) => {
                    for &(token, count) in document {
                        (0..count).for_each(|_| documents.add(column.tokens().name(token as usize)));
                    }
                    documents.end_document();
                }
            }
        }
        documents
    };
    let columns = batch.columns.iter().map(|column| match column {
        BatchColumn::Category(column) => BatchColumn::Category(strings(column)),
        BatchColumn::Number(numbers) => BatchColumn::Number(numbers.clone()),
        BatchColumn::Text(column) => BatchColumn::Text(documents(column)),
    });
    let weights = rows.clone().map(|row| batch.weight(row)).collect();
    Batch::from_columns(&schema(), strings(&batch.classes), Some(weights), columns.collect()).unwrap()
}

/// What can be wrong with a batch.
#[derive(Debug, Clone, Copy)]
enum Flaw {
    NoColumn,
    MoreColumns,
    OtherKind(usize),
    Shorter(usize),
    Longer(usize),
    FewerClasses,
    MoreClasses,
    FewerWeights,
    MoreWeights,
    FewerRows,
    MoreRows,
}

fn flaw() -> impl Strategy<Value = Flaw> {
    let plain = [
        Flaw::NoColumn,
        Flaw::MoreColumns,
        Flaw::FewerClasses,
        Flaw::MoreClasses,
        Flaw::FewerWeights,
        Flaw::MoreWeights,
        Flaw::FewerRows,
        Flaw::MoreRows,
    ];
    prop_oneof![
        prop::sample::select(plain.to_vec()),
        (0usize..12).prop_map(Flaw::OtherKind),
        (0usize..12).prop_map(Flaw::Shorter),
        (0usize..12).prop_map(Flaw::Longer),
    ]
}

/// The batch with this flaw, and what the error must say.
fn flawed(whole: &Batch, flaw: Flaw) -> (Batch, String) {
    let rows = whole.rows;
    let mut batch = whole.clone();
    let mut numbers: Vec<usize> = (0..rows).collect();
    let shorter = whole.select(&numbers[1..]);
    numbers.push(0);
    let longer = whole.select(&numbers);
    let length = |found: usize, what: &str| format!("rows of the batch: {rows}, but {what}: {found}");
    let said = match flaw {
        Flaw::NoColumn => {
            batch.columns.pop();
            "the batch has 11 columns, the schema 12".into()
        }
        Flaw::MoreColumns => {
            batch.columns.push(batch.columns[0].clone());
            "the batch has 13 columns, the schema 12".into()
        }
        Flaw::OtherKind(i) => {
            batch.columns[i] = match batch.columns[i] {
                BatchColumn::Number(_) => BatchColumn::Category(whole.classes.clone()),
                _ => BatchColumn::Number(vec![0.0; rows]),
            };
            format!("column `x{i}` of the batch holds ")
        }
        Flaw::Shorter(i) => {
            batch.columns[i] = shorter.columns[i].clone();
            length(rows - 1, &format!("values in column `x{i}`"))
        }
        Flaw::Longer(i) => {
            batch.columns[i] = longer.columns[i].clone();
            length(rows + 1, &format!("values in column `x{i}`"))
        }
        Flaw::FewerClasses => {
            batch.classes = shorter.classes;
            length(rows - 1, "classes")
        }
        Flaw::MoreClasses => {
            batch.classes = longer.classes;
            length(rows + 1, "classes")
        }
        Flaw::FewerWeights => {
            batch.weights = vec![1.0; rows - 1];
            length(rows - 1, "weights")
        }
        Flaw::MoreWeights => {
            batch.weights = vec![1.0; rows + 1];
            length(rows + 1, "weights")
        }
        Flaw::FewerRows => {
            batch.rows -= 1;
            format!("rows of the batch: {}, but classes: {rows}", rows - 1)
        }
        Flaw::MoreRows => {
            batch.rows += 1;
            format!("rows of the batch: {}, but classes: {rows}", rows + 1)
        }
    };
    (batch, said)
}

proptest! {
    #[test]
    fn rows_that_are_pushed_are_those_of_whole_columns(rows in rows(40)) {
        let pushed = batch(&rows);
        let of_columns = rebuilt(&pushed);
        prop_assert_eq!(bytes(&learn(&pushed)), bytes(&learn(&of_columns)));

        // Cleared memory is as good as new.
        let mut again = batch(&some_rows());
        again.clear();
        prop_assert_eq!(again.row_number(0), 21);
        let mut statistics = learn(&again);
        prop_assert_eq!(bytes(&statistics), bytes(&Statistics::empty(&schema())));
        statistics.observe(&of_columns).unwrap();
        prop_assert_eq!(bytes(&statistics), bytes(&learn(&pushed)));
    }

    #[test]
    fn a_batch_that_does_not_fit_is_refused_and_changes_nothing(more in rows(20), flaw in flaw(), ageing in any::<bool>()) {
        let mut all = some_rows();
        let whole = batch(&all);
        let mut statistics = Statistics::empty(&schema());
        if ageing {
            statistics.set_half_life(10).unwrap();
        }
        statistics.observe(&whole).unwrap();
        let before = bytes(&statistics);
        // Weights that a row of an ageing model or of an evaluation may not have are another matter.
        all.extend(more.into_iter().map(|(class, _, values)| (class, 1.0, values)));
        let good = batch(&all);
        let (bad, said) = flawed(&good, flaw);
        let check = |what: &str, result: Result<(), Error>| {
            let message = result.map_or_else(|error| error.to_string(), |()| "no error".into());
            prop_assert!(message.contains(&said), "{what}: {message}, not {said}");
            Ok(())
        };
        check("observe", statistics.observe(&bad))?;
        check("observe_rows", statistics.observe_rows(&bad, 0..5))?;
        let forgotten = if ageing { statistics.forget_learnt_at(&bad, 1) } else { statistics.forget(&bad) };
        check("forget", forgotten)?;
        prop_assert!(bytes(&statistics) == before);

        let settings = Settings::default();
        let model = statistics.estimate(&settings).unwrap();
        check("score", model.score(&bad).map(drop))?;
        check("explain", model.explain(&bad, 0).map(drop))?;
        let mut evaluation = Evaluation::new();
        statistics.leave_one_out(&settings, |rows| {
            check("leave-one-out score", rows.score(&bad).map(drop))?;
            check("leave-one-out terms", rows.terms(&bad).map(drop))?;
            prop_assert!(evaluation.observe_leave_one_out(rows, &bad).is_err());
            Ok(())
        }).unwrap()?;
        let file = Learnt::new(statistics.clone(), settings).to_bytes();
        if let Some(file) = ModelFile::open(file).unwrap() {
            check("model_for", file.model_for(&bad).map(drop))?;
        }

        // Those that know no schema see what is too long or too short.
        let same_lengths = matches!(flaw, Flaw::NoColumn | Flaw::MoreColumns | Flaw::OtherKind(_));
        let scores = model.score(&good).unwrap();
        if bad.rows == good.rows && !same_lengths {
            prop_assert!(evaluation.observe(model.classes(), &bad, &scores, "").is_err());
        }
        prop_assert_eq!(evaluation.report().rows, 0);
        Folds::new(2, 1).unwrap().assign(&bad);
        let assigned = Folds::new(2, 1).unwrap().assign(&good);
        prop_assert!(FoldStatistics::empty(&schema(), 2).observe(&bad, &assigned).is_err());
        prop_assert_eq!(FoldParts::new(&bad, &assigned).is_ok(), same_lengths);
        prop_assert!(FoldParts::new(&good, &assigned[1..]).is_err());
    }

    #[test]
    fn a_row_that_does_not_fit_is_refused_whole(rows in rows(10), at in 0usize..12, weight in 0.0..2.0f64, there in 0usize..3) {
        let mut batch = batch(&rows);
        let before = format!("{batch:?}");
        let mut values = vec![Value::Missing; 12];
        let candidates = [Value::Category("red"), Value::Number(1.5), Value::Text(&["to", "be"])];
        values[at] = candidates[there];
        let expected = match at {
            0..5 => "strings",
            5..11 => "numbers",
            _ => "documents",
        };
        let found = ["strings", "numbers", "documents"][there];
        match batch.push(Some("new"), weight, &values) {
            Ok(()) => {
                prop_assert_eq!((found, batch.rows), (expected, rows.len() + 1));
                batch.push(None, weight, &values[1..]).unwrap_err();
                learn(&batch);
            }
            Err(error) => {
                prop_assert_ne!(found, expected);
                let Error::RowKind { column, expected: holds, .. } = error else { panic!("{error}") };
                prop_assert_eq!((column, holds), (at + 1, expected));
                prop_assert_eq!(format!("{batch:?}"), before);
            }
        }
        let before = format!("{batch:?}");
        let error = batch.push(Some("new"), weight, &values[..at]).unwrap_err();
        prop_assert_eq!(error, Error::RowLength { found: at, expected: 12 });
        prop_assert_eq!(format!("{batch:?}"), before);
    }
}

#[test]
fn columns_that_do_not_fit_make_no_batch() {
    let schema = Schema::new("y", vec![Column::new("a", Kind::Category)]).unwrap();
    let strings = || -> CategoryColumn { [Some("u"), None].into_iter().collect() };
    let refused = |classes: CategoryColumn, weights: Option<Vec<f64>>, columns: Vec<BatchColumn>| {
        Batch::from_columns(&schema, classes, weights, columns).unwrap_err().to_string()
    };
    let column = || BatchColumn::Category(strings());
    assert_eq!(refused(strings(), None, vec![]), "the batch has 0 columns, the schema 1");
    assert_eq!(refused(strings(), Some(Vec::new()), vec![column()]), "rows of the batch: 2, but weights: 0");
    assert_eq!(
        refused([None].into_iter().collect(), None, vec![column()]),
        "rows of the batch: 1, but values in column `a`: 2"
    );
    assert_eq!(
        refused(strings(), None, vec![BatchColumn::Number(vec![1.0; 2])]),
        "column `a` of the batch holds numbers, which does not go with its kind, category"
    );
    let coded = CategoryColumn { codes: vec![1, 2], ..strings() };
    let said = "has the code 2, but its values end at 1";
    assert!(refused(strings(), None, vec![BatchColumn::Category(coded.clone())]).contains(said));
    assert!(refused(coded, None, vec![column()]).contains(said));
}

#[test]
fn fractions_refuse_a_batch_that_does_not_fit() {
    let schema = Schema::new("y", vec![Column::new("a", Kind::Category)]).unwrap();
    let good = Batch::from_rows(&[("p", [Some("u")]), ("q", [Some("v")])]);
    let mut statistics = Statistics::empty(&schema);
    statistics.observe(&good).unwrap();
    let model = statistics.estimate(&Settings::default()).unwrap();
    let fractions = Fractions::new(&statistics, &model).unwrap();
    assert!(fractions.explain(&good, 1).is_ok());
    let bad = Batch { columns: vec![BatchColumn::Number(vec![1.0, 2.0])], ..good };
    assert!(matches!(fractions.explain(&bad, 1), Err(Error::BatchKind { .. })));
}
