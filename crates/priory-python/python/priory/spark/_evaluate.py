"""How good a model of the rows of a DataFrame of Spark is at rows that it has not seen."""

import json

from priory import _parts, _priory
from priory.spark._fit import schema_of
from priory.spark._frame import MERGING_TASKS, carried, check, column, only, parts, rows
from priory.spark._tasks import task
from priory.spark._worker import COLUMNS


def evaluate(df, target, folds=10, *, weight=None, schema=None, cut_offs=None, merging_tasks=MERGING_TASKS, **options):
    """Cross-validate on a DataFrame of Spark, in two passes over its rows: each row is predicted by a model of the other folds.

    Which fold a row is in follows from a hash of what it holds, so that it is the same in both passes and whenever a task is run
    again, and rows that hold the same are never on both sides. `NaiveBayes.evaluate` deals rows in their order instead, which a
    DataFrame does not have; the folds are others there.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        The rows.
    target : str
        The column of the classes.
    folds : int, default=10
        How many folds there are.
    weight : str, default=None
        The column that says how much each row counts.
    schema : bytes, default=None
        What `schema_of` says of the table. By default the first 10,000 rows tell what the columns are.
    cut_offs : list of float, default=None
        Cut-offs of the probability of the positive class to report on.
    merging_tasks : int or list of int, default=8
        As for `fit`.
    **options
        The parameters of `NaiveBayes`, but `half_life`, `class_weight` and `warm_rows`.

    Returns
    -------
    report : dict
        The report of `NaiveBayes.evaluate`.
    """
    check(df)
    if not 2 <= folds <= 100:
        raise ValueError(f"{folds} folds were asked for; it takes 2 to 100")
    if schema is None:
        schema = schema_of(df, target, weight=weight, **options)
    judge, tolerant = options.get("judge", "auto"), options.get("on_bad_value") == "missing"
    dealt, names = _dealt(df, schema, folds)

    sums = {}
    learnt = dealt.mapInArrow(task("learn_folds", names, schema, tolerant), COLUMNS)
    for fold, part in parts(learnt, merging_tasks):
        sums.setdefault(fold, _priory.PartSum()).add(part)
    sums = {fold: total.to_bytes() for fold, total in sums.items()}
    models = [_model_without(fold, sums, judge) for fold in range(folds)]

    work = task("evaluate", names, carried(df, models, *models), tolerant)
    evaluated = dealt.mapInArrow(work, COLUMNS).repartition(MERGING_TASKS).mapInArrow(task("merge_evaluations"), COLUMNS)
    evaluations = [bytes(row["part"]) for row in rows(evaluated)]
    return {**json.loads(_priory.report_of_evaluations(evaluations, list(cut_offs or []))), "folds": folds}


def _dealt(df, schema, folds):
    """The columns that are needed, and after them the fold of each row; and the names of the former."""
    from pyspark.sql import functions as F

    target, weight, features = _priory.columns_of_part(schema)
    names = [*features, target] if weight is None else [*features, target, weight]
    needed = only(df, names)
    fold = F.pmod(F.xxhash64(*map(column, needed.columns)), F.lit(folds)).cast("int")
    return needed.withColumn("fold", fold), names


def _model_without(fold, sums, judge):
    """A model of all folds but one."""
    others = [part for other, part in sums.items() if other != fold]
    if not others:
        raise ValueError("all rows are in one fold, which leaves none to train on; there are too few of them")
    return _parts.merge(others, judge=judge)._now()[0].to_bytes()
