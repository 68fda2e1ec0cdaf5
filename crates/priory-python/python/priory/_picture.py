"""Pictures that notebooks show."""

import os

from priory import _priory


class Picture:
    """A picture as SVG. Notebooks show it; `str` gives its text, and `save` writes it."""

    def __init__(self, svg):
        self._svg = svg

    def _repr_svg_(self):
        return self._svg

    def __str__(self):
        return self._svg

    def __repr__(self):
        return f"<priory.Picture of {len(self._svg)} characters>"

    def save(self, path):
        """Write the picture to a file, in one step.

        Parameters
        ----------
        path : str or path-like
            Where to; the name should end in `.svg`.
        """
        _priory.write_text(os.fspath(path), self._svg)
