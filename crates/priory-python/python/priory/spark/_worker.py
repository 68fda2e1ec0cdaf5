"""What runs on the workers of a cluster: functions of nothing but their rows, which may be run again at any time."""

from contextlib import contextmanager

import pyarrow
import pyarrow.compute

import priory
from priory import _priory
from priory._model import NaiveBayes
from priory._parts import learn_part, sum_of
from priory.spark._tasks import marked

# What tasks hand on: a part of a fold, or a piece of it. Engines limit how long a message to the driver may be.
COLUMNS = "fold int, piece int, pieces int, part binary"
_SCHEMA = pyarrow.schema(
    [("fold", pyarrow.int32()), ("piece", pyarrow.int32()), ("pieces", pyarrow.int32()), ("part", pyarrow.binary())]
)
_PIECE = 8 << 20
# So many rows of a fold are learnt or evaluated at a time.
_ROWS = 1 << 16


def learn(batches, names, schema, tolerant, spellings):
    """Learns all rows of a partition, and yields one part."""
    with _place():
        part = learn_part(_named(batches, names), schema, tolerant, spellings, alone=True)
    if part != schema:  # tasks without rows have nothing to hand on
        yield _row(part)


def learn_folds(batches, names, schema, tolerant):
    """Learns the rows of a partition, and yields one part for each fold, whose number is in the last column."""
    sums = {}
    with _place():
        for number, rows in _by_fold(batches, names):
            known = [sums[number]] if number in sums else []
            part = learn_part(iter(rows), schema, tolerant, alone=True)
            sums[number] = sum_of([*known, part]).to_bytes()
    for number, part in sums.items():
        yield _row(part, number)


def merge(batches, in_pieces):
    """Merges the parts that have come to a partition, and yields one sum for each fold; in pieces, if the driver is to take them."""
    sums = {}
    with _place():
        for row in _rows(batches):
            total = sums.setdefault(row["fold"], _priory.PartSum())
            total.add(row["part"])
    for fold in list(sums):
        part = sums.pop(fold).to_bytes()
        if not in_pieces:
            yield _row(part, fold)
            continue
        pieces = range(0, len(part), _PIECE)
        for number, start in enumerate(pieces):
            yield _row(part[start : start + _PIECE], fold, number, len(pieces))


def predict(batches, names, model, tolerant, added, labels_are_numbers):
    """Adds predictions to every batch: the class, and if more than one column is to be added the probability of each class."""
    if _partition() is not None:
        priory.set_threads(1)  # this process is a worker of Spark, which has one core
    model, rows = _model(model), 0
    model.on_bad_value = "missing" if tolerant else "error"
    for batch in _named(batches, names):
        with _place(f"rows {rows + 1:,} to {rows + batch.num_rows:,}"):
            yield _with_predictions(batch, model, added, labels_are_numbers)
        rows += batch.num_rows


def evaluate(batches, names, models, tolerant):
    """Evaluates the rows of a partition, each by the model of its fold, and yields an evaluation."""
    models, evaluations = _folds(models), []
    with _place():
        for number, rows in _by_fold(batches, names):
            table = _table(rows, tolerant)
            evaluations.append(_priory.evaluate_part(table, models[number]))
            if len(evaluations) > 20:
                evaluations = [_priory.merge_evaluations(evaluations)]
    if evaluations:
        yield _row(_priory.merge_evaluations(evaluations))


def merge_evaluations(batches):
    """Merges the evaluations that have come to a partition."""
    evaluations = [row["part"] for row in _rows(batches)]
    if evaluations:
        with _place():
            yield _row(_priory.merge_evaluations(evaluations))


def _table(batches, tolerant):
    reader = pyarrow.RecordBatchReader.from_batches(batches[0].schema, batches)
    table = _priory.Table.from_stream(reader.__arrow_c_stream__())
    return table.tolerant() if tolerant else table


def _named(batches, names):
    for batch in batches:
        yield pyarrow.RecordBatch.from_arrays(batch.columns[: len(names)], names=names)


def _with_predictions(batch, model, added, labels_are_numbers):
    if batch.num_rows == 0:
        answers, shares = [], [[] for _ in added[1:]]
    else:
        answers = model.predict(batch).tolist()
        shares = model.predict_proba(batch).T if len(added) > 1 else []
    answers = pyarrow.array(answers, pyarrow.int64() if labels_are_numbers else pyarrow.string())
    shares = [pyarrow.array(share, pyarrow.float64()) for share in shares]
    return pyarrow.RecordBatch.from_arrays([*batch.columns, answers, *shares], names=[*batch.schema.names, *added])


def _by_fold(batches, names):
    """The rows of a partition by their fold, many at a time."""
    waiting, rows = {}, {}
    for numbered in batches:
        folds = numbered.column(len(names))
        (batch,) = _named([numbered], names)
        for number in pyarrow.compute.unique(folds).to_pylist():
            some = batch.filter(pyarrow.compute.equal(folds, number))
            waiting.setdefault(number, []).append(some)
            rows[number] = rows.get(number, 0) + some.num_rows
            if rows[number] >= _ROWS:
                yield number, waiting.pop(number)
                del rows[number]
    yield from sorted(waiting.items())


def _row(part, fold=0, piece=0, pieces=1):
    return pyarrow.record_batch([[fold], [piece], [pieces], [part]], schema=_SCHEMA)


def _rows(batches):
    for batch in batches:
        for row in range(batch.num_rows):
            yield {name: batch.column(i)[row].as_py() for i, name in enumerate(_SCHEMA.names)}


# What was read last, for the next task of the same worker.
_last = (None, None)


def _read_once(carried, read):
    """What is made of a broadcast variable, or of what was sent with the task: it is read once in every worker."""
    global _last
    digest, carrier = carried
    if _last[0] != digest:
        _last = (digest, read(carrier.value if hasattr(carrier, "value") else carrier))
    return _last[1]


def _model(carried):
    return _read_once(carried, lambda part: NaiveBayes._of(_priory.Learnt.from_bytes(part)))


def _folds(carried):
    return _read_once(carried, lambda parts: [_priory.Learnt.from_bytes(part).now() for part in parts])


@contextmanager
def _place(where=None):
    """Says of what goes wrong in which partition it was. A panic becomes an exception like any other: it must not end the worker,
    which would look as if the machine were lost."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        what = str(error)
        if type(error).__name__ == "PanicException":
            what = f"{what} (this should not happen; please report it)"
        place = ", ".join(filter(None, [_partition(), where]))
        raise RuntimeError(marked(f"{place}: {what}" if place else what)) from error


def _partition():
    """The number of the partition, where the engine tells."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return None if context is None else f"partition {context.partitionId()}"
