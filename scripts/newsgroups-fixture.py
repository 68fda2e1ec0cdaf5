#!/usr/bin/env python3
"""Writes testdata/sklearn/newsgroups.csv: joint log-probabilities of scikit-learn's naive Bayes models of text.

Trained on the training part of 20 Newsgroups (by date), asked about every 37th document of the first 7400 of the test
part, in the order of the archives; CountVectorizer and models as they come. Run with the folder of the archives:

    python scripts/newsgroups-fixture.py ../shared/data/newsgroups20
"""

import csv
import pathlib
import sys
import tarfile

import sklearn
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

CLASSES = [0, 6, 13, 19]


def documents(path):
    texts, labels = [], []
    with tarfile.open(path) as archive:
        for member in archive:
            if member.isfile():
                texts.append(archive.extractfile(member).read().decode("utf-8", errors="replace"))
                labels.append(member.name.split("/")[-2])
    return texts, labels


folder = pathlib.Path(sys.argv[1])
texts, labels = documents(folder / "20news-bydate-train.tar.gz")
asked = documents(folder / "20news-bydate-test.tar.gz")[0][:7400:37]
vectorizer = CountVectorizer()
counts = vectorizer.fit_transform(texts)
to_ask = vectorizer.transform(asked)
root = pathlib.Path(__file__).parent.parent
with open(root / "testdata/sklearn/newsgroups.csv", "w", newline="") as out:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["model", "document", *[f"class {i}" for i in CLASSES], f"scikit-learn {sklearn.__version__}"])
    for model in [MultinomialNB(), BernoulliNB(), ComplementNB(), ComplementNB(norm=True)]:
        name = type(model).__name__ + ("-normalized" if getattr(model, "norm", False) else "")
        joint = model.fit(counts, labels).predict_joint_log_proba(to_ask)
        for i, row in enumerate(joint):
            writer.writerow([name, i, *[repr(float(row[c])) for c in CLASSES], ""])
