"""How good a model is, what it has learnt, and pictures of that."""

import html
import json
import operator

from priory import _html, _priory
from priory._picture import Picture, Report
from priory._rows import label_text
from priory._warn import warn


class Summary(dict):
    """What was learnt, as `priory show --format json` has it; printed, and shown by notebooks, as a table."""

    def __init__(self, name, contents):
        super().__init__(contents)
        self._name = name

    def __repr__(self):
        classes = ", ".join(f"{_html.plain(of['name'])} {of['prior']:.4f}" for of in self["classes"][:6])
        more = f" and {len(self['classes']) - 6} more" if len(self["classes"]) > 6 else ""
        judgement = self.get("judgement")
        weights = {of["name"]: of["alone"] for of in judgement["columns"]} if judgement else {}
        judged = f"judged ({judgement['tier']})" if judgement else "not judged"
        lines = [f"{self._name}: {_html.plural(self['rows'], 'row')}, {judged}", f"classes: {classes}{more}", "columns:"]
        width = max((len(_html.plain(of["name"])) for of in self["features"][:40]), default=0)
        for feature in self["features"][:40]:
            weight = f", weight {weights[feature['name']]:.2f}" if feature["name"] in weights else ""
            lines.append(f"  {_html.plain(feature['name']):<{width}}  {feature['kind']}, {feature['family']}{weight}")
        if len(self["features"]) > 40:
            lines.append(f"  … and {len(self['features']) - 40} more")
        return "\n".join(lines)

    def _repr_html_(self):
        return _html.model(self._name, self)


