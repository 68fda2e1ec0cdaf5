"""Spark's DataFrames, on Sail in this process: an engine without a JVM that speaks Spark Connect."""

import re
import sys

import engine
import numpy as np
import pyarrow as pa
import pyarrow.compute
import pytest

import priory
import priory.spark
from priory.spark._tasks import one_error, task

pysail = pytest.importorskip("pysail.spark")

ROWS = engine.table(3000)


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    server = pysail.SparkConnectServer()
    server.start()
    _, port = server.listening_address
    session = SparkSession.builder.remote(f"sc://localhost:{port}").getOrCreate()
    yield session
    session.stop()
    server.stop()


@pytest.fixture(scope="module")
def frame(spark, tmp_path_factory):
    return spark.read.parquet(engine.written(ROWS, tmp_path_factory.mktemp("sail") / "rows"))


FIT = {"target": "class", "weight": "weight", "kinds": engine.KINDS}


@pytest.mark.parametrize("judge", ["auto", "none"])
def test_the_bytes_are_those_of_one_machine(frame, program, tmp_path, judge):
    whole = engine.whole(program, ROWS, tmp_path, "--judge", judge)
    model = priory.spark.fit(frame, **FIT, judge=judge)
    assert engine.bytes_of(model, tmp_path) == whole
    # Other partitions, many of them without rows; other orders; a tree of merging tasks.
    for df, merging in [(frame.repartition(7), 3), (frame.orderBy("price"), [4, 2]), (frame.repartition(40), 1)]:
        model = priory.spark.fit(df, "class", schema=engine.schema(ROWS, judge=judge), judge=judge, merging_tasks=merging)
        assert engine.bytes_of(model, tmp_path) == whole


def test_parts_of_the_cluster_and_of_one_machine_merge(frame, program, tmp_path):
    schema = engine.schema(ROWS)
    assert priory.spark.statistics_of(frame.limit(0), schema) == schema
    there = priory.spark.statistics_of(frame, schema)
    here = priory.statistics_of(ROWS, schema=schema)
    assert there == here
    assert priory.spark.fit(frame, "class", schema=schema, judge="later") == here


@pytest.mark.parametrize("judge", ["auto", "none"])
def test_the_nightly_job(spark, frame, tmp_path, judge):
    schema = engine.schema(ROWS, judge=judge)
    fitted = priory.spark.fit(frame, "class", schema=schema, judge=judge)
    before = engine.bytes_of(fitted, tmp_path)
    more = engine.table(500, seed=8)
    night = spark.read.parquet(engine.written(more, tmp_path / "night"))
    alone = priory.NaiveBayes.load(tmp_path / "saved.priory")
    valid = more.filter(pa.compute.is_valid(more["class"]))
    alone.partial_fit(valid.drop_columns(["class", "weight"]), valid["class"].to_pandas(), sample_weight=valid["weight"].to_numpy())
    assert priory.spark.partial_fit(fitted, night) is fitted
    assert engine.bytes_of(fitted, tmp_path) == alone._now()[0].to_bytes() != before
    assert engine.bytes_of(priory.spark.forget(fitted, night), tmp_path) == before
    with pytest.raises(ValueError, match="never learnt|less than zero"):
        priory.spark.forget(fitted, night.union(night))
    assert engine.bytes_of(fitted, tmp_path) == before


def test_predictions_are_those_of_one_machine(frame):
    model = priory.spark.fit(frame, **FIT)
    predicted = priory.spark.predict(frame, model, probabilities=True).toArrow()
    rows = pa.table({name: predicted[name] for name in ROWS.column_names})
    assert predicted["prediction"].to_pylist() == model.predict(rows).tolist()
    expected = model.predict_proba(rows)
    for label, column in zip(model.classes_, expected.T):
        assert (predicted[f"P({label})"].to_numpy() == column).all()
    assert priory.spark.predict(frame.limit(0), model).toArrow().num_rows == 0
    with pytest.warns(UserWarning, match="does not have .*'colour'"):
        fewer = priory.spark.predict(frame.select("seen", "price"), model).columns
    assert fewer == ["seen", "price", "prediction"]
    with pytest.raises(ValueError, match="none of the columns of the model"):
        priory.spark.predict(frame.select("weight"), model)
    with pytest.raises(ValueError, match="'prediction' already"):
        priory.spark.predict(priory.spark.predict(frame, model), model)


def test_whole_numbers_as_classes_stay_numbers(spark):
    df = spark.createDataFrame([(1.0, 7), (2.0, 7), (9.0, 8)], "x double, class bigint")
    model = priory.spark.fit(df, "class")
    assert model.classes_.tolist() == [7, 8]
    assert dict(priory.spark.predict(df, model).dtypes)["prediction"] == "bigint"


