"""Learning the rows of DataFrames of Spark."""

from priory import _parts, _priory
from priory._rows import labels_of
from priory.spark._frame import MERGING_TASKS, check, only, parts
from priory.spark._tasks import one_error, task
from priory.spark._worker import COLUMNS

# As many rows tell what the columns are as on one machine.
SAMPLE_ROWS = 10_000


def fit(df, target, *, weight=None, schema=None, merging_tasks=MERGING_TASKS, **options):
    """Learn the rows of a DataFrame of Spark.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        The rows, of any kind of Spark: classic, Connect, Databricks or Sail.
    target : str
        The column of the classes.
    weight : str, default=None
        The column that says how much each row counts.
    schema : bytes, default=None
        What `schema_of` or `priory.schema_of` says of the table. By default the first 10,000 rows tell what the columns are.
    merging_tasks : int or list of int, default=8
        How many tasks merge what all others have learnt. A list is a tree: with `[64, 8]`, 64 tasks merge the parts of thousands
        of tasks, 8 merge the sums of those, and the driver merges these one after the other.
    **options
        The parameters of `NaiveBayes`, but `half_life`, `class_weight` and `warm_rows`.

    Returns
    -------
    model : NaiveBayes
        A model whose file has the bytes of training on the same rows on one machine.

    Raises
    ------
    ValueError
        If rows cannot be learnt: with the partition, the row in it, and the column. If a worker lacks the package.
    """
    judge = options.get("judge", "auto")
    if schema is None:
        schema = schema_of(df, target, weight=weight, **options)
    learnt = _learnt(df, schema, {}, merging_tasks, options.get("on_bad_value", "error"))
    return _parts.concluded(learnt, judge)


def schema_of(df, target, *, weight=None, **options):
    """What the columns of a DataFrame are, by its first rows, as `priory.schema_of` has it.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        The rows.
    target : str
        The column of the classes.
    weight : str, default=None
        The column that says how much each row counts.
    **options
        The parameters of `NaiveBayes`, but `half_life`, `class_weight` and `warm_rows`.

    Returns
    -------
    schema : bytes
        A part of no rows.
    """
    check(df)
    only(df, [target] if weight is None else [target, weight])
    with one_error():
        sample = df.limit(SAMPLE_ROWS).toArrow()
    return _parts.schema_of(sample, target, weight=weight, **options)


def statistics_of(df, schema, *, merging_tasks=MERGING_TASKS, on_bad_value="error"):
    """Learn the rows of a DataFrame as a part, which `priory.merge` and `priory merge` take.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        The rows.
    schema : bytes
        What `schema_of` says of the table, or any other part of it.
    merging_tasks : int or list of int, default=8
        As for `fit`.
    on_bad_value : {"error", "missing"}, default="error"
        What happens to a word in a column of numbers.

    Returns
    -------
    part : bytes
        What was learnt.
    """
    return _learnt(df, schema, {}, merging_tasks, on_bad_value).to_bytes()


def partial_fit(model, df, *, merging_tasks=MERGING_TASKS):
    """Learn more rows, such as those of last night: as `NaiveBayes.partial_fit` does, with the same bytes.

    Parameters
    ----------
    model : NaiveBayes
        The model, which is changed.
    df : pyspark.sql.DataFrame
        The rows. Their classes are in the column of which the model knows.
    merging_tasks : int or list of int, default=8
        As for `fit`.

    Returns
    -------
    model : NaiveBayes
        The same model.
    """
    more = _of_model(model, df, merging_tasks).learnt().now()
    texts = [name for name, _ in more.classes()]
    model._learnt.name(dict(zip(texts, labels_of(texts))))
    model._learnt.counted.merge_rows(more)
    return model


def forget(model, df, *, merging_tasks=MERGING_TASKS):
    """Forget rows that were learnt, such as those of people who ask for it, as if they had never been.

    Parameters
    ----------
    model : NaiveBayes
        The model, which is changed.
    df : pyspark.sql.DataFrame
        The rows, with their classes.
    merging_tasks : int or list of int, default=8
        As for `fit`.

    Returns
    -------
    model : NaiveBayes
        The same model.

    Raises
    ------
    ValueError
        If rows cannot have been learnt. Nothing is forgotten then.
    """
    model._learnt.counted.subtract(_of_model(model, df, merging_tasks).learnt().now())
    return model


def _of_model(model, df, merging_tasks):
    """What the rows of a DataFrame come to, for this model."""
    model._check_is_fitted()
    model._decide()
    now, _ = model._now()
    return _learnt(df, now.empty_part(), now.spellings(), merging_tasks, model.on_bad_value)


def _learnt(df, schema, spellings, merging_tasks, on_bad_value):
    check(df)
    target, weight, features = _priory.columns_of_part(schema)
    names = [*features, target] if weight is None else [*features, target, weight]
    work = task("learn", names, schema, on_bad_value == "missing", spellings)
    learnt = only(df, names).mapInArrow(work, COLUMNS)
    total = _priory.PartSum()
    total.add(schema)  # there may be no rows at all
    for _, part in parts(learnt, merging_tasks):
        total.add(part)
    return total
