"""Spreadsheets."""

import os

from priory._priory import read_sheet
from priory._warn import warn


def read_spreadsheet(path, sheet=None):
    """The columns of a sheet of an .xlsx or .ods file.

    They are a dict of lists that `NaiveBayes` takes as it is, and so does `pandas.DataFrame`. Every value is text, as the sheet would be
    saved as CSV, and None where a cell is empty; `NaiveBayes` finds out which columns are numbers, dates and truth values.

    Parameters
    ----------
    path : str or path
        The file.
    sheet : str or int, optional
        The name of a sheet, or its number from 1 on; the first that is shown unless given.

    Examples
    --------
    >>> from priory import NaiveBayes, read_spreadsheet
    >>> X = read_spreadsheet("orders.xlsx", sheet="Orders")  # doctest: +SKIP
    >>> y = X.pop("class")  # doctest: +SKIP
    >>> model = NaiveBayes().fit(X, y)  # doctest: +SKIP
    """
    columns, remarks = read_sheet(os.fspath(path), None if sheet is None else str(sheet))
    for remark in remarks:
        warn(remark)
    return dict(columns)
