"""Which modules of an installed distribution are worth importing as a proof that it works."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from amlwizard.core.environment.record_check import Distribution

_SUFFIXES: Final = (".py", ".so", ".pyd")
_SKIPPED: Final = frozenset(
    {
        "test",
        "tests",
        "testing",
        "doc",
        "docs",
        "example",
        "examples",
        "benchmark",
        "benchmarks",
        "scripts",
        "antigravity",
        "this",
    }
)
_FIRST: Final = "setuptools"
"""It cannot be imported any more once another module has imported the standard library's distutils."""
_DEPTH: Final = 3
"""How deep the packages inside a namespace package are looked for."""


def modules_to_import(distributions: Sequence[Distribution]) -> dict[str, str]:
    """Return the top-level modules of distributions in the order to import, each with the distribution that has it."""
    modules: dict[str, str] = {}
    for distribution in distributions:
        for module in top_level_modules(_inside_site(distribution)):
            modules.setdefault(module, distribution.name)
    if _FIRST in modules:
        modules = {_FIRST: modules[_FIRST], **modules}
    return modules


def top_level_modules(files: Iterable[str]) -> list[str]:
    """Return the modules at the top of a list of files (relative to site-packages, with ``/``).

    A namespace package stands for the packages inside it; private modules, tests and folders of data are left out.
    """
    packages: set[str] = set()
    modules: set[str] = set()
    for file in files:
        *folders, name = file.split("/")
        if not name.endswith(_SUFFIXES) or not all(map(_wanted, folders)):
            continue
        stem = name.partition(".")[0]
        if stem == "__init__" and 0 < len(folders) <= _DEPTH:
            packages.add(".".join(folders))
        elif not folders and _wanted(stem):
            modules.add(stem)
    inner = {package for package in packages if not _has_parent(package, packages)}
    return sorted(modules | inner)


def _inside_site(distribution: Distribution) -> list[str]:
    """Return the distribution's files below its site-packages folder."""
    marker = "site-packages/"
    paths = (file.replace("\\", "/") for file in distribution.files)
    return [path.partition(marker)[2] for path in paths if marker in path]


def _wanted(name: str) -> bool:
    return name.isidentifier() and not name.startswith("_") and name.lower() not in _SKIPPED


def _has_parent(package: str, packages: set[str]) -> bool:
    parts = package.split(".")
    return any(".".join(parts[:length]) in packages for length in range(1, len(parts)))
