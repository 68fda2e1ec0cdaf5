"""Parts of a table give the bytes of one fit, whatever the parts, their order, how they are merged, and how often a task was run."""

import decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from command_line import program  # noqa: F401  (a fixture)

import priory
from priory import NaiveBayes


def table(n=400, seed=3):
    """Columns of every kind, with missing values, weights, and rows that occur several times."""
    random = np.random.default_rng(seed)
    words = np.array("the a cat dog sat on mat runs fast ! , . now".split())
    colours = np.array(["red", "green", "blue", None], dtype=object)
    days = np.datetime64("2024-01-01") + random.integers(0, 900, n)
    return pa.table({
        "size": np.where(random.random(n) < 0.1, np.nan, random.normal(1e9, 2, n).round(3)),
        "count": pa.array(random.poisson(3, n).tolist()),
        "zero": random.choice([0.0, -0.0, np.nan, 1.5], n),
        "colour": pa.array(random.choice(colours, n).tolist()),
        "seen": pa.array(random.choice([True, False, None], n).tolist()),
        "day": pa.array(days.astype("datetime64[D]")),
        "price": pa.array([decimal.Decimal(int(x)) / 4 for x in random.integers(-9, 40, n)], pa.decimal128(12, 2)),
        "nothing": pa.nulls(n, pa.float64()),
        "note": pa.array([" ".join(random.choice(words, k)) if k else None for k in random.integers(0, 9, n)]),
        "weight": random.choice([1.0, 0.3, 2.0], n),
        "class": pa.array([f"c{k}" if k < 3 else None for k in random.choice([0, 1, 1, 2, 3], n)]),
    })


KINDS = {"note": "text", "count": "number"}
WHOLE = table()


def bytes_of(model):
    return model._now()[0].to_bytes()


def whole(tmp_path_factory, program, rows, name, *options):  # noqa: F811
    """What the command line makes of all rows at once."""

    folder = tmp_path_factory.mktemp("whole")
    pyarrow.parquet.write_table(rows, folder / "rows.parquet")
    kinds = ["--as", "note=text", "--as", "count=number"] if "note" in rows.column_names else []
    program("train", folder / "rows.parquet", "--target", "class", "--weight", "weight", *kinds, *options, "-o", folder / name)
    return (folder / name).read_bytes()


@pytest.fixture(scope="module")
def wholes(tmp_path_factory, program):  # noqa: F811
    return {judge: whole(tmp_path_factory, program, WHOLE, "m.priory", "--judge", judge) for judge in ("auto", "none")}


def merged_as(tree, parts):
    """Merges parts as a tree says: a number of a part, or a list of trees."""
    if isinstance(tree, int):
        return parts[tree % len(parts)]
    return priory.merge([merged_as(branch, parts) for branch in tree], judge="later")


@given(data=st.data())
def test_any_partition_in_any_order_merged_in_any_way_gives_the_same_bytes(wholes, data):
    judge = data.draw(st.sampled_from(["auto", "none"]))
    n = WHOLE.num_rows
    order = data.draw(st.randoms(use_true_random=False))
    rows = list(range(n))
    order.shuffle(rows)
    cuts = sorted(data.draw(st.lists(st.integers(0, n), max_size=6)))
    shuffled = WHOLE.take(rows)
    schema = priory.schema_of(WHOLE, "class", weight="weight", kinds=KINDS, judge=judge)
    pieces = [shuffled.slice(start, end - start) for start, end in zip([0, *cuts], [*cuts, n])]
    batch_rows = data.draw(st.integers(1, 150))
    parts = []
    for piece in pieces:
        learn = lambda: priory.statistics_of(iter(piece.to_batches(max_chunksize=batch_rows)), schema=schema)  # noqa: E731
        parts.append(learn())
        if data.draw(st.booleans()):  # the task is run again, as after a worker was lost
            assert learn() == parts[-1]
    order.shuffle(parts)
    while len(parts) > 2 and data.draw(st.booleans()):
        cut = data.draw(st.integers(1, len(parts) - 1))
        parts = [priory.merge(parts[:cut], judge="later"), *parts[cut:]]
    assert bytes_of(priory.merge(parts, judge=judge)) == wholes[judge]


def test_the_files_are_those_of_the_command_line(wholes, program, tmp_path):  # noqa: F811
    schema = priory.schema_of(WHOLE, "class", weight="weight", kinds=KINDS)
    for number in range(3):
        part = priory.statistics_of(WHOLE.slice(number * 150, 150), schema=schema)
        (tmp_path / f"{number}.priory").write_bytes(part)
    program("merge", tmp_path / "*.priory", "-o", tmp_path / "all")
    assert (tmp_path / "all").read_bytes() == wholes["auto"]


def test_a_fit_of_the_same_rows_is_the_same_model():
    frame = WHOLE.drop_columns(["weight", "class"]).filter(pa.compute.is_valid(WHOLE["class"]))
    rows = WHOLE.filter(pa.compute.is_valid(WHOLE["class"]))
    fitted = NaiveBayes(kinds=KINDS).fit(frame, rows["class"].to_pandas())
    parts = [priory.statistics_of(piece, "class", kinds={**KINDS, "weight": "ignore"}) for piece in (rows,)]
    assert priory.merge(parts) == fitted


