"""What is sent to the workers of a cluster, and what they say when something goes wrong.

A task is a function inside a function, so that it is sent as it is, and not as the name of a module that a worker may not have. So
it can say in one sentence what a worker lacks.
"""

import re
from contextlib import contextmanager

import priory

# The sentence for people, between what Spark and Python say around it.
_MARKED = re.compile(r"priory: (.*?) :priory", re.DOTALL)


def task(work, *arguments):
    """A function for `mapInArrow`: `work` of the module `priory.spark._worker`, with these arguments after the batches."""
    version = priory.__version__

    def run(batches):
        try:
            import priory
        except Exception as error:
            import platform
            import sys

            sentence = (
                f"priory: the worker {platform.node()} cannot import priory {version} with {sys.executable}: {error}. Install the "
                "wheel on every worker, or send an environment that has it: spark-submit --archives ENVIRONMENT.tar.gz#environment, "
                "or spark.addArtifact('ENVIRONMENT.tar.gz#environment', archive=True) :priory"
            )
            raise RuntimeError(sentence) from error
        if priory.__version__ != version:
            import platform

            sentence = (
                f"priory: the worker {platform.node()} has priory {priory.__version__} and the driver {version}. Install the same "
                "wheel on both, or send an environment that has it, with --archives or addArtifact :priory"
            )
            raise RuntimeError(sentence)
        from priory.spark import _worker

        yield from getattr(_worker, work)(batches, *arguments)

    return run


def marked(sentence):
    """A sentence that is found again in what an engine raises. No line that raises has the marks themselves: engines quote it."""
    return f"priory: {sentence} :priory"


@contextmanager
def one_error():
    """Turns what an engine raises about a failed task into one exception that says what was wrong, and where."""
    try:
        yield
    except Exception as error:
        marked = _MARKED.search(str(error))
        if marked is None:
            raise
        # Engines fold or escape long messages in ways of their own.
        raise ValueError(re.sub(r"\s+", " ", marked[1].replace("\\n", " "))) from error
