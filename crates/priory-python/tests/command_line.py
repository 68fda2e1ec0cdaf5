"""The command line, for tests that compare what it writes."""

import os
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def program():
    """The command line, if it was built."""
    named = os.environ.get("PRIORY")
    target = PROJECT / os.environ.get("CARGO_TARGET_DIR", "target")
    built = [target / profile / "priory" for profile in ("debug", "release")]
    built = sorted((place for place in built if place.exists()), key=lambda place: place.stat().st_mtime)
    found = named or (built[-1] if built else None)
    if found is None:
        pytest.skip("the command line was not built")

    def run(*arguments):
        done = subprocess.run([str(found), *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
