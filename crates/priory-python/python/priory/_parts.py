"""Parts of a table that are learnt apart, wherever that is, and merged."""

import itertools

from priory import _priory
from priory._model import NaiveBayes
from priory._rows import Rows, is_pandas
from priory._warn import warn


def schema_of(sample, target, *, weight=None, **options):
    """What the columns of a table are, and what is chosen about them, for parts of it that are to be merged.

    Parameters
    ----------
    sample : table, or iterable of tables
        Some rows, with their classes: anything that `NaiveBayes` takes, or an iterator of Arrow record batches, of which no more
        are read than are needed. As in `fit`, the first 10,000 rows tell what each column is.
    target : str
        The column of the classes.
    weight : str, default=None
        The column that says how much each row counts.
    **options
        The parameters of `NaiveBayes`, but `half_life`, `class_weight` and `warm_rows`, which are not for parts.

    Returns
    -------
    schema : bytes
        A part of no rows, for `statistics_of`. It is a model file.
    """
    choices, tolerant = _chosen(options)
    rows = _OpenRows(sample, tolerant)
    with rows:
        return _priory.schema_of(rows.table("there are no rows that could tell what the columns are"), target, weight, choices)


def statistics_of(batches, target=None, *, weight=None, schema=None, **options):
    """Learn a part of a table, as bytes that `merge` takes.

    Whatever the parts, the order in which they are merged, and how often a task was run again: what was learnt from the same rows
    has the bytes of one `fit`.

    Parameters
    ----------
    batches : table, or iterable of tables
        The rows, with their classes: anything that `NaiveBayes` takes, or an iterator of Arrow record batches, which are read one
        after the other.
    target : str, default=None
        The column of the classes, if there is no schema: what the columns are is then inferred from these rows.
    weight : str, default=None
        The column that says how much each row counts, if there is no schema.
    schema : bytes, default=None
        What `schema_of` says of the table, or any other part of it, so that all parts agree. A column of categories that are numbers
        must have one type in all of them: 1 and 1.0 are written differently.
    **options
        The parameters of `NaiveBayes`, if there is no schema; with one, only `on_bad_value`.

    Returns
    -------
    part : bytes
        What was learnt. Unless `judge` is "none" it has a sample of the rows, by which `merge` judges. It is a model file, which
        `priory merge` takes as well.

    Examples
    --------
    >>> import priory
    >>> monday = {"outlook": ["sunny", "rain"], "wind": [3.5, None], "play": ["yes", "no"]}
    >>> tuesday = {"outlook": ["overcast"], "wind": [2.0], "play": ["yes"]}
    >>> schema = priory.schema_of(monday, "play")
    >>> parts = [priory.statistics_of(day, schema=schema) for day in (tuesday, monday)]
    >>> model = priory.merge(parts)
    >>> model.class_count_.tolist()
    [1.0, 2.0]
    """
    if schema is None:
        if target is None:
            raise ValueError("say with target which column holds the classes, or give a schema")
        choices, tolerant = _chosen(options)
        with _OpenRows(batches, tolerant) as rows:
            table = rows.table("there are no rows that could tell what the columns are; schema says it beforehand")
            return _priory.learn_first_part(table, target, weight, choices)
    if target is not None or weight is not None or set(options) - {"on_bad_value"}:
        raise ValueError("schema says all about the columns: target, weight and other parameters cannot be given beside it")
    return learn_part(batches, schema, _chosen(options)[1])


def learn_part(batches, schema, tolerant, spellings=None, alone=False):
    """A part of these rows; with `alone`, on this thread and no other."""
    with _OpenRows(batches, tolerant) as rows:
        table = rows.table(None)
        return bytes(schema) if table is None else _priory.learn_part(table, bytes(schema), spellings or {}, alone)


def merge(parts, *, judge="auto"):
    """Merge parts of a table that were learnt apart.

    Parameters
    ----------
    parts : iterable of bytes
        What `statistics_of` has given, in any order. One at a time is in memory, beside the sum.
    judge : {"auto", "none", "weights", "pairs", "full", "later"}, default="auto"
        How far what the columns say is judged, as for `NaiveBayes`: by the rows that the parts have kept. With "later" the sum
        is a part again, for merging in several steps.

    Returns
    -------
    merged : NaiveBayes, or bytes with judge="later"
        What all parts have learnt.
    """
    return concluded(sum_of(parts), judge)


