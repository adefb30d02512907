"""What is promised about speed, measured: ``python3 packaging/dev.py bench [NAMES]``.

Each module here except ``frame`` is one benchmark: it defines ``NAME`` and ``run(scratch)``, which yields a ``frame.Row``
for each figure. ``drivers`` holds small programs that are measured. Benchmarks are not tests: pytest does not collect them.
"""
