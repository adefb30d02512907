"""Bundles: everything that an environment is made of, in one file, for machines without a network (DESIGN section 9).

``reading`` opens and checks one, ``gathering`` and ``writing`` make one, ``taking`` copies files out of one, ``inspecting``
tells what is in it; ``steps`` are the steps of both ways.
"""
