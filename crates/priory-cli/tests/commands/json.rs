//! What commands say as JSON.

use super::*;

#[test]
fn show_has_its_names_and_the_lecture_fractions() {
    let folder = Folder::new();
    folder.stdout("train examples/tennis.csv --target play --smoothing none -o m.priory");
    let shown = folder.json("show m.priory");
    assert_has(&shown, &["rows", "classes", "features", "parameters"]);
    assert_has(&shown["parameters"], &["naive", "joint"]);
    assert_has(&shown["classes"][0], &["name", "weight", "prior", "fraction"]);
    assert_has(&shown["features"][0], &["name", "kind", "family", "values"]);
    let value = &shown["features"][0]["values"][0];
    assert_has(value, &["value", "count", "probability", "fraction"]);
    ["count", "probability", "fraction"].iter().for_each(|name| assert_has(&value[name], &["+", "-"]));

    assert_eq!(shown["rows"], 14);
    assert_eq!(shown["classes"][0]["fraction"], "9/14");
    assert_eq!(shown["classes"][1]["fraction"], "5/14");
    let outlook = &shown["features"][0];
    assert_eq!((&outlook["name"], &outlook["kind"]), (&"outlook".into(), &"category".into()));
    assert_eq!(outlook["family"], "categorical");
    let of = |name: &str| outlook["values"].as_array().unwrap().iter().find(|v| v["value"] == name).unwrap();
    assert_eq!(
        ["S", "R", "O"].map(|name| of(name)["fraction"]["+"].as_str().unwrap()),
        ["2/9", "3/9", "4/9"]
    );
    assert_eq!(number(&of("S")["probability"]["+"]), 2.0 / 9.0);
    assert_eq!(of("S")["count"]["+"], 2.0);
    assert_eq!((&shown["parameters"]["naive"], &shown["parameters"]["joint"]), (&12.into(), &70.into()));
}

#[test]
fn predictions_and_explanations_have_the_same_intervals() {
    let folder = Folder::new();
    folder.stdout("train examples/penguins.csv --target species -o m.priory");
    folder.write("new.csv", "bill_length_mm,island\n44.1,Dream\n");
    let explained = folder.json("explain m.priory new.csv --interval 0.8");
    let predicted = folder.stdout("predict m.priory new.csv --interval 0.8 --format jsonl");
    let predicted: Value = serde_json::from_str(&predicted).unwrap();
    for class in ["Adelie", "Chinstrap", "Gentoo"] {
        let of = |what: &str| number(&predicted[what][class]);
        assert!(of("low") < of("posterior") && of("posterior") < of("high"), "{predicted}");
        assert_eq!(number(&explained["rows"][0]["low"][class]), of("low"));
        assert_eq!(number(&explained["rows"][0]["high"][class]), of("high"));
    }
    let plain = folder.json("explain m.priory new.csv");
    assert!(plain["rows"][0].get("low").is_none());
    let both = folder.fails(2, "explain m.priory new.csv --interval 0.9 --fractions");
    assert!(both.contains("cannot be used with"), "{both}");
    let kept = folder.fails(1, "predict m.priory new.csv --interval 0.9 --keep island,low --format jsonl");
    assert!(kept.contains("`low`"), "{kept}");
}

#[test]
fn explain_has_its_names_and_the_lecture_posterior() {
    let folder = Folder::new();
    folder.stdout("train examples/tennis.csv --target play --smoothing none -o m.priory");
    let explained = folder.json("explain m.priory --set outlook=S,temperature=C,humidity=H,wind=S");
    let row = &explained["rows"][0];
    let names = ["prediction", "posterior", "log_joint", "log_evidence", "no_evidence", "prior"];
    assert_has(row, &names);
    assert_has(row, &["contributions", "fraction"]);
    let first = &row["contributions"][0];
    assert_has(first, &["feature", "value", "log_likelihood", "fraction"]);

    assert_eq!((&row["prediction"], &row["no_evidence"]), (&"-".into(), &false.into()));
    assert_close(&row["posterior"]["-"], 0.7954, 5e-5);
    assert_eq!(row["fraction"]["posterior"]["-"], "486/611");
    assert_eq!((&first["feature"], &first["value"]), (&"outlook".into(), &"S".into()));
    assert_eq!((&first["fraction"]["+"], &first["fraction"]["-"]), (&"2/9".into(), &"3/5".into()));
    assert_close(&row["prior"]["+"], 9.0 / 14.0, 1e-15);
}

