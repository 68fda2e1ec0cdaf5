"""Predictions as columns of DataFrames of Spark."""

import numpy as np

from priory._warn import warn
from priory.spark._frame import carried, check, only
from priory.spark._tasks import task


def predict(df, model, probabilities=False):
    """Add the predictions of a model to a DataFrame of Spark.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        The rows. Columns are found by name; others are passed through, and one that is not there counts as missing, with a warning.
    model : NaiveBayes
        The model. Every executor is sent it once, and every worker reads it once.
    probabilities : bool, default=False
        Whether to add the probability of each class.

    Returns
    -------
    predicted : pyspark.sql.DataFrame
        The DataFrame with the column `prediction` and, with `probabilities`, a column `P(class)` for each class, as `priory predict`
        writes them. As with all of Spark, nothing is computed before it is asked for.
    """
    check(df)
    from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType

    now, told = model._now()
    used = told.used(now)
    missing = [name for name in used if name not in df.columns]
    if missing and len(missing) == len(used):
        raise ValueError(f"the DataFrame has none of the columns of the model, such as {sorted(missing)[0]!r}")
    if missing:
        warn(f"the DataFrame does not have {', '.join(map(repr, sorted(missing)[:5]))}, which counts as missing in every row")
    names = ["prediction", *(f"P({label})" for label in told.classes.tolist())] if probabilities else ["prediction"]
    taken = [name for name in names if name in df.columns]
    if taken:
        raise ValueError(f"the DataFrame has a column {taken[0]!r} already; rename it or drop it")
    are_numbers = np.issubdtype(told.classes.dtype, np.integer) and not now.may_be_unsure()
    fields = [StructField(names[0], LongType() if are_numbers else StringType())]
    fields += [StructField(name, DoubleType()) for name in names[1:]]
    part = now.to_bytes()
    work = task("predict", df.columns, carried(df, part, part), model._is_tolerant(), names, bool(are_numbers))
    return only(df, df.columns).mapInArrow(work, StructType([*df.schema.fields, *fields]))
