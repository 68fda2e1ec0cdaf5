"""Settings of hypothesis: the same examples every time, and none that takes long on a busy machine fails."""

import importlib.util

from hypothesis import settings

settings.register_profile("priory", deadline=None, derandomize=True, max_examples=60, print_blob=True)
settings.load_profile("priory")

# The tests on engines need one; scripts/test and scripts/test-cluster have environments for them.
collect_ignore = [] if importlib.util.find_spec("pyspark") else ["spark"]
