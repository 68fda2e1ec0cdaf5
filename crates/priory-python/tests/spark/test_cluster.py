"""Spark as a cluster: processes that are killed, workers that lack the package, and a stream."""

import json
import re
import sys
import threading

import engine
import pyarrow as pa
import pytest
from cluster import Cluster, wait_until  # beside this file

import priory
import priory.spark

ROWS = engine.table(500_000)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    started = Cluster(tmp_path_factory.mktemp("cluster"))
    yield started
    started.stop()


@pytest.fixture(scope="module")
def spark(cluster):
    # Partitions of the size of the files, which are small.
    session = cluster.session(**{"spark.sql.files.maxPartitionBytes": "2m", "spark.sql.files.openCostInBytes": "0"})
    yield session
    session.stop()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return engine.written(ROWS, tmp_path_factory.mktemp("rows") / "parquet", files=16)


@pytest.fixture(scope="module")
def whole(program, tmp_path_factory):
    return engine.whole(program, ROWS, tmp_path_factory.mktemp("whole"))


def test_the_bytes_are_those_of_one_machine(spark, folder, whole, tmp_path):
    frame = spark.read.parquet(folder)
    model = priory.spark.fit(frame, "class", weight="weight", kinds=engine.KINDS)
    assert engine.bytes_of(model, tmp_path) == whole
    few = frame.limit(1000)
    predicted = priory.spark.predict(few, model, probabilities=True).toArrow()
    rows = pa.table({name: predicted[name] for name in ROWS.column_names})
    assert predicted["prediction"].to_pylist() == model.predict(rows).tolist()
    assert (predicted["P(yes)"].to_numpy() == model.predict_proba(rows)[:, list(model.classes_).index("yes")]).all()


def test_an_error_names_partition_and_row(spark):
    schema = priory.schema_of(pa.table({"x": [1.0, 2.0], "class": ["a", "b"]}), "class")
    rows = [(str(k), "a") for k in range(50)] + [("many", "b")]
    df = spark.createDataFrame(rows, "x string, class string").coalesce(1)
    with pytest.raises(ValueError) as error:
        priory.spark.fit(df, "class", schema=schema)
    assert re.search(r"^partition 0: .*row 51, column `?x`?: `?many`? is not a number", str(error.value)), str(error.value)
    model = priory.merge([priory.statistics_of(pa.table({"x": [1.0, 2.0], "class": ["a", "b"]}), schema=schema)])
    with pytest.raises(Exception, match="priory: partition 0, rows 1 to 51: .*row 51, column `?x`?"):
        priory.spark.predict(df, model).collect()


@pytest.mark.parametrize("lacks, match", [
    ("raise ImportError('there is no wheel')", "cannot import priory .*there is no wheel.*--archives"),
    ("__version__ = '0.0.7'", r"has priory 0\.0\.7 and the driver .*--archives"),
])
def test_a_worker_without_the_package_says_what_to_do(spark, tmp_path, lacks, match):
    (tmp_path / "other" / "priory").mkdir(parents=True)
    (tmp_path / "other" / "priory" / "__init__.py").write_text(lacks + "\n")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}/other:$PYTHONPATH" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    df = spark.createDataFrame([(1.0, "a"), (2.0, "b")], "x double, class string")
    usual, spark.sparkContext.pythonExec = spark.sparkContext.pythonExec, str(python)
    try:
        with pytest.raises(ValueError, match=match):
            priory.spark.fit(df, "class")
    finally:
        spark.sparkContext.pythonExec = usual


def test_a_stream_is_learnt_exactly_once(spark, tmp_path):
    block = next(code for code in re.findall(r"```python\n(.*?)```", engine.GUIDE.read_text(), re.DOTALL) if "foreachBatch" in code)
    incoming = engine.written(ROWS.slice(0, 3000), tmp_path / "incoming", files=3)
    names = {
        "spark": spark, "incoming": incoming, "models_folder": tmp_path / "models", "checkpoint": str(tmp_path / "checkpoint"),
        "schema": engine.schema(ROWS, judge="none"),
    }
    (tmp_path / "models").mkdir()
    exec(block, names)
    names["query"].awaitTermination()
    models = sorted((tmp_path / "models").iterdir())
    assert len(models) == 3
    expected = priory.statistics_of(ROWS.slice(0, 3000), schema=names["schema"])
    assert models[-1].read_bytes() == engine.bytes_of(priory.merge([expected]), tmp_path)
    # Spark hands a batch over again if it was lost before it was noted as done.
    names["learn_batch"](spark.read.parquet(incoming), 1)
    assert sorted((tmp_path / "models").iterdir()) == models
    assert models[-1].read_bytes() == engine.bytes_of(priory.merge([expected]), tmp_path)


def test_a_worker_is_killed_while_it_works(cluster, spark, folder, whole, tmp_path):
    """The last test: the cluster has one worker less then, and the session ends."""
    context = spark.sparkContext
    frame = spark.read.parquet(folder)
    partitions = frame.rdd.getNumPartitions()
    assert partitions >= 8
    names = frame.columns

    def slow(batches):
        """Hands rows on, but takes its time. It is inside another function, since workers do not have this module."""
        import time

        for batch in batches:
            time.sleep(1.0)
            yield batch

    frame = frame.toDF(*(f"c{i}" for i in range(len(names))))
    frame = frame.mapInArrow(slow, frame.schema).toDF(*names)
    schema = engine.schema(ROWS)
    context.setLogLevel("ERROR")
    models, errors = [], []

    def work():
        try:
            models.append(priory.spark.fit(frame, "class", schema=schema))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    tracker = context.statusTracker()

    def is_in_the_middle():
        assert thread.is_alive(), errors
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        # The stage that learns has as many tasks as the rows have partitions.
        learning = [stage for stage in stages if stage is not None and stage.numTasks == partitions]
        return any(stage.numCompletedTasks >= 1 and stage.numActiveTasks >= 2 for stage in learning)

    wait_until(is_in_the_middle, "a task that is done and two that run")
    cluster.kill(cluster.workers[1])
    thread.join(1200)
    assert not thread.is_alive() and not errors, errors
    assert engine.bytes_of(models[0], tmp_path) == whole
    spark.stop()
    events = [json.loads(line) for log in (cluster.folder / "events").iterdir() for line in log.read_text().splitlines()]
    attempts = [event["Task Info"]["Attempt"] for event in events if event["Event"] == "SparkListenerTaskStart"]
    assert max(attempts) > 0
    assert any(event["Event"] == "SparkListenerExecutorRemoved" for event in events)