def test_evaluation(frame):
    report = priory.spark.evaluate(frame, **FIT, folds=4, judge="none")
    from priory.spark._evaluate import _dealt

    schema = engine.schema(ROWS, judge="none")
    dealt, names = _dealt(frame, schema, 4)
    rows = dealt.toArrow().rename_columns([*names, "fold"])
    rows = rows.filter(pa.compute.is_valid(rows["class"]))
    folds = rows["fold"].to_numpy()
    rows = rows.drop_columns(["fold"])
    right, loss, weights = 0.0, 0.0, rows["weight"].to_numpy()
    assert sorted(set(folds)) == [0, 1, 2, 3]
    for fold in range(4):
        model = priory.merge([priory.statistics_of(rows.filter(folds != fold), schema=schema)])
        tested = rows.filter(folds == fold)
        shares, classes = model.predict_proba(tested), np.array(tested["class"].to_pylist())
        right += (weights[folds == fold] * (model.predict(tested) == classes)).sum()
        loss -= (weights[folds == fold] * np.log(shares[np.arange(len(classes)), np.searchsorted(model.classes_, classes)])).sum()
    assert report["rows"] == len(folds) and report["folds"] == 4
    assert report["accuracy"] == pytest.approx(right / weights.sum(), rel=1e-12)
    assert report["log_loss"] == pytest.approx(loss / weights.sum(), rel=1e-9)
    # The same report, however the rows lie.
    assert priory.spark.evaluate(frame.repartition(5), **FIT, schema=schema, folds=4, judge="none") == report
    judged = priory.spark.evaluate(frame, **FIT, folds=3)
    assert judged["judged"] == judged["rows"] == report["rows"]


def test_edges(spark):
    empty = spark.createDataFrame([], "x double, class string")
    with pytest.raises(ValueError):
        priory.spark.fit(empty, "class")
    some = spark.createDataFrame([(1.0, "a"), (None, "a"), (3.0, "b")], "x double, class string")
    schema = priory.schema_of(pa.table({"x": [1.0, 2.0], "class": ["a", "b"]}), "class")
    with pytest.raises(ValueError, match="nothing was learnt|no rows"):
        priory.spark.fit(empty, "class", schema=schema)
    assert priory.spark.fit(some.repartition(9), "class", schema=schema).class_count_.tolist() == [2.0, 1.0]
    with pytest.raises(ValueError, match="no column 'klass'"):
        priory.spark.fit(some, "klass")
    with pytest.raises(ValueError, match="half_life"):
        priory.spark.fit(some, "class", half_life=100)
    with pytest.raises(ValueError, match="expected a DataFrame of Spark"):
        priory.spark.fit({"x": [1]}, "x")


def test_an_error_of_a_task_names_row_and_column(spark):
    schema = priory.schema_of(pa.table({"x": [1.0, 2.0], "class": ["a", "b"]}), "class")
    rows = [(str(k), "a") for k in range(50)] + [("many", "b")]
    df = spark.createDataFrame(rows, "x string, class string").coalesce(1)
    with pytest.raises(ValueError) as error:
        priory.spark.fit(df, "class", schema=schema)
    assert re.search(r"row 51, column `?x`?: `?many`? is not a number", str(error.value)), str(error.value)
    assert "Traceback" not in str(error.value)
    assert priory.spark.statistics_of(df, schema, on_bad_value="missing")


def test_a_worker_without_the_package_says_what_to_do(monkeypatch):
    run = task("learn", [], b"", False, {})
    monkeypatch.setattr(priory, "__version__", "0.0.7")
    with pytest.raises(ValueError, match=r"has priory 0\.0\.7 and the driver .* --archives or addArtifact$"), one_error():
        list(run(iter([])))
    monkeypatch.setitem(sys.modules, "priory", None)
    with pytest.raises(ValueError, match=r"cannot import priory .* spark-submit --archives"), one_error():
        list(run(iter([])))


def test_the_sentence_is_found_in_a_traceback(monkeypatch):
    """Spark quotes the lines that raise."""
    import traceback

    try:
        list(task("learn", ["x"], b"", False, {})(iter([pa.record_batch({"c0": [1]})])))
    except RuntimeError:
        quoted = traceback.format_exc()
    with pytest.raises(ValueError) as error, one_error():
        raise OSError(quoted)
    assert str(error.value).startswith("not a usable model file"), str(error.value)


def test_a_task_is_sent_as_it_is():
    """A worker without the package could not even be told so by a function of a module of the package."""
    import pickletools

    from pyspark.cloudpickle import dumps

    names = [argument for opcode, argument, _ in pickletools.genops(dumps(task("learn", [], b"", False, {}))) if opcode.name == "SHORT_BINUNICODE"]
    assert "priory.spark._worker" not in names


def test_the_guide(spark, frame, tmp_path, monkeypatch, program):
    """The examples of docs/scale.md, one after the other."""
    monkeypatch.chdir(tmp_path)
    folder = engine.written(ROWS, tmp_path / "rows")
    some = engine.written(ROWS.slice(0, 200), tmp_path / "some")
    names = {"spark": spark, "folder": folder, "today": spark.read.parquet(some), "withdrawn": spark.read.parquet(some)}
    blocks = re.findall(r"```python spark\n(.*?)```", engine.GUIDE.read_text(), re.DOTALL)
    assert len(blocks) == 3
    for block in blocks:
        exec(block, names)
    assert {"prediction", "P(yes)"} <= set(names["scored"].columns)
    assert names["report"]["folds"] == 5
    # What was learnt and forgotten again has left no trace.
    assert (tmp_path / "events.priory").read_bytes() == engine.bytes_of(priory.spark.fit(frame, "class", weight="weight", kinds={"note": "text"}), tmp_path)
