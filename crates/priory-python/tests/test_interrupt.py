"""Long work can be stopped, and what was there before stays."""

import signal
import time

import numpy as np
import pytest

import priory


class Stop(Exception):
    pass


@pytest.fixture
def alarm():
    def ring(*_):
        raise Stop

    before = signal.signal(signal.SIGALRM, ring)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("make", [priory.GaussianNB, priory.NaiveBayes, priory.MultinomialNB])
def test_a_signal_stops_long_work(make, alarm):
    # Rows that take no memory, and minutes.
    X = np.broadcast_to(np.arange(400.0), (10_000_000, 400))
    y = np.arange(len(X)) % 2
    few = np.random.default_rng(0).random((50, 400))
    model = make().fit(few, y[:50])
    before = model.predict_proba(few)
    alarm(1.0)
    start = time.monotonic()
    with pytest.raises(Stop):
        model.partial_fit(X, y)
    assert time.monotonic() - start < 30
    assert (model.predict_proba(few) == before).all()
