"""Starts Python's own additions one by one and reports each as a JSON line before it begins.

Run by the environment's own interpreter with -S. Arguments: the environment's folder, then files to leave out. A
report is a path, ``true`` after the last of them, and an object with the version where all is sound then. Works on
Python 3.10 and later with the standard library alone.
"""

import importlib.util
import json
import os
import site
import sys

if sys.path and sys.path[0] == "":
    del sys.path[0]
environment, left_out = sys.argv[1], set(sys.argv[2:])
out = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)  # what is started prints does not get between the reports


def report(content):
    """Write a report."""
    out.write("aml-start " + json.dumps(content) + "\n")
    out.flush()


def begins(path):
    """Report a file, or tell that it is to be left out."""
    if path in left_out:
        return False
    report(path)
    return True


def reporting_package(real):
    """Return what handles a ``.pth`` file, with a report before it."""

    def addpackage(folder, name, known):
        return real(folder, name, known) if begins(os.path.join(folder, name)) else known

    return addpackage


def reporting_module(module, real):
    """Return what imports a customising module, with a report before it."""

    def customise():
        found = importlib.util.find_spec(module)
        if found is None or found.origin is None or begins(found.origin):
            real()

    return customise


site.addpackage = reporting_package(site.addpackage)
site.execsitecustomize = reporting_module("sitecustomize", site.execsitecustomize)
site.execusercustomize = reporting_module("usercustomize", site.execusercustomize)
site.main()
report(True)
import encodings  # noqa: E402, F401
import ssl  # noqa: E402, F401

if os.path.samefile(sys.prefix, environment):
    report({"version": ".".join(map(str, sys.version_info[:3]))})
os._exit(0)
