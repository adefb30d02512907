"""Random input of every kind that the program reads, held against the rules of ``tests/fuzz/rules.py``."""
