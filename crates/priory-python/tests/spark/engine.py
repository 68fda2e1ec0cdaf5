"""Rows of every kind on an engine, and what one machine makes of them."""

import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

import priory

GUIDE = Path(__file__).parents[4] / "docs" / "scale.md"
KINDS = {"note": "text", "a `count`": "number"}
TYPED = [word for column, kind in KINDS.items() for word in ("--as", f"{column}={kind}")]


def table(n, seed=3):
    """Columns of every kind, with missing values, odd names, and rows that occur several times."""
    random = np.random.default_rng(seed)
    words = np.array([f"w{k}" for k in range(2000)] + list("!.,"))
    likely = 1 / np.arange(1, len(words) + 1)
    notes = random.choice(words, (n, 8), p=likely / likely.sum())
    lengths = random.integers(0, 9, n)
    colours = np.array(["red", "green", "it's \"blue\"", None], dtype=object)
    moments = [None if k % 13 == 0 else datetime.datetime(2024, 1, 1) + datetime.timedelta(minutes=int(k)) for k in random.integers(0, 9**6, n)]
    classes = np.array(["no", "yes", "O'Brien \"x\"", None], dtype=object)
    chosen = random.choice(4, n, p=[0.6, 0.3, 0.09, 0.01])
    return pa.table({
        "size.in mm": pa.array(np.where(random.random(n) < 0.1, None, (random.normal(1e9, 2, n) + chosen).round(3).astype(object)), pa.float64()),
        "a `count`": pa.array(random.poisson(3 + chosen)),
        "zero": pa.array(random.choice(np.array([0.0, -0.0, float("nan"), 1.5]), n)),
        "colour": pa.array(random.choice(colours, n).tolist()),
        "seen": pa.array(random.choice(np.array([True, False, None], dtype=object), n).tolist()),
        "when": pa.array(moments, pa.timestamp("us", "UTC")),
        "price": pa.array((random.integers(-900, 4000, n) / 4).tolist(), pa.float64()).cast(pa.decimal128(12, 2)),
        "nothing": pa.nulls(n, pa.float64()),
        "note": pa.array([" ".join(note[:k]) if k else None for note, k in zip(notes.tolist(), lengths)]),
        "weight": pa.array(random.choice([1.0, 0.3, 2.0], n)),
        "class": pa.array(classes[chosen].tolist()),
    })


def written(rows, folder, files=4):
    """The rows as Parquet files in a folder."""
    folder.mkdir()
    step = -(-rows.num_rows // files)
    for number in range(files):
        pyarrow.parquet.write_table(rows.slice(number * step, step), folder / f"part-{number}.parquet")
    return str(folder)


def whole(program, rows, folder, *options):
    """The bytes of the model that the command line trains on all rows at once."""
    pyarrow.parquet.write_table(rows, folder / "whole.parquet")
    arguments = ["--target", "class", "--weight", "weight", *TYPED, *options]
    program("train", folder / "whole.parquet", *arguments, "-o", folder / "whole.priory")
    return (folder / "whole.priory").read_bytes()


def bytes_of(model, folder):
    """The bytes that `save` writes."""
    model.save(folder / "saved.priory")
    return (folder / "saved.priory").read_bytes()


def schema(rows, **options):
    return priory.schema_of(rows, "class", weight="weight", kinds=KINDS, **options)
