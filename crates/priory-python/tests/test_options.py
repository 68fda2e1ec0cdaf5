"""Whatever can be chosen on the command line can be chosen in Python, and means the same."""

import inspect
import json
import re

import numpy as np
import pandas as pd
import pytest
from command_line import program  # noqa: F401  (a fixture)
from test_model import mixed

from priory import NaiveBayes, TextNB, _priory

# What Python says otherwise, or what it has no use for: its tables are in memory, its results are objects, and `kinds` says
# what a file with a schema would.
OTHERWISE = {
    "keep-case": "lowercase",
    "as": "kinds",
    "ignore": "kinds",
    "text-model": "text",
    "when-missing": "missing_values",
    # None, the default, says so.
    "most-probable": "threshold",
}
ARGUMENTS = {"target": "y", "weight": "sample_weight", "group": "groups"}
FOR_FILES = {
    *{"schema", "delimiter", "comment", "no-header", "encoding", "input-format", "columns", "sheet", "documents", "document", "class", "mail"},
    *{"output", "format", "reliability", "report", "threads", "help", "version", "dry-run"},
}


def parameters(of):
    return set(inspect.signature(of).parameters)


def flags(program, command):  # noqa: F811
    return set(re.findall(r"(?:^|\s)--([a-z][a-z-]*)", re.sub(r"`[^`]*`", "", program(command, "--help"))))


@pytest.mark.parametrize(
    "command, methods",
    [
        ("train", [NaiveBayes, NaiveBayes.fit, NaiveBayes.fit_counts]),
        ("evaluate", [NaiveBayes, NaiveBayes.evaluate]),
        ("learn", [NaiveBayes, NaiveBayes.partial_fit]),
        ("forget", [NaiveBayes, NaiveBayes.forget]),
    ],
)
def test_python_has_every_option(program, command, methods):  # noqa: F811
    known = set.union(*map(parameters, methods))
    for flag in flags(program, command) - FOR_FILES:
        name = OTHERWISE.get(flag, ARGUMENTS.get(flag, flag.replace("-", "_")))
        assert name in known, f"--{flag}"


def test_python_has_everything_that_the_library_lists():
    about_models, about_text = _priory.choice_names()
    names = {OTHERWISE.get(name, name.replace("-", "_")) for name in about_models + about_text}
    assert names <= parameters(NaiveBayes)
    assert {"positive", "cost", "threshold", "unsure", "prior"} <= parameters(NaiveBayes.predict)
    for_documents = {OTHERWISE.get(name, name.replace("-", "_")) for name in about_text}
    assert for_documents | {"smoothing", "prior", "min_documents", "most_tokens", "half_life"} <= parameters(TextNB)


def table():
    """Numbers, categories and a text."""
    X, y = mixed()
    words = [f"{colour} {'Ink ink' if seen else 'paper'} {i % 7}日本語" for i, (colour, seen) in enumerate(zip(X.colour, X.seen))]
    return X.assign(note=words), y


KINDS = {"note": "text", "count": "number", "seen": "category"}


