"""A lock that estimators may keep."""

import threading


class Lock:
    """Lets one thread at a time learn. Copies and pickles have a lock of their own."""

    def __init__(self):
        self._lock = threading.RLock()

    def __enter__(self):
        self._lock.acquire()

    def __exit__(self, *_):
        self._lock.release()

    def __reduce__(self):
        return Lock, ()


def own_lock(estimator):
    """The lock of an estimator, which gets one when it is first needed: constructors set nothing but parameters."""
    # Of two threads that get here at once, both are given the lock that came first.
    return vars(estimator).setdefault("_lock", Lock())
