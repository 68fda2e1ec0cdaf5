//! Values that scikit-learn computes for the same tables.
//!
//! scikit-learn 1.7.2, numpy 2.4.6. X holds the columns as whole numbers, which `OrdinalEncoder(dtype=int)` makes of
//! strings; every test names the lines that differ:
//!
//! ```python
//! model = CategoricalNB(alpha=ALPHA).fit(X, y, sample_weight=w)
//! print(model.predict_joint_log_proba(Z), model.predict_proba(Z))
//! ```
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use priory::settings::Smoothing;
use priory::{Batch, Column, Kind, Schema, Settings, Statistics};

/// The log-joints and posteriors of one row, for two classes.
type Reference<'a> = (&'a str, [f64; 2], [f64; 2]);

/// Learns rows of words, the class last, with their weights, and compares what it says about other rows.
fn check(columns: &[&str], rows: &[(&str, f64)], alpha: f64, expected: &[Reference<'_>]) {
    let columns = columns.iter().map(|&name| Column::new(name, Kind::Category)).collect();
    let mut statistics = Statistics::empty(&Schema::new("class", columns).unwrap());
    let mut training = batch(rows.iter().map(|(row, _)| *row));
    training.weights = rows.iter().map(|(_, weight)| *weight).collect();
    statistics.observe(&training).unwrap();

    let settings = Settings { smoothing: Smoothing::Lidstone(alpha), ..Settings::default() };
    let model = statistics.estimate(&settings).unwrap();
    let asked: Vec<String> = expected.iter().map(|(row, ..)| format!("{row} ?")).collect();
    let scores = model.score(&batch(asked.iter().map(String::as_str))).unwrap();
    let posterior = scores.normalize();
    for (i, (row, log_joint, probability)) in expected.iter().enumerate() {
        for class in 0..2 {
            let (ours, theirs) = (scores.row(i)[class], log_joint[class]);
            assert!((ours - theirs).abs() < 1e-13, "{row}: log-joint {ours}, not {theirs}");
            let (ours, theirs) = (posterior.row(i)[class], probability[class]);
            assert!((ours - theirs).abs() < 1e-14, "{row}: posterior {ours}, not {theirs}");
        }
    }
}

fn batch<'a>(rows: impl Iterator<Item = &'a str>) -> Batch {
    let rows = rows.map(|row| {
        let mut cells: Vec<Option<&str>> = row.split(' ').map(Some).collect();
        (cells.pop().flatten().unwrap(), cells)
    });
    Batch::from_rows(&rows.collect::<Vec<_>>())
}

/// The 2201 people on the Titanic, of whom everything is known that the table has, so their number is their weight.
const TITANIC: [(&str, f64); 24] = [
    ("crew adult female no", 3.0),
    ("crew adult female yes", 20.0),
    ("crew adult male no", 670.0),
    ("crew adult male yes", 192.0),
    ("first adult female no", 4.0),
    ("first adult female yes", 140.0),
    ("first adult male no", 118.0),
    ("first adult male yes", 57.0),
    ("first child female yes", 1.0),
    ("first child male yes", 5.0),
    ("second adult female no", 13.0),
    ("second adult female yes", 80.0),
    ("second adult male no", 154.0),
    ("second adult male yes", 14.0),
    ("second child female yes", 13.0),
    ("second child male yes", 11.0),
    ("third adult female no", 89.0),
    ("third adult female yes", 76.0),
    ("third adult male no", 387.0),
    ("third adult male yes", 75.0),
    ("third child female no", 17.0),
    ("third child female yes", 14.0),
    ("third child male no", 35.0),
    ("third child male yes", 13.0),
];

/// `CategoricalNB(alpha=1.0)` and `CategoricalNB(alpha=0.5)`, fitted to the 2201 rows themselves.
#[test]
fn categories_on_the_titanic() {
    let columns = ["status", "age", "sex"];
    check(
        &columns,
        &TITANIC,
        1.0,
        &[
            (
                "first adult female",
                [-5.387018461088755, -3.1949403887349925],
                [0.10046413990329756, 0.8995358600967026],
            ),
            (
                "third adult male",
                [-1.5534917634424037, -3.2611360556008826],
                [0.8465304884030767, 0.15346951159692337],
            ),
            (
                "second child female",
                [-8.37665063039316, -6.158129114556512],
                [0.09809953698311777, 0.9019004630168825],
            ),
        ],
    );
    check(
        &columns,
        &TITANIC,
        0.5,
        &[
            (
                "first adult female",
                [-5.392703571736179, -3.1940002142751505],
                [0.09986698849091656, 0.9001330115090832],
            ),
            (
                "crew adult male",
                [-1.3100255738897246, -3.086095002594151],
                [0.8552108411078928, 0.1447891588921072],
            ),
        ],
    );
}

/// `BernoulliNB(alpha=1.0)` and `BernoulliNB(alpha=0.25)` on the five mails of `examples/emails.csv`.
#[test]
fn presence_and_absence_in_five_mails() {
    let columns = ["book", "buy", "do", "drugs", "math", "today"];
    let mails = [
        ("0 0 1 0 1 1 ham", 1.0),
        ("0 1 0 0 0 0 spam", 1.0),
        ("1 1 0 0 0 0 ham", 1.0),
        ("0 0 1 1 1 1 spam", 1.0),
        ("1 1 0 1 0 1 spam", 1.0),
    ];
    check(
        &columns,
        &mails,
        1.0,
        &[
            (
                "1 1 0 0 0 1",
                [-4.669708707125662, -4.386709582578263],
                [0.4297186546024586, 0.5702813453975414],
            ),
            (
                "0 0 0 0 0 0",
                [-4.669708707125662, -4.792174690686428],
                [0.5305782878875346, 0.4694217121124655],
            ),
        ],
    );
    check(
        &columns,
        &mails,
        0.25,
        &[
            (
                "1 1 0 0 0 1",
                [-4.487387150331708, -4.3373954672444635],
                [0.46257222223314376, 0.5374277777668564],
            ),
            (
                "0 0 0 0 0 0",
                [-4.487387150331708, -4.925182132146582],
                [0.607733493812843, 0.3922665061871569],
            ),
        ],
    );
}

/// `CategoricalNB(alpha=0.3, min_categories=[4, 2])` with fractional weights, asked about the fourth value, which no
/// row has: there it lets a value in that might exist, as we do for any value that was never met.
#[test]
fn a_value_never_met_and_fractional_weights() {
    let rows = [("a x p", 0.5), ("b y q", 2.25), ("a y p", 1.0), ("c x q", 3.0)];
    let log_joint = [-4.666382870156081, -3.8918865561858538];
    check(&["u", "v"], &rows, 0.3, &[("d x", log_joint, [0.3155072668265837, 0.6844927331734161])]);
}
