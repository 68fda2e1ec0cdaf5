"""The command line, and settings of hypothesis, as for the other tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from test_model import program  # noqa: E402, F401
