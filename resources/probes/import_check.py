"""Imports modules one after another and reports each as a JSON line; run by the environment's own interpreter.

Arguments: the environment's folder, then module names joined by commas. Works on Python 3.10 and
later with the standard library alone.
"""

import json
import os
import sys
import warnings

if sys.path and sys.path[0] == "":
    del sys.path[0]


def main():
    """Report the interpreter, then each module: ``begin`` before the import, ``end`` after it."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what modules print does not get between the reports

    def report(**content):
        out.write("aml-import " + json.dumps(content) + "\n")
        out.flush()

    environment, names = sys.argv[1], sys.argv[2]
    import encodings  # noqa: F401
    import ssl  # noqa: F401

    report(
        event="start",
        version=".".join(map(str, sys.version_info[:3])),
        same=os.path.samefile(sys.prefix, environment),
        prefix=sys.prefix,
    )
    warnings.simplefilter("ignore")
    for name in filter(None, names.split(",")):
        report(event="begin", module=name)
        try:
            __import__(name)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a module raises is a finding
            text = " ".join(str(error).split())[:500]
            kind = kind_of(error, name)
            report(event="end", module=name, kind=kind, error=type(error).__name__, text=text, absent=absent_in(error))
        else:
            report(event="end", module=name, kind="ok")
    report(event="finished")
    os._exit(0)  # threads and exit handlers of what was imported are none of our business


def absent_in(error):
    """Return the top-level module that was not found, empty for another error and for what belongs to Python itself."""
    absent = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    return "" if absent in sys.stdlib_module_names else absent


def kind_of(error, module):
    """Tell a missing or broken file of the package itself (``file``) from any other reason (``other``)."""
    own = module.partition(".")[0]
    if isinstance(error, ModuleNotFoundError):
        return "file" if (error.name or "").partition(".")[0] == own else "other"
    text = str(error)
    if isinstance(error, ImportError) and any(
        sign in text for sign in ("invalid ELF header", "file too short", "not a valid Win32")
    ):
        return "file"
    if isinstance(error, (EOFError, ValueError, TypeError)):
        traceback = error.__traceback__
        while traceback.tb_next is not None:
            traceback = traceback.tb_next
        if traceback.tb_frame.f_code.co_filename.startswith("<frozen importlib"):
            return "file"  # bytecode that cannot be read
    if isinstance(error, SyntaxError) and "null bytes" in text:
        return "file"
    return "other"


main()
