"""Pictures and pages that notebooks show."""

import html
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


class Report:
    """A page of HTML that needs nothing else. Notebooks show it in a frame of its own; `str` gives its text, and `save` writes it."""

    def __init__(self, page):
        self._page = page

    def _repr_html_(self):
        page = html.escape(self._page, quote=True)
        # What is in the frame cannot reach the notebook, nor anything else.
        return (
            f'<iframe title="A report on a model" sandbox="allow-scripts" srcdoc="{page}" '
            'style="width:100%;height:48rem;border:1px solid rgba(128,128,128,.4)"></iframe>'
        )

    def __str__(self):
        return self._page

    def __repr__(self):
        return f"<priory.Report of {len(self._page)} characters>"

    def save(self, path):
        """Write the page to a file, in one step.

        Parameters
        ----------
        path : str or path-like
            Where to; the name should end in `.html`.
        """
        _priory.write_text(os.fspath(path), self._page)
