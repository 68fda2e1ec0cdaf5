"""What is asked of a model about rows."""

from collections.abc import Mapping

import numpy as np

from priory._choices import decisions
from priory._explanation import Explanation
from priory._rows import is_pandas, is_row, is_series, row_of_pandas

# So many rows of an array are scored by the thread that asks.
FEW = 64

# The types of arrays whose numbers need not be converted first.
QUICK_TYPES = frozenset(map(np.dtype, ("f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?")))


class Predicting:
    """The part of `NaiveBayes` that predicts and explains."""

    def predict(self, X, *, prior=None, positive=None, cost=None, threshold=None, unsure=None):
        """The class that is answered for each row: the most probable, unless costs or thresholds say otherwise.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The features.
        prior : "estimate", default=None
            Finds the shares of the classes in these rows first, as `estimate_prior` does.
        positive, cost, threshold, unsure : default=None
            As for the constructor, for this time.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The classes; of objects, among them `"unsure"`, where that may be an answer.
        """
        if prior is not None:
            return self._under(X, prior).predict(X, positive=positive, cost=cost, threshold=threshold, unsure=unsure)
        model, told = self._now()
        given = {"positive": positive, "cost": cost, "threshold": threshold, "unsure": unsure}
        given = {name: choice for name, choice in given.items() if choice is not None}
        if given or told.decides:
            return self._decided(model, told, X, given)
        best = self._quick(model, told, X, None)
        if best is None:
            table, n_rows = self._table(model, told, X)
            best = model.scores(table, None, n_rows)
        return told.in_canonical_order[best]

    def _decided(self, model, told, X, given):
        """The classes that are answered, where that are not simply the most probable."""
        table, n_rows = self._table(model, told, X)
        answers = model.scores(table, None, n_rows, decisions(given))
        labels = told.in_canonical_order
        if model.may_be_unsure(decisions(given)):
            labels = np.append(labels.astype(object), ["unsure"])
        return labels[answers]

    def estimate_prior(self, X):
        """The shares of the classes in rows of which nobody knows the class, if rows of a class look as they did in training
        (Saerens, Latinne and Decaestecker 2002).

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The features.

        Returns
        -------
        prior : dict of label to float
            The shares, which `reestimate(prior=...)` takes.
        """
        model, told = self._now()
        self._table(model, told, X)
        return dict(zip(told.in_canonical_order.tolist(), model.find_shares(self._rows(X).table)))

    def predict_one(self, row):
        """The class that is answered for one row.

        Parameters
        ----------
        row : dict
            The value of each column; what is not there is missing.

        Returns
        -------
        label : object
            The class, as Python has it.
        """
        model, told = self._now()
        if told.decides:
            return self.predict([row]).tolist()[0]
        return told.labels[self._one(model, told, row, None)]

    def predict_proba_one(self, row):
        """The probability of each class, of one row.

        Parameters
        ----------
        row : dict
            The value of each column; what is not there is missing.

        Returns
        -------
        probabilities : dict of object to float
            The classes, as Python has them, and their probabilities.
        """
        model, told = self._now()
        return dict(zip(told.labels, self._one(model, told, row, "probability")))

    def predict_proba(self, X, *, prior=None):
        """The probability of each class, for each row.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The features.
        prior : "estimate", default=None
            Finds the shares of the classes in these rows first, as `estimate_prior` does.

        Returns
        -------
        P : ndarray of shape (n_samples, n_classes)
            The probabilities, in the order of `classes_`.
        """
        if prior is not None:
            return self._under(X, prior).predict_proba(X)
        return self._scores(X, "probability")

    def score_samples(self, X):
        """log P(x) of each row: how well it fits what was learnt. Rows unlike all others have the lowest.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The features.

        Returns
        -------
        log_evidence : ndarray of shape (n_samples,)
            The logarithms. In a judged model they are those of the counts, before what the columns say is weighed.
        """
        model, told = self._now()
        table, n_rows = self._table(model, told, X)
        return model.log_evidence(table, n_rows)[:, 0]

    def _under(self, X, prior):
        """The same model under the prior of these rows."""
        if not (isinstance(prior, str) and prior == "estimate"):
            raise ValueError('prior: expected "estimate"; reestimate(prior=...) gives a model another prior')
        return self.reestimate(prior=self.estimate_prior(X))

    def predict_interval(self, X, probability=0.9):
        """How far the probabilities could be off because only so many rows were seen.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The features.
        probability : float, default=0.9
            With which probability that of a class lies in its interval.

        Returns
        -------
        low, high : ndarrays of shape (n_samples, n_classes)
            The ends of the intervals, in the order of `classes_`.
        """
        model, told = self._now()
        table, n_rows = self._table(model, told, X)
        low, high = np.split(model.intervals(table, float(probability), n_rows), 2, axis=1)
        return told.ordered(np.ascontiguousarray(low)), told.ordered(np.ascontiguousarray(high))

    def predict_log_proba(self, X):
        """The logarithm of the probability of each class, for each row.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The features.

        Returns
        -------
        L : ndarray of shape (n_samples, n_classes)
            The logarithms, in the order of `classes_`.
        """
        return self._scores(X, "log")

    def predict_joint_log_proba(self, X):
        """log P(x, class) for each row and class.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The features.

        Returns
        -------
        J : ndarray of shape (n_samples, n_classes)
            The logarithms, in the order of `classes_`.
        """
        return self._scores(X, "joint")

    def explain(self, X):
        """What each feature of each row says about the class.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The features.

        Returns
        -------
        explanation : Explanation
            The contributions, which add up to the log-joints.
        """
        model, told = self._now()
        table, n_rows = self._table(model, told, X)
        features, values, *parts = model.explain(table, n_rows)
        return Explanation(told.classes, features, values, *map(told.ordered, parts))

    def _scores(self, X, wanted):
        model, told = self._now()
        scores = self._quick(model, told, X, wanted)
        if scores is None:
            table, n_rows = self._table(model, told, X)
            scores = model.scores(table, wanted, n_rows)
        return told.ordered(scores)

    def _one(self, model, told, row, wanted):
        """What is wanted of each class, in canonical order, or the place of the most probable one."""
        few = told.few_rows(model, self._names, self._is_tolerant())
        row = self._row(row)
        answer = few.of_dict(row, wanted) if type(row) is dict else None
        if answer is None:  # a value that takes longer to read
            table, n_rows = self._table(model, told, [row])
            return model.scores(table, wanted, n_rows)[0]
        has_all, answer = answer
        if not has_all:
            self._warn_of_missing([name for name in self.kinds_ if name in told.used(model) and name not in row])
        return answer

    def _row(self, row):
        """One row as a dict."""
        if type(row) is dict:
            return row
        if isinstance(row, Mapping) or is_series(row):
            return dict(row)
        raise ValueError(f"one row is a dict of a value for each column, and this is of type {type(row).__name__}")

    def _quick(self, model, told, X, wanted):
        """The scores of a few rows that are easily read; None for all others."""
        if type(X) is np.ndarray:
            if X.ndim == 2 and 0 < X.shape[0] <= FEW and X.shape[1] == self.n_features_in_ and X.dtype in QUICK_TYPES:
                return told.few_rows(model, self._names, self._is_tolerant()).of_array(X, wanted)
            return None
        if type(X) is dict and is_row(X):
            row = X
        elif type(X) is list and len(X) == 1 and type(X[0]) is dict:
            row = X[0]
        elif is_pandas(X) and len(X) == 1:
            row = row_of_pandas(X)
        else:
            return None
        if row is None or self._is_unnamed():
            return None
        answer = told.few_rows(model, self._names, self._is_tolerant()).of_dict(row, wanted)
        # Whatever there is to be warned about is found out by the way that tables take.
        if answer is None or not answer[0]:
            return None
        return np.array([answer[1]])
