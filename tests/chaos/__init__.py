"""Chaos: real runs of the wizard, struck at random moments, and what must hold after each of them (DESIGN 4, P1-P3).

``python3 packaging/dev.py chaos --runs N --seed S``. Nothing here trusts the product: the proofs read the disk and the
process table themselves. A seed repeats every choice; when exactly a blow falls in the work of other processes, it cannot.
"""
