from typing import Any, Literal

from priory import NaiveBayes

FIRST_ROWS: int

def fit(
    connection: Any,
    table_or_query: str | tuple[str, ...] | list[str],
    target: str,
    *,
    dialect: Literal["duckdb", "postgresql", "sqlite", "standard"] | None = None,
    **options: Any,
) -> NaiveBayes: ...
