//! More classes than there is memory for a score of each in every row of a usual batch.

use super::*;

const CLASSES: usize = 20_000;
const ROWS: usize = 4_000;

/// Every row with a value of its own and one of many classes.
fn table(rows: usize) -> String {
    let rows: String = (0..rows).map(|i| format!("v{},{},c{}\n", i % 7, i % 13, i * 7 % CLASSES)).collect();
    format!("a,b,y\n{rows}")
}

#[test]
fn scores_take_no_more_memory_than_a_few_rows_do() {
    let folder = Folder::new();
    let all: String = (0..CLASSES).map(|i| format!("v{},{},c{i}\n", i % 7, i % 13)).collect();
    folder
        .write("all.csv", format!("a,b,y\n{all}"))
        .write("t.csv", table(ROWS))
        .write("few.csv", table(50))
        .write("some.csv", table(1_000));
    let columns = "--target y --as a=category,b=category --threads 2";
    folder.stdout(&format!("train all.csv {columns} -o m.priory"));
    let predicted = folder.stdout("predict m.priory t.csv --threads 2");
    assert_eq!(predicted.lines().count(), 1 + ROWS);
    let few = folder.stdout("predict m.priory few.csv --threads 1");
    assert!(predicted.starts_with(&few), "rows are predicted alike, however many come with them");
    folder.stdout("predict m.priory some.csv --probabilities -o /dev/null --threads 2");
    let evaluated = folder.stdout(&format!("evaluate all.csv {columns} --test t.csv --format json"));
    assert!(evaluated.contains("\"rows\": 4000"), "{evaluated}");
    folder.stdout(&format!("evaluate t.csv t.csv {columns} --folds 2 --format json"));
}
