//! Words weighed by what they are worth: laws that hold for any documents, and documents that are hard to weigh.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use priory::format::ModelFile;
use priory::judgement::{Judging, Tier};
use priory::text::{TextSettings, TokenSettings};
use priory::{Batch, Column, Kind, Learnt, Schema, Settings, Statistics, Value};
use proptest::prelude::*;

fn schema(neighbours: bool) -> Schema {
    let mut column = Column::new("text", Kind::Text);
    column.text = Some(TextSettings::new(TokenSettings { neighbours, ..TokenSettings::default() }));
    Schema::new("class", vec![column]).unwrap()
}

/// A class, and a document as its words.
type Document = (String, Vec<String>);

/// The words, and the pairs of neighbours that a tokenizer would find.
fn tokens(words: &[String]) -> Vec<String> {
    let ends = ["⟨start⟩".to_owned()].into_iter().chain(words.iter().cloned());
    let next = words.iter().cloned().chain(["⟨end⟩".to_owned()]);
    let pairs = ends.zip(next).map(|(a, b)| format!("{a} {b}"));
    words.iter().cloned().chain(pairs.filter(|_| !words.is_empty())).collect()
}

fn batch(documents: &[Document]) -> Batch {
    let mut batch = Batch::new(&schema(true));
    for (class, words) in documents {
        let tokens = tokens(words);
        let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
        batch.push(Some(class), 1.0, &[Value::Text(&tokens)]).unwrap();
    }
    batch
}

fn judged(parts: &[&[Document]], threads: usize) -> Learnt {
    let mut whole: Option<Statistics> = None;
    for part in parts {
        let mut statistics = Statistics::empty(&schema(true));
        statistics.keep_rows();
        statistics.observe(&batch(part)).unwrap();
        match &mut whole {
            None => whole = Some(statistics),
            Some(whole) => whole.merge(&statistics).unwrap(),
        }
    }
    let mut learnt = Learnt::new(whole.unwrap(), Settings::default());
    learnt.judge(Judging::Tier(Tier::Full), threads).unwrap();
    learnt
}

/// Documents of three classes, each of which has words that it uses more than the others do, and words that all use.
fn documents(count: usize, seed: u64) -> Vec<Document> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) % below
    };
    let document = |_| {
        let class = next(3);
        let length = 1 + next(12);
        let word = |_| match next(3) {
            0 => format!("own{class}{}", next(12)),
            1 => format!("all{}", next(30)),
            _ => format!("rare{}", next(4000)),
        };
        (format!("c{class}"), (0..length).map(word).collect())
    };
    (0..count).map(document).collect()
}

#[test]
fn order_parts_and_threads_do_not_matter() {
    let all = documents(400, 1);
    let bytes = judged(&[&all], 1).to_bytes();
    let mut turned = all.clone();
    turned.reverse();
    assert!(judged(&[&turned], 1).to_bytes() == bytes);
    assert!(judged(&[&all[250..], &all[..70], &all[70..250]], 1).to_bytes() == bytes);
    assert!(judged(&[&all], 3).to_bytes() == bytes);
    assert!(Learnt::read(&bytes).unwrap().to_bytes() == bytes);
}

#[test]
fn what_was_learnt_can_be_forgotten() {
    let all = documents(300, 2);
    let mut learnt = judged(&[&all], 2);
    let bytes = learnt.to_bytes();
    let more = batch(&documents(40, 3));
    learnt.learn(&more).unwrap();
    assert!(learnt.estimate().is_ok());
    assert!(learnt.to_bytes() != bytes);
    learnt.forget(&more).unwrap();
    assert!(learnt.to_bytes() == bytes);
}

#[test]
fn words_that_tell_are_believed() {
    let (train, test) = (documents(600, 4), documents(200, 5));
    let model = judged(&[&train], 2).estimate().unwrap();
    let posterior = model.score(&batch(&test)).unwrap().normalize();
    let right = |row: &usize| model.classes()[posterior.best(*row)] == test[*row].0;
    let right = (0..test.len()).filter(right).count();
    assert!(right > 150, "{right}");
}

#[test]
fn a_part_of_the_file_says_the_same_to_the_last_bit() {
    let learnt = judged(&[&documents(300, 6)], 2);
    let test = batch(&documents(20, 7));
    let whole = learnt.estimate().unwrap().score(&test).unwrap();
    let file = ModelFile::open(learnt.to_bytes()).unwrap().expect("its masses are written down");
    let part = file.model_for(&test).unwrap().score(&test).unwrap();
    for row in 0..test.rows {
        assert_eq!(part.normalize().row(row), whole.normalize().row(row));
    }
}

