use proptest::prelude::*;

use super::*;

fn classes(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn logs(probabilities: &[f64]) -> Vec<f64> {
    probabilities.iter().map(|p| p.ln()).collect()
}

fn refusal(decision: &Decision, names: &[&str]) -> String {
    decision.check_for(&classes(names)).unwrap_err().to_string()
}

fn with_thresholds(thresholds: &[(&str, f64)]) -> Decision {
    let thresholds = thresholds.iter().map(|&(class, p)| (class.to_owned(), p)).collect();
    Decision { thresholds, ..Decision::default() }
}

#[test]
fn a_threshold_is_reached_where_it_is_equal() {
    let decider = with_thresholds(&[("b", 0.2)]).decider(&classes(&["a", "b"])).unwrap();
    assert_eq!(decider.answer(&logs(&[0.8, 0.2])), 1);
    assert_eq!(decider.answer(&logs(&[0.8, 0.199_999_999_999_999_96])), 1); // the same but for rounding
    assert_eq!(decider.answer(&logs(&[0.81, 0.19])), 0);
    let decider = with_thresholds(&[("b", 0.6)]).decider(&classes(&["a", "b", "c"])).unwrap();
    assert_eq!(decider.answer(&logs(&[0.2, 0.5, 0.3])), 2); // the most probable of the others
    let always = with_thresholds(&[("b", 0.0)]).decider(&classes(&["a", "b"])).unwrap();
    assert_eq!(always.answer(&[0.0, f64::NEG_INFINITY]), 1);
    let certain = with_thresholds(&[("b", 1.0)]).decider(&classes(&["a", "b"])).unwrap();
    assert_eq!(certain.answer(&[f64::NEG_INFINITY, 0.0]), 1);
    assert_eq!(certain.answer(&logs(&[0.001, 0.999])), 0);
}

#[test]
fn between_two_thresholds_nobody_knows() {
    let decision = with_thresholds(&[("a", 0.7), ("b", 0.9)]);
    let decider = decision.decider(&classes(&["a", "b"])).unwrap();
    assert_eq!(decider.answers(), ["a", "b", "unsure"]);
    let answers = [0.05, 0.2, 0.7, 0.8].map(|a| decider.answer(&logs(&[a, 1.0 - a])));
    assert_eq!(answers, [1, 2, 0, 0]);
    assert!(decision.may_be_unsure(&classes(&["a", "b"])));
    assert!(!decision.may_be_unsure(&classes(&["a", "b", "c"])));
}

#[test]
fn costs_of_all_that_is_not_named() {
    let any = |true_class: Option<&str>, predicted: Option<&str>, cost: f64| Cost {
        true_class: true_class.map(str::to_owned),
        predicted: predicted.map(str::to_owned),
        cost,
    };
    let costs = vec![
        any(None, None, 1.0),
        any(Some("a"), None, 5.0),
        any(None, Some("c"), 7.0),
        Cost::new("a", "c", 2.0),
    ];
    let decision = Decision { costs, ..Decision::default() };
    let matrix = decision.cost_matrix(&classes(&["a", "b", "c"])).unwrap();
    assert_eq!(matrix, [[0.0, 1.0, 1.0], [5.0, 0.0, 1.0], [2.0, 7.0, 0.0]]);
    // A third answer that costs a fifth of a mistake is given where no class has four fifths: Chow's rule.
    let costs = vec![any(None, None, 1.0), any(None, Some(UNSURE), 0.2)];
    let decider = Decision { costs, ..Decision::default() }.decider(&classes(&["a", "b"])).unwrap();
    assert_eq!([0.79, 0.81, 0.1].map(|a| decider.answer(&logs(&[a, 1.0 - a]))), [2, 0, 1]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let two = &["a", "b"][..];
    let with = |costs: Vec<Cost>| Decision { costs, ..Decision::default() };
    assert_eq!(
        refusal(&with(vec![Cost::new("a", "b", 1.0)]), two),
        "the costs do not say what it costs to answer `a` where `b` is true; `*` stands for all classes that are not named"
    );
    assert_eq!(
        refusal(&with(vec![Cost::new("a", "b", f64::NAN), Cost::new("b", "a", 1.0)]), two),
        "the cost of a:b is NaN; it is a number up to 1e100"
    );
    assert_eq!(
        refusal(&with(vec![Cost::new("a", "b", 1.0), Cost::new("c", "a", 1.0)]), two),
        "there is no class `c`; the classes are `a`, `b`"
    );
    assert_eq!(
        refusal(&with(vec![Cost::new("a", "b", 1.0), Cost::new("a", "b", 2.0)]), two),
        "the cost of a:b is given twice"
    );
    assert_eq!(
        refusal(&with_thresholds(&[("a", 0.3), ("b", 0.3)]), two),
        "the thresholds 0.3 and 0.3 can be reached at the same time; those of any two classes must add up to 1 at least"
    );
    assert_eq!(
        refusal(&with_thresholds(&[("a", 1.5)]), two),
        "the threshold of `a` is 1.5; it is a probability between 0 and 1"
    );
    assert_eq!(
        refusal(&Decision { unsure: Some(0.4), ..Decision::default() }, two),
        "one of 2 classes always has a probability of 0.500 at least, so that no row is `unsure` below 0.4"
    );
    assert_eq!(
        refusal(&Decision { unsure: Some(0.9), ..Decision::default() }, &["sure", "unsure"]),
        "a class is called `unsure`, so that cannot be a third answer"
    );
    let both = Decision { costs: vec![Cost::new("a", "b", 1.0)], ..with_thresholds(&[("a", 0.5)]) };
    assert!(refusal(&both, two).contains("choose one of them"));
}

#[test]
fn choices_replace_what_was_said_before() {
    let mut decision = with_thresholds(&[("a", 0.7)]);
    let threshold = DecisionChoices {
        positive: Some("b".into()),
        threshold: vec![(None, 0.9)],
        unsure: Some(0.6),
        ..DecisionChoices::default()
    };
    threshold.apply(&mut decision).unwrap();
    let expected =
        Decision { positive: Some("b".into()), unsure: Some(0.6), ..with_thresholds(&[("b", 0.9)]) };
    assert_eq!(decision, expected);
    DecisionChoices { most_probable: true, ..DecisionChoices::default() }.apply(&mut decision).unwrap();
    assert!(decision.is_most_probable());
    assert_eq!(decision.positive.as_deref(), Some("b"));
    let nameless = DecisionChoices { threshold: vec![(None, 0.9)], ..DecisionChoices::default() };
    assert!(nameless.apply(&mut Decision::default()).is_err());
}

proptest! {
    /// Where every mistake costs the same, the most probable class is the cheapest.
    #[test]
    fn equal_costs_choose_the_most_probable(weights in prop::collection::vec(0.01..1.0f64, 2..6), cost in 0.1..9.0f64) {
        let names: Vec<String> = (0..weights.len()).map(|i| i.to_string()).collect();
        let costs = vec![Cost { true_class: None, predicted: None, cost }];
        let cheapest = Decision { costs, ..Decision::default() }.decider(&names).unwrap();
        let most_probable = Decision::default().decider(&names).unwrap();
        let answer = cheapest.answer(&logs(&weights));
        let largest = weights[most_probable.answer(&logs(&weights))];
        prop_assert!((weights[answer] - largest).abs() <= 1e-12);
    }

    /// Between two classes, costs are a threshold: C(−, +) / (C(−, +) + C(+, −)).
    #[test]
    fn costs_of_two_classes_are_a_threshold(miss in 0.01..100.0f64, alarm in 0.01..100.0f64, p in 0.0..1.0f64) {
        let threshold = alarm / (alarm + miss);
        prop_assume!((p - threshold).abs() > 1e-9);
        let names = classes(&["no", "yes"]);
        let costs = vec![Cost::new("yes", "no", miss), Cost::new("no", "yes", alarm)];
        let by_cost = Decision { costs, ..Decision::default() }.decider(&names).unwrap();
        let by_threshold = with_thresholds(&[("yes", threshold)]).decider(&names).unwrap();
        let row = logs(&[1.0 - p, p]);
        prop_assert_eq!(by_cost.answer(&row), by_threshold.answer(&row));
        prop_assert_eq!(by_cost.answer(&row), usize::from(p > threshold));
    }
}