@pytest.mark.parametrize(
    "chosen, typed",
    [
        ({"smoothing": {"colour": "none", "*": 0.5}}, ["--smoothing", "colour=none", "--smoothing", "lidstone:0.5"]),
        ({"smoothing": {"note": "pseudocounts:0.5,2"}}, ["--smoothing", "note=pseudocounts:0.5,2"]),
        ({"exponent": {"note": 0.25, "size": 2}}, ["--exponent", "note=0.25", "--exponent", "size=2"]),
        ({"min_documents": 2, "most_tokens": 4}, ["--min-documents", "2", "--most-tokens", "4"]),
        ({"missing_values": "counted"}, ["--missing-values", "counted"]),
        ({"numbers": "gaussian", "variance_floor": "sklearn:0.1"}, ["--numbers", "gaussian", "--variance-floor", "sklearn:0.1"]),
        ({"discriminant": "regularized"}, ["--discriminant", "regularized"]),
        ({"select": 2}, ["--select", "2"]),
        ({"half_life": 30}, ["--half-life", "30"]),
        ({"prior": {"few": 0.25, "many": 0.75}}, ["--prior", "given:few=0.25,many=0.75"]),
        ({"positive": "few", "threshold": 0.75, "unsure": 0.6}, ["--positive", "few", "--threshold", "0.75", "--unsure", "0.6"]),
        ({"threshold": {"few": 0.75, "many": 0.5}}, ["--threshold", "few=0.75,many=0.5"]),
        ({"cost": {("few", "many"): 3, ("*", "few"): 0.5}}, ["--cost", "few:many=3,*:few=0.5"]),
        ({"text": "bernoulli", "tokens": "characters:1-3"}, ["--text", "bernoulli", "--tokens", "characters:1-3"]),
        ({"ngrams": "1-2", "lowercase": False, "stem": "english"}, ["--ngrams", "1-2", "--keep-case", "--stem", "english"]),
        ({"ngrams": 2, "stop_words": "english", "nfkc": True}, ["--ngrams", "2", "--stop-words", "english", "--nfkc"]),
        ({"cjk": "words", "frequency": "log", "equal_length": True}, ["--cjk", "words", "--frequency", "log", "--equal-length"]),
        ({"hash_bits": 5}, ["--hash-bits", "5"]),
        ({"missing": ["red"]}, ["--missing", "red"]),
        ({"kinds": {**KINDS, "colour": "ignore"}}, ["--ignore", "colour"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_choice_means_the_same(tmp_path, program, chosen, typed):  # noqa: F811
    X, y = table()
    NaiveBayes(**{"kinds": KINDS, **chosen}).fit(X, y).save(tmp_path / "python.priory")
    X.assign(amount=y).to_parquet(tmp_path / "t.parquet")
    kinds = ",".join(f"{name}={kind}" for name, kind in KINDS.items())
    program("train", tmp_path / "t.parquet", "--target", "amount", "--as", kinds, "-o", tmp_path / "shell.priory", *typed)
    assert (tmp_path / "python.priory").read_bytes() == (tmp_path / "shell.priory").read_bytes()


def test_pseudocounts_in_all_their_forms(tmp_path, program):  # noqa: F811
    X, y = mixed()
    frame = pd.DataFrame(
        [("colour", "red", 2.0), ("colour", "*", 0.5), ("seen", "true", 1.0)], columns=["column", "value", "pseudocount"]
    )
    path = tmp_path / "pseudocounts.csv"
    frame.to_csv(path, index=False)
    given = {"colour": {"red": 2, "*": 0.5}, "seen": {True: 1}}
    X.assign(amount=y).to_parquet(tmp_path / "t.parquet")
    shell = tmp_path / "shell.priory"
    program("train", tmp_path / "t.parquet", "--target", "amount", "--smoothing", f"dirichlet:{path}", "-o", shell)
    for pseudocounts in (given, frame, path, str(path)):
        NaiveBayes(pseudocounts=pseudocounts).fit(X, y).save(tmp_path / "python.priory")
        assert (tmp_path / "python.priory").read_bytes() == shell.read_bytes()
    plain = NaiveBayes().fit(X, y)
    assert plain.reestimate(pseudocounts=given) == NaiveBayes(pseudocounts=given, judge="none").fit(X, y)
    with pytest.raises(ValueError, match="pseudocounts: expected the columns column, value"):
        NaiveBayes(pseudocounts=frame.rename(columns={"pseudocount": "n"})).fit(X, y)
    with pytest.raises(FileNotFoundError):
        NaiveBayes(pseudocounts=tmp_path / "none.csv").fit(X, y)


@pytest.mark.parametrize(
    "chosen, typed",
    [
        ({"holdout": 0.3}, ["--holdout", "0.3"]),
        ({"leave_one_out": True}, ["--leave-one-out"]),
        ({"folds": 4, "seed": 9}, ["--folds", "4", "--seed", "9"]),
    ],
)
def test_ways_to_evaluate(tmp_path, program, chosen, typed):  # noqa: F811
    X, y = table()
    report = NaiveBayes(kinds=KINDS).evaluate(X, y, **chosen)
    X.assign(amount=y).to_parquet(tmp_path / "t.parquet")
    kinds = ",".join(f"{name}={kind}" for name, kind in KINDS.items())
    told = program("evaluate", tmp_path / "t.parquet", "--target", "amount", "--as", kinds, "--format", "json", *typed)
    told = json.loads(told)
    assert {key: told[key] for key in report} == report


def test_evaluation_on_other_rows(tmp_path, program):  # noqa: F811
    X, y = mixed()
    report = NaiveBayes().evaluate(X[:150], y[:150], test=(X[150:], y[150:]))
    X.assign(amount=y)[:150].to_parquet(tmp_path / "a.parquet")
    X.assign(amount=y)[150:].to_parquet(tmp_path / "b.parquet")
    arguments = ["--target", "amount", "--test", tmp_path / "b.parquet", "--format", "json"]
    told = json.loads(program("evaluate", tmp_path / "a.parquet", *arguments))
    assert {key: told[key] for key in report} == report and report["rows"] == 50
    with pytest.raises(ValueError, match="choose one"):
        NaiveBayes().evaluate(X, y, holdout=0.5, leave_one_out=True)
    with pytest.raises(ValueError, match="no weights"):
        NaiveBayes().evaluate(X[:150], y[:150], test=(X[150:], y[150:], np.ones(50)))


def test_rows_that_age_can_be_forgotten():
    X, y = mixed()
    kinds = {"count": "number", "seen": "category"}
    model = NaiveBayes(half_life=50, kinds=kinds).fit(X[:120], y[:120])
    assert model.learnt_from_ == 1
    model.partial_fit(X[120:160], y[120:160])
    assert model.learnt_from_ == 121
    model.partial_fit(X[160:], y[160:]).forget(X[120:160], y[120:160], learnt_at=121)
    assert model.show()["rows"] == 160
    with pytest.raises(ValueError, match="learnt_at"):
        model.forget(X[:10], y[:10])
    with pytest.raises(ValueError, match="never learnt"):
        model.forget(X[120:160], y[120:160], learnt_at=121)
    # A model without a half-life may get one later.
    late = NaiveBayes(kinds=kinds, judge="none").fit(X[:120], y[:120]).set_params(half_life=50)
    assert late.partial_fit(X[120:], y[120:]).learnt_from_ == 1
    with pytest.raises(ValueError, match="cannot become 60"):
        late.set_params(half_life=60).partial_fit(X, y)
    judged = NaiveBayes(kinds=kinds).fit(X[:120], y[:120]).set_params(half_life=50)
    with pytest.raises(ValueError, match="the rows of a judged model cannot age"):
        judged.partial_fit(X[120:], y[120:])


def test_bad_values_may_be_missing():
    X = pd.DataFrame({"size": ["1.5", "2", "huge", "3"] * 10})
    y = ["a", "b", "a", "b"] * 10
    with pytest.raises(ValueError, match="huge"):
        NaiveBayes(kinds={"size": "number"}).fit(X, y)
    model = NaiveBayes(kinds={"size": "number"}, on_bad_value="missing").fit(X, y)
    missing = NaiveBayes(kinds={"size": "number"}).fit(X.replace("huge", None), y)
    assert model == missing
    assert (model.predict_proba(X) == missing.predict_proba(X.replace("huge", None))).all()
    with pytest.raises(ValueError, match="on_bad_value: expected error or missing"):
        NaiveBayes(on_bad_value="ignore").fit(X, y)


def test_what_is_shown_is_what_the_command_line_shows(tmp_path, program):  # noqa: F811
    X, y = mixed()
    model = NaiveBayes(kinds={"*": "bernoulli"}, judge="none").fit(X[["seen"]], y)
    model.save(tmp_path / "m.priory")
    told = json.loads(program("show", tmp_path / "m.priory", "--weights", "--format", "json"))
    assert model.linear_form() == told.pop("linear_form")
    assert model.show() == told
    with pytest.raises(ValueError, match="no column is text"):
        NaiveBayes(ngrams=2).fit(X, y)
