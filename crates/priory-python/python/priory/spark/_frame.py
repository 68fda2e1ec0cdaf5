"""What is done with DataFrames of Spark, of whichever kind: classic, Connect or Sail's."""

import hashlib

from priory.spark._tasks import one_error, task
from priory.spark._worker import COLUMNS

# How many tasks merge what all others have learnt, before the driver merges theirs.
MERGING_TASKS = 8


def check(df):
    """Refuse what is no DataFrame of rows that are there."""
    if not hasattr(df, "mapInArrow"):
        raise ValueError(f"expected a DataFrame of Spark, got {type(df).__module__}.{type(df).__name__}; NaiveBayes takes others")
    if df.isStreaming:
        raise ValueError("a stream has no end: learn from its batches with foreachBatch, as docs/scale.md shows")


def column(name):
    """A column by its name, whatever is in that."""
    from pyspark.sql import functions as F

    return F.col("`" + name.replace("`", "``") + "`")


def only(df, names):
    """These columns and no others, so that no more is handed to Python than is needed. They are called c0, c1 and so on, since Spark's
    own code stumbles over points and backticks in names; tasks call them by their names again."""
    absent = [name for name in names if name not in df.columns]
    if absent:
        raise ValueError(f"the DataFrame has no column {absent[0]!r}; there are {', '.join(map(repr, df.columns[:20]))}")
    return df.select(*(column(name).alias(f"c{i}") for i, name in enumerate(names)))


def parts(df, merging_tasks):
    """What the tasks of a DataFrame hand on, merged by so many tasks: pairs of a fold and a part, one at a time."""
    several = [merging_tasks] if isinstance(merging_tasks, int) else list(merging_tasks)
    for level, tasks in enumerate(several, 1):
        df = df.repartition(tasks).mapInArrow(task("merge", level == len(several)), COLUMNS)
    pieces = []
    for row in rows(df):
        pieces.append(bytes(row["part"]))
        if len(pieces) == row["pieces"]:
            yield row["fold"], b"".join(pieces)
            pieces = []


def rows(df):
    """The rows of a small DataFrame, one partition after the other; an error of a task as one exception."""
    with one_error():
        yield from df.toLocalIterator()


def carried(df, value, *described):
    """A value for all tasks: a broadcast variable, which every machine is sent once, where the engine has such; with a digest."""
    digest = hashlib.sha256(b"".join(described)).hexdigest()
    if type(df).__module__.startswith("pyspark.sql.connect"):
        return digest, value
    return digest, df.sparkSession.sparkContext.broadcast(value)
