"""How rows come to their predictions."""

import numpy as np

from priory import _html


class Explanation:
    """How rows come to their predictions: log prior + one contribution per feature = log-joint.

    `len` is the number of rows, and `explanation[3]` the explanation of one of them. Notebooks show bars: how much each feature
    speaks for the most probable class rather than the one after it.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The classes, in the order of everything else here.
    features : list of str
        The features, in the order in which they are added up.
    values : list of lists of str
        For each row the value of each feature, None where it is missing.
    contributions : ndarray of shape (n_samples, n_features, n_classes)
        log P(value | class): what each feature adds.
    log_prior : ndarray of shape (n_classes,)
        log P(class): where the sum starts.
    log_joint : ndarray of shape (n_samples, n_classes)
        log P(x, class): what it comes to.
    """

    def __init__(self, classes, features, values, contributions, log_prior, log_joint):
        self.classes, self.features, self.values = classes, features, values
        self.contributions, self.log_prior, self.log_joint = contributions, log_prior, log_joint

    def __len__(self):
        return len(self.log_joint)

    def __getitem__(self, rows):
        if not isinstance(rows, slice):
            rows = range(len(self))[rows]
            rows = slice(rows, rows + 1)
        part = self.values[rows], self.contributions[rows], self.log_prior, self.log_joint[rows]
        return Explanation(self.classes, self.features, *part)

    @property
    def probabilities(self):
        """P(class | x) of each row, an array of shape (n_samples, n_classes)."""
        largest = self.log_joint.max(axis=1, keepdims=True)
        shares = np.exp(self.log_joint - np.where(np.isfinite(largest), largest, 0))
        # Where every class is impossible, there is nothing but the prior.
        shares = np.where(np.isfinite(largest), shares, np.exp(self.log_prior))
        return shares / shares.sum(axis=1, keepdims=True)

    @property
    def prediction(self):
        """The most probable class of each row."""
        return self.classes[self.probabilities.argmax(axis=1)]

    def to_frame(self):
        """The terms as a DataFrame of pandas, which may be sorted, filtered and plotted.

        Returns
        -------
        frame : DataFrame
            A line for the prior and for each feature of each row, under `row` and `feature`; the columns are `value` and what it
            adds to the log-joint of each class. The lines of a row add up to its log-joints.
        """
        import pandas

        features = ["(prior)", *self.features]
        prior = np.broadcast_to(self.log_prior, (len(self), 1, len(self.classes)))
        terms = np.concatenate([prior, self.contributions], axis=1).reshape(-1, len(self.classes))
        lines = pandas.MultiIndex.from_product([range(len(self)), features], names=["row", "feature"])
        frame = pandas.DataFrame(terms, index=lines, columns=self.classes.tolist())
        frame.insert(0, "value", [value for row in self.values for value in [None, *row]], allow_duplicates=True)
        return frame

    def evidence(self, row=0):
        """How much a row speaks for its most probable class, feature by feature.

        Parameters
        ----------
        row : int, default=0
            The row.

        Returns
        -------
        favoured, other : object
            The most probable class, and the one after it.
        terms : list of tuples (feature, value, nats)
            The prior and each feature, the strongest first: the logarithm of how many times as probable it is in the one
            class as in the other.
        """
        order = np.argsort(-self.probabilities[row], kind="stable")
        best, other = order[0], order[min(1, len(order) - 1)]
        with np.errstate(invalid="ignore"):
            # What is impossible in both classes speaks for neither.
            nats = self.contributions[row, :, best] - self.contributions[row, :, other]
            nats = np.where(np.isnan(nats), 0.0, nats)
            prior = self.log_prior[best] - self.log_prior[other]
        prior = 0.0 if np.isnan(prior) else float(prior)
        strongest = np.argsort(-np.abs(nats), kind="stable")
        terms = [("(prior)", None, prior)]
        terms += [(self.features[i], self.values[row][i], float(nats[i])) for i in strongest]
        return self.classes[best], self.classes[other], terms

    def __repr__(self):
        shown = "\n".join(self._written(row) for row in range(min(len(self), 3)))
        more = f"\n… and {len(self) - 3} more rows" if len(self) > 3 else ""
        return f"Explanation of {len(self)} row{'s' * (len(self) != 1)}\n{shown}{more}"

    def _written(self, row):
        best, other, terms = self.evidence(row)
        best, other = _html.plain(best), _html.plain(other)
        lines = [f"{best}, P = {self.probabilities[row].max():.4f}; in nats for {best} rather than {other}:"]
        names = [_html.plain(name if value is None else f"{name} = {value}") for name, value, _ in terms[:8]]
        width = max(map(len, names))
        lines += [f"  {name:<{width}}  {nats:+8.3f}" for name, (_, _, nats) in zip(names, terms)]
        if len(terms) > 8:
            lines.append(f"  {f'{len(terms) - 8} others':<{width}}  {sum(nats for _, _, nats in terms[8:]):+8.3f}")
        return "\n".join(lines)

    def _repr_html_(self):
        return _html.explanation(self)