#[test]
fn explanations_add_up_to_the_last_bit() {
    let model = judged(&[&documents(300, 8)], 2).estimate().unwrap();
    let mut asked = documents(20, 9);
    asked.push(("c0".into(), vec!["never".into(), "met".into()]));
    asked.push(("c0".into(), Vec::new()));
    let asked = batch(&asked);
    let posterior = model.score(&asked).unwrap().normalize();
    for row in 0..asked.rows {
        let explanation = model.explain(&asked, row).unwrap();
        let mut sum = explanation.log_prior.to_vec();
        for contribution in &explanation.contributions {
            if let Some(tokens) = &contribution.tokens {
                let mut of_document = tokens.length.as_ref().expect("tokens are weighed").to_vec();
                for token in &tokens.tokens {
                    let terms =
                        token.log_likelihood.as_ref().expect("even what was never met says something");
                    of_document.iter_mut().zip(terms.iter()).for_each(|(sum, term)| *sum += term);
                }
                assert_eq!(contribution.log_likelihood, <[f64; 3]>::try_from(of_document).unwrap());
            }
            sum.iter_mut().zip(contribution.log_likelihood.iter()).for_each(|(sum, term)| *sum += term);
        }
        assert_eq!(explanation.log_joint, <[f64; 3]>::try_from(sum).unwrap());
        for (explained, scored) in explanation.posterior.iter().zip(posterior.row(row)) {
            assert!((explained - scored).abs() < 1e-12, "{explained} and {scored}");
        }
    }
}

#[test]
fn classes_without_meaning_move_nothing() {
    for seed in 10..13 {
        let mut train = documents(400, seed);
        let mut test = documents(200, seed + 100);
        let relabel = |documents: &mut Vec<Document>| {
            let classes: Vec<String> = documents.iter().map(|(class, _)| class.clone()).collect();
            let shifted = classes.iter().cycle().skip(7);
            documents.iter_mut().zip(shifted).for_each(|(document, class)| document.0.clone_from(class));
        };
        relabel(&mut train);
        relabel(&mut test);
        let model = judged(&[&train], 2).estimate().unwrap();
        let posterior = model.score(&batch(&test)).unwrap().normalize();
        let (mut loss, mut of_prior) = (0.0, 0.0);
        for (row, (class, _)) in test.iter().enumerate() {
            let class = model.classes().iter().position(|name| name == class).unwrap();
            loss -= posterior.row(row)[class].ln();
            of_prior -= model.prior()[class].ln();
        }
        assert!(loss < 1.02 * of_prior, "{loss} instead of {of_prior}");
    }
}

#[test]
fn without_a_judgement_neighbours_make_no_difference() {
    let all = documents(120, 14);
    let mut with = Statistics::empty(&schema(true));
    with.observe(&batch(&all)).unwrap();
    let mut words = Statistics::empty(&schema(false));
    let mut alone = Batch::new(&schema(false));
    for (class, document) in &all {
        let document: Vec<&str> = document.iter().map(String::as_str).collect();
        alone.push(Some(class), 1.0, &[Value::Text(&document)]).unwrap();
    }
    words.observe(&alone).unwrap();
    let settings = Settings::default();
    let [a, b] = [&with, &words].map(|statistics| statistics.estimate(&settings).unwrap());
    let [a, b] = [a.score(&batch(&all)), b.score(&alone)].map(|scores| scores.unwrap().normalize());
    for row in 0..all.len() {
        assert_eq!(a.row(row), b.row(row));
    }
    // Statistics with and without them can be added, as if there had been none.
    let mut both = with.clone();
    both.merge(&words).unwrap();
    words.merge(&words.clone()).unwrap();
    let bytes = |statistics: &Statistics| Learnt::new(statistics.clone(), settings.clone()).to_bytes();
    assert!(bytes(&both) == bytes(&words));
    let mut dropped = with.clone();
    dropped.drop_neighbours();
    dropped.merge(&with).unwrap();
    assert!(bytes(&dropped) == bytes(&words));
}

#[test]
fn leaving_out_agrees_with_learning_all_others() {
    let all = documents(150, 15);
    let learnt = judged(&[&all], 1);
    let everything = batch(&all);
    let left_out = learnt.leave_one_out(|left_out| left_out.score(&everything)).unwrap().unwrap().normalize();
    let with = learnt.estimate().unwrap().score(&everything).unwrap().normalize();
    let own = |row: usize| {
        learnt.estimate().unwrap().classes().iter().position(|name| *name == all[row].0).unwrap()
    };
    let (mut close, mut lost) = (0, 0.0);
    for row in 0..all.len() {
        let class = own(row);
        lost += with.row(row)[class] - left_out.row(row)[class];
        let mut rest = learnt.clone();
        rest.forget(&everything.select(&[row])).unwrap();
        let refitted = rest.estimate().unwrap().score(&everything.select(&[row])).unwrap().normalize();
        close += usize::from((refitted.row(0)[class] - left_out.row(row)[class]).abs() < 0.1);
    }
    assert!(close > 130, "{close} of 150 documents");
    assert!(lost > 1.0, "{lost} of 150 documents");
}