class Reporting:
    """The part of `NaiveBayes` that evaluates and reports."""

    def evaluate(
        self,
        X,
        y,
        folds=10,
        sample_weight=None,
        seed=0,
        *,
        holdout=None,
        leave_one_out=False,
        test=None,
        compare=False,
        cut_offs=None,
    ):
        """How good such a model is at rows that it has not seen: k-fold cross-validation in one pass, unless another way is
        chosen.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The classes.
        folds : int, default=10
            How many parts there are.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts; 1 by default.
        seed : int, default=0
            Decides which row is in which part.
        holdout : float, default=None
            Instead of folds: tests on this random share of the rows what was learnt from the rest.
        leave_one_out : bool, default=False
            Instead of folds: tests on every row what was learnt from all others.
        test : tuple of X, y and perhaps sample_weight, default=None
            Instead of folds: tests on these rows what was learnt from all of the others.
        compare : bool, default=False
            Evaluates twice, without and with a judgement.
        cut_offs : list of float, default=None
            Cut-offs of the probability of the positive class to report about. Without any, 0.1 to 0.9, if the model has a positive class, or two
            classes and costs or thresholds.

        Returns
        -------
        report : dict
            Accuracy, log-loss, Brier score, area under the ROC curve, calibration and more, as `priory evaluate
            --format json` has them; or two of these, `plain` and `judged`, to compare.
        """
        if sum((holdout is not None, bool(leave_one_out), test is not None)) > 1:
            raise ValueError("holdout, leave_one_out and test are three ways to evaluate; choose one")
        split = ("folds", operator.index(folds))
        if holdout is not None:
            split = ("holdout", holdout)
        elif leave_one_out:
            split = ("leave-one-out", None)
        blank = type(self)(**self.get_params())
        learnt = blank._labelled(X, y, sample_weight, reset=True)
        tested = None if test is None else blank._labelled(*test[:2], *(test[2:] or [None]), beside=learnt)

        cut_offs = [] if cut_offs is None else [float(p) for p in cut_offs]

        def report(choices):
            arguments = (learnt, tested, learnt.target, learnt.weight, choices, split, seed, cut_offs)
            return _doubted(json.loads(_priory.evaluate(*arguments)))

        choices = self._choices()
        if compare:
            return {"plain": report({**choices, "judge": "none"}), "judged": report(choices)}
        return report(choices)

    def evaluate_on(self, X, y, sample_weight=None, *, cut_offs=None):
        """How good this model is, as it has learnt, at other rows.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The classes.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts; 1 by default.
        cut_offs : list of float, default=None
            As for `evaluate`.

        Returns
        -------
        report : dict
            As `evaluate` gives it.
        """
        model, _ = self._now()
        labelled = self._labelled(X, y, sample_weight)
        return _doubted(json.loads(model.evaluate(labelled, [] if cut_offs is None else [float(p) for p in cut_offs])))

    def leave_one_out_proba(self, X, y, sample_weight=None):
        """The probability of each class for rows that were learnt, each as if just that row had not been.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The features of rows that were learnt.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counted; 1 by default.

        Returns
        -------
        P : ndarray of shape (n_samples, n_classes)
            The probabilities, in the order of `classes_`.
        """
        model, told = self._now()
        labelled = self._labelled(X, y, sample_weight)
        return told.ordered(model.leave_one_out(labelled(), labelled.rows.n_rows))

    def features(self):
        """How much each feature tells about the class, the best first.

        Returns
        -------
        features : dict
            As `priory features --format json` has it.
        """
        return json.loads(self._now()[0].features())

    def show(self, top=None):
        """What was counted, and what follows from it: a dict, which notebooks show as a table.

        Parameters
        ----------
        top : int, default=None
            How many of the most telling tokens of each class are listed.

        Returns
        -------
        summary : Summary
            A dict, as `priory show --format json` has it.
        """
        return Summary(type(self).__name__, json.loads(self._now()[0].show(top)))

    def _repr_html_(self):
        if self.__sklearn_is_fitted__():
            return self.show()._repr_html_()
        return _html.page(f"<pre>{html.escape(repr(self))}</pre>")

    def _repr_mimebundle_(self, **_):
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def linear_form(self):
        """The decision between two classes as b + Σ w x, if that is what it is.

        Returns
        -------
        form : dict
            As `priory show --linear-form --format json` has it.
        """
        return json.loads(self._now()[0].linear_form())

    def plot(self, column=None, up=None, points=None):
        """A picture of a feature: the data of each class and the density that was fitted, bars for categories, or the words of a
        text that tell most.

        Parameters
        ----------
        column : str, default=None
            The feature. By default all of them, the best first.
        up : str, default=None
            Another one, to draw both against each other: who is most probable where. Both have to be numbers.
        points : tuple of X and y, default=None
            Rows and their classes, to be drawn as points over both; a part of them, if they are many.

        Returns
        -------
        picture : Picture
            SVG, which notebooks show; `str(picture)` is its text, and `picture.save("file.svg")` writes it.
        """
        model, _ = self._now()
        rows = None if points is None else self._labelled(*points, None)()
        return Picture(model.plot([str(name) for name in (column, up) if name is not None], rows))

    def nomogram(self, label=None):
        """A picture of what every value of every feature is worth to a class, in bits.

        Parameters
        ----------
        label : object, default=None
            The class. By default the positive class if there is one, else the last of two, else the most frequent.

        Returns
        -------
        picture : Picture
            SVG, which notebooks show.
        """
        return Picture(self._now()[0].nomogram(None if label is None else label_text(label)))

    def waterfall(self, X):
        """A picture of how one row comes to its prediction: its log-odds in bits, term by term.

        Parameters
        ----------
        X : table of shape (1, n_features)
            The row; of more rows the first.

        Returns
        -------
        picture : Picture
            SVG, which notebooks show.
        """
        model, told = self._now()
        table, _ = self._table(model, told, X)
        return Picture(model.waterfall(table))

    def report(self, X=None, y=None, sample_weight=None):
        """A page for a browser: how good the model is, which features help, and how it was made. It needs nothing else.

        Parameters
        ----------
        X : table of shape (n_samples, n_features), default=None
            The features of rows to test the model on. Without any, it is not tested.
        y : array-like of shape (n_samples,), default=None
            The classes of these rows.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each of these rows counts; 1 by default.

        Returns
        -------
        report : Report
            HTML, which notebooks show; `str(report)` is its text, and `report.save("report.html")` writes it.
        """
        if (X is None) != (y is None):
            raise ValueError("rows to test the model on need both their features and their classes")
        model, _ = self._now()
        return Report(model.report(None if X is None else self._labelled(X, y, sample_weight)))


def _doubted(report):
    """The report, after a warning where predictions are worse than none."""
    for doubt in report["doubts"]:
        warn(doubt)
    return report