def test_groups_and_joint_tables():
    schema = priory.schema_of(
        WHOLE, "class", kinds={"*": "ignore", "size": "group", "zero": "group", "colour": "joint", "seen": "joint"}, discriminant="linear"
    )
    parts = [priory.statistics_of(WHOLE.slice(start, 100), schema=schema) for start in range(0, 400, 100)]
    at_once = priory.statistics_of(WHOLE, schema=schema)
    assert priory.merge(parts, judge="later") == at_once
    assert priory.merge(parts[::-1]) == priory.merge([at_once])


@pytest.mark.parametrize("of", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())])
def test_every_layout_of_strings(of):
    plain = WHOLE.select(["colour", "class"])
    schema = priory.schema_of(plain, "class")
    column = plain["colour"].cast(pa.string()).combine_chunks()
    cast = column.dictionary_encode().cast(of) if pa.types.is_dictionary(of) else column.cast(of)
    other = plain.set_column(0, "colour", cast)
    assert priory.statistics_of(other, schema=schema) == priory.statistics_of(plain, schema=schema)


def test_no_rows_at_all():
    schema = priory.schema_of(WHOLE, "class", weight="weight", kinds=KINDS)
    assert priory.statistics_of(iter([]), schema=schema) == schema
    assert priory.statistics_of(WHOLE.slice(0, 0), schema=schema) == schema
    assert priory.statistics_of(iter(WHOLE.slice(0, 0).to_batches()), schema=schema) == schema
    part = priory.statistics_of(WHOLE, schema=schema)
    assert priory.merge([schema, part, schema]) == priory.merge([part])
    with pytest.raises(ValueError, match="no rows that could tell what the columns are"):
        priory.statistics_of(iter([]), "class")
    with pytest.raises(ValueError, match="nothing was learnt|no rows"):
        priory.merge([schema])
    with pytest.raises(ValueError, match="there is no part to merge"):
        priory.merge([])


def test_a_class_that_one_part_alone_has():
    rows = pa.table({"x": [1.0, 2.0, 3.0, 4.0], "class": ["a", "a", "b", "a"]})
    schema = priory.schema_of(rows, "class")
    parts = [priory.statistics_of(rows.slice(row, 1), schema=schema) for row in range(4)]
    assert priory.merge(parts).class_count_.tolist() == [3.0, 1.0]


def test_what_differs_is_named():
    schema = priory.schema_of(WHOLE, "class", weight="weight", kinds=KINDS)
    other = priory.statistics_of(WHOLE, "class", weight="weight", kinds={**KINDS, "count": "category"})
    with pytest.raises(ValueError, match="part 2: .*`?count`?"):
        priory.merge([schema, other])
    here, there = pa.record_batch({"x": [1], "class": ["a"]}), pa.record_batch({"x": ["one"], "class": ["a"]})
    with pytest.raises(ValueError, match="the column 'x' holds int64 in the first batch and string in batch 2"):
        priory.statistics_of(iter([here, there]), "class")
    with pytest.raises(ValueError, match="batch 2 is not like the first: only one of the two has the column 'x'"):
        priory.statistics_of(iter([here, there.drop_columns(["x"])]), "class")
    schema = priory.schema_of(pa.table(here), "class", kinds={"x": "number"})
    with pytest.raises(ValueError, match="row 2, column `?x`?: `?one`? is not a number"):
        priory.statistics_of(iter([pa.record_batch({"x": ["1", "one"], "class": ["a", "b"]})]), schema=schema)
    tolerant = priory.statistics_of(pa.table(there), schema=schema, on_bad_value="missing")
    assert priory.merge([schema, tolerant]).class_count_.tolist() == [1.0]


def test_what_is_not_for_parts_is_refused():
    for options, match in [
        ({"half_life": 10}, "half_life"),
        ({"class_weight": "balanced"}, "weight names a column"),
        ({"warm_rows": 5}, "schema_of"),
    ]:
        with pytest.raises(ValueError, match=match):
            priory.statistics_of(WHOLE, "class", **options)
    schema = priory.schema_of(WHOLE, "class")
    with pytest.raises(ValueError, match="schema says all about the columns"):
        priory.statistics_of(WHOLE, "class", schema=schema)
    with pytest.raises(ValueError, match="schema says all about the columns"):
        priory.statistics_of(WHOLE, schema=schema, smoothing=1)
    with pytest.raises(ValueError, match="say with target"):
        priory.statistics_of(WHOLE)
    with pytest.raises(ValueError, match="a single one"):
        priory.merge(schema)
    with pytest.raises(ValueError, match="part 1: "):
        priory.merge([b"nonsense"])
    ageing = NaiveBayes(half_life=10).fit({"x": ["a", "b"]}, ["c", "d"])
    with pytest.raises(ValueError, match="cannot be learnt in parts"):
        priory.merge([bytes_of(ageing)])


def test_what_goes_wrong_in_the_rows_is_raised_as_it_is():
    def broken():
        yield from WHOLE.to_batches(max_chunksize=100)[:2]
        raise ConnectionError("the disk is gone")

    with pytest.raises(ConnectionError, match="the disk is gone"):
        priory.statistics_of(broken(), "class")


def test_parts_of_other_settings_and_parts_that_were_judged_are_told_of():
    half = [WHOLE.slice(0, 200), WHOLE.slice(200)]
    parts = [priory.statistics_of(rows, "class", kinds=KINDS, smoothing=a, judge="none") for rows, a in zip(half, (1, 2))]
    with pytest.warns(UserWarning, match="1 of the parts have other settings"):
        priory.merge(parts)
    judged = [bytes_of(priory.merge([priory.statistics_of(rows, "class", kinds=KINDS)])) for rows in half]
    with pytest.warns(UserWarning, match="judged by different rows"):
        priory.merge(judged)