def concluded(total, judge):
    """The model of a sum of parts, or the sum as a part if it is to be judged later."""
    if judge == "later":
        return total.to_bytes()
    counted, is_left_unjudged = total.concluded(judge)
    if is_left_unjudged:
        warn("the parts were judged by different rows, so their sum is not judged; judge_again does it")
    return NaiveBayes._of(counted)


def sum_of(parts):
    """The sum of some parts."""
    if isinstance(parts, (bytes, bytearray, memoryview)):
        raise ValueError("merge takes several parts, such as a list of bytes, and this is a single one")
    total = _priory.PartSum()
    others = 0
    for number, part in enumerate(parts, 1):
        try:
            others += not total.add(bytes(part))
        except ValueError as error:
            raise ValueError(f"part {number}: {error}") from None
    if others:
        warn(f"{others} of the parts have other settings than the first, whose settings are kept")
    return total


def _chosen(options):
    """The choices, and whether words among numbers are taken as missing."""
    model = NaiveBayes(**options)
    if model.half_life is not None:
        raise ValueError(
            "half_life: rows that age come one after the other, and cannot be learnt in parts; fit and partial_fit learn them"
        )
    if model.class_weight is not None:
        raise ValueError("class_weight: a part does not see all rows; weight names a column that says how much each row counts")
    if model.warm_rows is not None:
        raise ValueError("warm_rows: schema_of says what the columns are before the first part is learnt")
    return model._choices(), model._is_tolerant()


class _OpenRows:
    """Rows that are about to be read. What goes wrong in the iterator that they come from is raised as it is."""

    def __init__(self, batches, tolerant):
        self._batches, self._tolerant = batches, tolerant
        self._raised = None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if self._raised is not None and isinstance(error, Exception):
            raise self._raised from None

    def table(self, otherwise):
        """The rows as a table; if there is not even an empty one, an error that says so, or None."""
        if not _are_several(self._batches):
            return Rows(self._batches, self._tolerant).table()
        import pyarrow

        batches = itertools.chain.from_iterable(map(_record_batches, self._batches))
        first = next(batches, None)
        if first is None:
            if otherwise is None:
                return None
            raise ValueError(otherwise)
        all_batches = self._checked(first.schema, itertools.chain([first], batches))
        reader = pyarrow.RecordBatchReader.from_batches(first.schema, all_batches)
        table = _priory.Table.from_stream(reader.__arrow_c_stream__())
        return table.tolerant() if self._tolerant else table

    def _checked(self, schema, batches):
        try:
            for number, batch in enumerate(batches, 1):
                if batch.schema != schema:
                    _check_like_first(schema, batch.schema, number)
                    batch = batch.cast(schema)
                yield batch
        except Exception as error:
            self._raised = error
            raise


def _are_several(batches):
    """Whether these are tables that follow each other, and not one of them."""
    if isinstance(batches, (list, tuple)):
        return not batches or hasattr(batches[0], "__arrow_c_stream__") or is_pandas(batches[0])
    return hasattr(batches, "__next__") and not hasattr(batches, "__arrow_c_stream__")


def _record_batches(table):
    import pyarrow

    if isinstance(table, pyarrow.RecordBatch):
        return [table]
    if is_pandas(table):
        return pyarrow.Table.from_pandas(table, preserve_index=False).to_batches()
    return pyarrow.table(table).to_batches()


def _check_like_first(first, schema, number):
    """Refuse a batch whose columns are not those of the first; names the first of them. Metadata do not matter."""
    if schema.names != first.names:
        differ = [name for name in [*first.names, *schema.names] if (name in first.names) != (name in schema.names)]
        what = f"only one of the two has the column {differ[0]!r}" if differ else "the columns stand in another order"
        raise ValueError(f"batch {number} is not like the first: {what}")
    for field, other in zip(first, schema):
        if field.type != other.type:
            raise ValueError(
                f"the column {field.name!r} holds {field.type} in the first batch and {other.type} in batch {number}; cast it to "
                "one type"
            )
