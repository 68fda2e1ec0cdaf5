"""Naive Bayes on Apache Spark: on a cluster, through Spark Connect, on Databricks and on Sail.

Every task learns the rows of its partition with the code of `NaiveBayes.fit`, and hands on what it has learnt as one row. What was
learnt adds up without rounding, so the model has the bytes of `fit` on one machine, whatever the partitions, and however often a
task was run again. docs/scale.md has examples and costs.
"""

from priory.spark._evaluate import evaluate
from priory.spark._fit import fit, forget, partial_fit, schema_of, statistics_of
from priory.spark._predict import predict

__all__ = ["evaluate", "fit", "forget", "partial_fit", "predict", "schema_of", "statistics_of"]
