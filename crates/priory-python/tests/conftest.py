"""Settings of hypothesis: the same examples every time, and none that takes long on a busy machine fails."""

from hypothesis import settings

settings.register_profile("priory", deadline=None, derandomize=True, max_examples=60, print_blob=True)
settings.load_profile("priory")