#[test]
fn contributions_add_up_to_the_last_bit() {
    let folder = Folder::new();
    folder.stdout("train examples/penguins.csv --target species -o m.priory");
    let explained = folder.json("explain m.priory examples/penguins.csv");
    let rows = explained["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 344);
    for row in rows {
        for class in ["Adelie", "Chinstrap", "Gentoo"] {
            let mut sum = number(&row["log_prior"][class]);
            for contribution in row["contributions"].as_array().unwrap() {
                sum += number(&contribution["log_likelihood"][class]);
            }
            assert_eq!(sum.to_bits(), number(&row["log_joint"][class]).to_bits());
        }
    }
}

#[test]
fn movies_and_mails_come_out_as_in_the_lectures() {
    let folder = Folder::new();
    folder.stdout("train examples/movies.csv --target lord_of_the_rings --smoothing none -o m.priory");
    for (smoothing, expected) in [("none", [-2.05, -1.72]), ("laplace", [-2.06, -1.74])] {
        let row = folder
            .json(&format!("explain m.priory --set star_wars=1,harry_potter=0 --smoothing {smoothing}"));
        let row = &row["rows"][0];
        assert_eq!(row["prediction"], "1");
        assert_close(&row["log_joint"]["0"], expected[0], 0.005);
        assert_close(&row["log_joint"]["1"], expected[1], 0.005);
    }

    folder.stdout("train examples/emails.csv --target label --smoothing none -o m.priory");
    let row = folder.json("explain m.priory --set book=1,buy=1,do=0,drugs=0,math=0,today=1");
    assert_eq!(row["rows"][0]["fraction"]["posterior"]["spam"], "256/499");
    let shown = folder.json("show m.priory --smoothing laplace");
    let drugs = shown["features"].as_array().unwrap().iter().find(|f| f["name"] == "drugs").unwrap();
    assert_eq!(drugs["values"][1]["value"], "1");
    assert_eq!(drugs["values"][1]["fraction"]["ham"], "1/4");
}

#[test]
fn nothing_known_and_nothing_possible_are_told_apart() {
    let folder = Folder::new();
    folder.stdout("train examples/tennis.csv --target play --smoothing none -o m.priory");
    let row = &folder.json("explain m.priory --set outlook=?")["rows"][0];
    assert_eq!(row["no_evidence"], true);
    ["+", "-"]
        .iter()
        .for_each(|class| assert_close(&row["posterior"][class], number(&row["prior"][class]), 1e-15));
    let row = &folder.json("explain m.priory --set outlook=fog")["rows"][0];
    assert_eq!((&row["no_evidence"], &row["impossible"]), (&false.into(), &true.into()));
    assert_eq!(row["log_evidence"], Value::Null);
}

/// What commands printed when `testdata/reports` was written: every name, in its order, and every digit. Each is trained with
/// the first arguments and asked with the second.
const REPORTS: [(&str, &str, &str); 14] = [
    ("show-categories", "tennis.csv --target play", "show"),
    ("show-weights", "emails.csv --target label", "show --weights"),
    ("show-text", "mails.csv --target label --as text=text --half-life 4", "show --top 2"),
    (
        "show-numbers",
        "penguins.csv --target species --ignore year --as bill_depth_mm=histogram --exponent sex=0.5",
        "show",
    ),
    ("show-selected", "iris.csv --target species --select 2", "show"),
    ("show-shared-covariance", "iris.csv --target species --discriminant linear", "show"),
    (
        "show-own-covariances",
        "penguins.csv --target species --ignore year --discriminant regularized",
        "show",
    ),
    ("features", "penguins.csv --target species --smoothing none", "features --select auto"),
    (
        "features-of-sums",
        "penguins.csv --target species --numbers gaussian --as island=joint --as sex=joint",
        "features",
    ),
    ("explain-fractions", "tennis.csv --target play", "explain --set outlook=S --set wind=X"),
    ("explain-impossible", "tennis.csv --target play --smoothing none", "explain --set outlook=fog"),
    (
        "explain-text",
        "mails.csv --target label --as text=text --text bernoulli",
        "explain --set text=buy-drugs-viagra",
    ),
    (
        "explain-numbers",
        "penguins.csv --target species --ignore year",
        "explain --set bill_depth_mm=18.7 --set sex=male",
    ),
    ("explain-selected", "tennis.csv --target play --select 2", "explain --set outlook=S --set humidity=H"),
];

fn assert_is_report(name: &str, printed: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/reports");
    let expected = fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
    assert!(printed == expected, "{name}: {printed}");
}

#[test]
fn reports_keep_their_names_their_order_and_their_digits() {
    let folder = Folder::new();
    for (name, trained, asked) in REPORTS {
        folder.train(&format!("examples/{trained} --judge none"));
        let asked = asked.replacen(' ', " trained.priory ", 1);
        let asked = if asked.contains(' ') { asked } else { format!("{asked} trained.priory") };
        assert_is_report(name, &folder.stdout(&format!("{asked} --format json")));
    }
    let evaluate = |how: &str| folder.stdout(&format!("evaluate examples/{how} --format json"));
    assert_is_report("evaluate-folds", &evaluate("penguins.csv --target species --folds 3 --judge none"));
    let left_out = evaluate("tennis.csv --target play --smoothing none --leave-one-out");
    assert_is_report("evaluate-leave-one-out", &left_out);
}
