"""The recipes for Dask and Ray, as docs/scale.md gives them."""

import re

import engine
import pytest

import priory

# Pandas knows no decimals, and Dask makes strings of truth values among which some are missing.
ROWS = engine.table(2000).drop_columns(["price", "seen"])
KINDS = {"kinds": engine.KINDS, "weight": "weight"}


def recipe(name):
    (block,) = re.findall(rf"```python {name}\n(.*?)```", engine.GUIDE.read_text(), re.DOTALL)
    names = {}
    exec(block, names)
    return names[f"learn_on_{name}"]


def at_once():
    return priory.merge([priory.statistics_of(ROWS, "class", **KINDS)])


def test_dask():
    dataframe = pytest.importorskip("dask.dataframe")
    model = recipe("dask")(dataframe.from_pandas(ROWS.to_pandas(), npartitions=11), "class", **KINDS)
    assert model == at_once()


def start(ray):
    """Ray waits 30 seconds for itself, which a busy machine may need twice."""
    for attempt in range(8):
        try:
            return ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", object_store_memory=200 << 20)
        except Exception as error:
            ray.shutdown()
            if attempt == 7 or "timed out during startup" not in str(error):
                raise


def test_ray():
    ray = pytest.importorskip("ray")
    start(ray)
    try:
        model = recipe("ray")(ray.data.from_arrow([ROWS.slice(start, 700) for start in range(0, 2000, 700)]), "class", **KINDS)
        assert model == at_once()
    finally:
        ray.shutdown()
