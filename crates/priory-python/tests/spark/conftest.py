"""The command line, as for the other tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from command_line import program  # noqa: E402, F401