#[test]
fn hard_documents_are_weighed_and_finite() {
    let word = |word: &str| vec![word.to_owned()];
    let alike: Vec<Document> = (0..80).map(|i| (format!("c{}", i % 2), word("same"))).collect();
    let empty: Vec<Document> = (0..80).map(|i| (format!("c{}", i % 2), Vec::new())).collect();
    let single: Vec<Document> = (0..80).map(|i| (format!("c{}", i % 2), word(&format!("w{i}")))).collect();
    let lonely: Vec<Document> = (0..60).map(|i| (format!("c{i}"), word("same"))).collect();
    let long = vec![("c0".to_owned(), vec!["word".to_owned(); 100_000]), ("c1".to_owned(), word("word"))];
    let mut mixed = alike.clone();
    mixed.extend(empty.iter().cloned());
    mixed.extend(long.iter().cloned());
    for documents in [&alike, &empty, &single, &lonely, &long, &mixed] {
        let learnt = judged(&[documents], 1);
        let bytes = learnt.to_bytes();
        assert!(Learnt::read(&bytes).unwrap().to_bytes() == bytes);
        let model = learnt.estimate().unwrap();
        for asked in [documents, &long, &empty] {
            let asked = batch(asked);
            let posterior = model.score(&asked).unwrap().normalize();
            for row in 0..asked.rows {
                let sum: f64 = posterior.row(row).iter().sum();
                assert!((sum - 1.0).abs() < 1e-9, "{:?}", posterior.row(row));
                model.explain(&asked, row).unwrap();
            }
        }
    }
}

#[test]
fn too_many_classes_are_not_judged_unless_that_is_asked_for() {
    let documents: Vec<Document> =
        (0..20_000).map(|i| (format!("c{}", i % 10_000), vec![format!("w{}", i % 10_000)])).collect();
    let mut statistics = Judging::Auto.start(&schema(true));
    statistics.observe(&batch(&documents)).unwrap();
    let mut learnt = Learnt::new(statistics, Settings::default());
    assert_eq!(learnt.judge(Judging::Auto, 1).unwrap(), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn any_split_gives_the_same_bytes(seed in any::<u64>(), count in 20..120_usize, cut in any::<prop::sample::Index>()) {
        let all = documents(count, seed);
        let cut = cut.index(count);
        let whole = judged(&[&all], 1).to_bytes();
        prop_assert!(judged(&[&all[cut..], &all[..cut]], 2).to_bytes() == whole);
    }
}

#[test]
fn ten_thousand_classes_are_judged_if_that_is_asked_for() {
    let documents: Vec<Document> =
        (0..20_000).map(|i| (format!("c{}", i % 10_000), vec![format!("w{}", i % 10_000)])).collect();
    let mut statistics = Judging::Auto.start(&schema(true));
    statistics.observe(&batch(&documents)).unwrap();
    let mut learnt = Learnt::new(statistics, Settings::default());
    assert_eq!(learnt.judge(Judging::Tier(Tier::Full), 1).unwrap(), Some(Tier::Full));
    let asked = batch(&documents[..3]);
    let posterior = learnt.estimate().unwrap().score(&asked).unwrap().normalize();
    for row in 0..asked.rows {
        assert!((posterior.row(row).iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
}

/// Pairs are let go first, and then more words are refused than memory should hold.
#[test]
fn ten_million_words_are_refused_in_time() {
    let mut statistics = Judging::Auto.start(&schema(true));
    let (mut words, mut dropped_at, mut refused_at) = (0, None, None);
    while refused_at.is_none() && words < 10_000_000 {
        let mut batch = Batch::new(&schema(true));
        for class in ["a", "b"] {
            let names: Vec<String> = (0..100_000).map(|i| format!("w{}", words + i)).collect();
            let pairs: Vec<String> =
                (0..100_000).map(|i| format!("w{} w{}", words + i, words + i + 1)).collect();
            let pairs = pairs.iter().filter(|_| dropped_at.is_none());
            let tokens: Vec<&str> = names.iter().chain(pairs).map(String::as_str).collect();
            batch.push(Some(class), 1.0, &[Value::Text(&tokens)]).unwrap();
            words += 100_000;
        }
        statistics.observe(&batch).unwrap();
        if !statistics.schema().has_neighbours() {
            dropped_at.get_or_insert(words);
        }
        if let Err(error) = statistics.check_size() {
            assert!(error.to_string().contains("8400000 different tokens"), "{error}");
            refused_at = Some(words);
        }
    }
    assert_eq!((dropped_at, refused_at), (Some(2_200_000), Some(8_400_000)));
}
