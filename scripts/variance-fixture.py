#!/usr/bin/env python3
"""Writes testdata/fractions/offset.csv: numbers far from zero, and their mean and variance as exact fractions give them.

Usage: scripts/variance-fixture.py > testdata/fractions/offset.csv; needs nothing but Python.

The numbers are 1e9 + N(0, 4²). Squares of such numbers lose all digits of the variance in floating point; `Fraction`
loses none, and `float` of a fraction is the nearest number to it.
"""

import platform
import random
from fractions import Fraction

ROWS = 500

source = random.Random(2)
values = [1e9 + source.gauss(0, 4) for _ in range(ROWS)]
exact = [Fraction(value) for value in values]
mean = sum(exact) / ROWS
variance = sum((x - mean) ** 2 for x in exact) / ROWS
print(f"# scripts/variance-fixture.py, Python {platform.python_version()}")
for name, number in [("mean", float(mean)), ("variance", float(variance)), *(("x", x) for x in values)]:
    print(f"{name},{number!r}")
