"""Bundles: everything that an environment is made of, in one file, for machines without a network (DESIGN section 9).

``reading`` opens and checks one, ``creating`` makes one, ``installing`` sets a workspace up from one, ``inspecting`` tells
what is in it.
"""
