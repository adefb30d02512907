"""A requirements file and everything that it includes, read once and checked before anything is downloaded.

The format is pip's. The user's files are only read; where uv cannot read them as they are (``needs_transcoding``), it is
given the text of ``requirements_text`` and ``constraints_text`` instead.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import urlsplit

from packaging.specifiers import SpecifierSet

from amlwizard.core.errors import RefusedError
from amlwizard.core.git_logins import git_logins, repository_login
from amlwizard.core.index_urls import Credentials, split_url
from amlwizard.core.plain_files import is_file, is_there
from amlwizard.core.refused_lines import MOST_REFUSALS, refusal_of
from amlwizard.core.requirement_entries import (
    PIP_READS,
    PLACES,
    RequirementEntry,
    RequirementOption,
    bad_line,
    parse_editable,
    parse_options,
    parse_requirement,
    refuse_loose_backslash,
    shown,
    uv_reads,
)
from amlwizard.core.requirement_files import LogicalLine, SourceFile, logical_lines, read_source
from amlwizard.core.system_errors import reason_of
from amlwizard.core.urls import has_credentials, is_remote, redact_urls, without_credentials

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

UV_READS: Final = frozenset(
    {"--index-url", "--extra-index-url", "--find-links", "--no-index", "--no-binary", "--only-binary"}
)
"""Options that uv honours where they stand in a file."""
UV_NEEDS_ARGUMENT: Final = frozenset({"--pre", "--require-hashes"})
"""Options that uv passes over in a file, but that it honours when its caller says them."""
UV_PASSES_OVER: Final = frozenset({"--prefer-binary", "--trusted-host", "--use-feature"})
"""Options that uv passes over and that change nothing that we promise (certificates are always checked)."""

_DEEPEST_FOR_UV: Final = 50
"""Files that include each other deeper than this are given to uv as one."""

_Reading: TypeAlias = "Iterator[_Reading]"
"""Reads a file line by line, and gives what is to be read before the next line."""

_OTHER_FILES: Final = frozenset({"pipfile", "pipfile.lock", "poetry.lock", "uv.lock", "setup.cfg"})
_OTHER_SUFFIXES: Final = frozenset({".py", ".ipynb"})
_WEB_PAGE = re.compile(
    r"\s*(?:<\?xml\b[^>]{0,200}>\s*)?(?:<!--.{0,2000}?-->\s*){0,9}<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_LOCK = re.compile(r"^lock-version\s*=", re.MULTILINE)
_CONDA = re.compile(r"^(channels|dependencies)\s*:\s*(#.*)?$", re.MULTILINE)
_PROJECT = re.compile(r"^\[(project|build-system|tool\.[\w.-]+)\]\s*$", re.MULTILINE)


@dataclass(frozen=True)
class RequirementsClosure:
    """What a requirements file asks for, with every file that it reaches.

    ``entries`` holds requirements and constraints in the order of their lines. ``variables`` names the environment
    variables that the files use, which the resolver must see as well.
    """

    path: Path
    files: tuple[SourceFile, ...]
    entries: tuple[RequirementEntry, ...]
    options: tuple[RequirementOption, ...]
    variables: frozenset[str]
    needs_transcoding: bool
    _requirement_lines: tuple[str, ...] = field(repr=False, default=())
    _constraint_lines: tuple[str, ...] = field(repr=False, default=())

    @property
    def folder(self) -> Path:
        """The folder to which local paths are relative, and in which the resolver has to run."""
        return self.path.parent

    @property
    def requirements(self) -> tuple[RequirementEntry, ...]:
        """What is to be installed."""
        return tuple(entry for entry in self.entries if not entry.constraint)

    @property
    def constraints(self) -> tuple[RequirementEntry, ...]:
        """What only limits the versions of other packages."""
        return tuple(entry for entry in self.entries if entry.constraint)

    @property
    def needs_git(self) -> tuple[RequirementEntry, ...]:
        """The entries that git must fetch."""
        return tuple(entry for entry in self.entries if entry.needs_git)

    @property
    def allowed_hashes(self) -> dict[str, frozenset[str]]:
        """The hashes that the lines of each package allow, such as ``sha256:...``; packages without hashes are left out."""
        allowed: dict[str, frozenset[str]] = {}
        for entry in self.entries:
            if entry.name is not None and entry.hashes:
                allowed[entry.name] = allowed.get(entry.name, frozenset()) | frozenset(entry.hashes)
        return allowed

    @cached_property
    def logins(self) -> Credentials:
        """The user names and passwords in the addresses of indexes and archives, which the lock is not to hold."""
        found: Credentials = {}
        addresses = [option.value for option in self.options] + [entry.url or "" for entry in self.entries]
        for address in filter(has_credentials, addresses):
            with suppress(RefusedError):  # those of repositories are in ``git_logins``
                split = split_url(address, "")
                if split.login is not None:
                    found.setdefault(split.origin, split.login)
        return found

    @property
    def index_addresses(self) -> tuple[str, ...]:
        """The addresses of the indexes that the files name, without logins."""
        return self._addresses("--index-url", "--extra-index-url")

    @property
    def page_addresses(self) -> tuple[str, ...]:
        """The addresses of the pages with archives that the files name, without logins."""
        return self._addresses("--find-links")

    def _addresses(self, *names: str) -> tuple[str, ...]:
        found = []
        for option in self.options:
            if option.name in names:
                with suppress(RefusedError):  # a folder, or what the resolver says is wrong
                    found.append(split_url(option.value, "").clean)
        return tuple(found)

    @cached_property
    def git_logins(self) -> Credentials:
        """The same of git repositories; see ``core.git_logins.git_logins``."""
        return git_logins(entry.url for entry in self.entries if entry.url)

    def variable_values(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Return the variables that the files name: their values may be secret and go to the resolver as they came."""
        return {name: environ[name] for name in self.variables if name in environ}

    @property
    def unsupported(self) -> tuple[RequirementOption, ...]:
        """The options with which uv refuses the file; pip knows most of them."""
        of_entries = [option for entry in self.entries for option in entry.options]
        known = UV_READS | UV_NEEDS_ARGUMENT | UV_PASSES_OVER
        return tuple([option for option in self.options if option.name not in known] + of_entries)

    @property
    def passed_over(self) -> tuple[RequirementOption, ...]:
        """The options that have no effect, which the user should be told once."""
        return tuple(option for option in self.options if option.name in UV_PASSES_OVER)

    def has_option(self, name: str) -> bool:
        """Tell whether an option, named in its long form, stands in the files."""
        return any(option.name == name for option in self.options)

    @property
    def option_lines(self) -> tuple[str, ...]:
        """The options as they are written, variables in them unfilled; they may hold credentials."""
        editable = ("-e", "--editable")
        return tuple(line for line in self._requirement_lines if line.startswith("-") and not line.startswith(editable))

    def requirements_text(self) -> str:
        """Return all requirements and options as one UTF-8 file, variables in addresses unfilled."""
        return "".join(f"{line}\n" for line in self._requirement_lines)

    def local_requirements_text(self) -> str:
        """Return the same without the indexes and pages of other computers, variables in the other options filled in."""
        options = [f"{option.name} {option.value}".rstrip() for option in self.options if not _is_remote_place(option)]
        written = set(self.option_lines)
        lines = [line for line in self._requirement_lines if line not in written]
        return "".join(f"{line}\n" for line in (*options, *lines))

    def constraints_text(self) -> str:
        """Return all constraints as one UTF-8 file."""
        return "".join(f"{line}\n" for line in self._constraint_lines)


def _is_remote_place(option: RequirementOption) -> bool:
    return option.name in PLACES and is_remote(option.value)


def is_pylock(path: Path) -> bool:
    """Tell whether a file given as requirements is a lock (PEP 751), by its name or its content."""
    from packaging.pylock import is_valid_pylock_path  # locks are rare here, and reading them takes time to load

    if is_valid_pylock_path(path):
        return True
    return path.suffix == ".toml" and is_file(path) and _LOCK.search(read_source(path).text) is not None


def parse_closure(path: Path, environ: Mapping[str, str], *, with_uv: bool | None = None) -> RequirementsClosure:
    """Read a requirements file and every file that it includes.

    Args:
        path: the absolute path of the file.
        environ: where ``${NAME}`` is looked up.
        with_uv: whether uv or pip alone is to read it as well, so that what it cannot read is refused too; None where
            that does not matter.

    Raises:
        RefusedError: one of the ``AML_REQUIREMENTS_*`` codes, with all lines that cannot be read (``refusal_of``).
            ``AML_REQUIREMENTS_OPTION`` names an option that only pip knows, ``AML_REQUIREMENTS_OPTION_UNKNOWN`` one that
            neither knows, ``AML_REQUIREMENTS_VCS`` a version control system other than git.
    """
    reader = _Reader(path, environ)
    reader.read(path, constraint=False)
    return reader.closure(with_uv=with_uv)


def closure_of_text(path: Path, requirements: str, constraints: str, environ: Mapping[str, str]) -> RequirementsClosure:
    """Return the closure of requirements and constraints that stand in another file than one of requirements.

    Args:
        path: the absolute path of that file.
        requirements: the lines of a requirements file.
        constraints: those of a file of constraints.
        environ: where ``${NAME}`` is looked up.

    Raises:
        RefusedError: as ``parse_closure``.
    """
    reader = _Reader(path, environ, readable_for_uv=False)
    reader.read_text(SourceFile(path, "utf-8", requirements), constraint=False)
    reader.read_text(SourceFile(path, "utf-8", constraints), constraint=True)
    return reader.closure()


def _unsupported(closure: RequirementsClosure, *, with_uv: bool) -> Iterator[RefusedError]:
    """Give the refusals of what uv (or pip, where uv is not to be used) could not read."""
    for option in closure.unsupported:
        if option.name not in PIP_READS or with_uv:
            code = "AML_REQUIREMENTS_OPTION" if option.name in PIP_READS else "AML_REQUIREMENTS_OPTION_UNKNOWN"
            yield RefusedError(code, file=str(option.file), line=option.line, option=option.name)
    for entry in closure.entries:
        if entry.is_vcs and not entry.needs_git:
            yield RefusedError("AML_REQUIREMENTS_VCS", file=str(entry.file), line=entry.line, text=entry.text)


def is_complete_hashed_lock(closure: RequirementsClosure) -> bool:
    """Tell whether every requirement is pinned and hashed, so that it can be resolved without its dependencies."""
    return not closure.constraints and all(
        entry.pinned_version is not None and entry.hashes and entry.url is None for entry in closure.requirements
    )


class _TooManyError(Exception):
    """So many lines are bad that the rest is not read."""


class _Reader:
    def __init__(self, top: Path, environ: Mapping[str, str], *, readable_for_uv: bool = True) -> None:
        self._top = top
        self._environ = environ
        self._seen: set[tuple[Path, bool]] = set()
        self._files: dict[Path, SourceFile] = {}
        self._entries: list[RequirementEntry] = []
        self._options: list[RequirementOption] = []
        self._variables: set[str] = set()
        self._lines: dict[bool, list[str]] = {False: [], True: []}
        self._written_options: set[str] = set()
        self._unreadable_for_uv = not readable_for_uv
        self._refused: list[RefusedError] = []
        self._again: tuple[LogicalLine, Path] | None = None
        """The first line that includes a file once more."""

    def read(self, path: Path, *, constraint: bool) -> None:
        with suppress(_TooManyError):
            self._read_to_end(self._open(path, constraint=constraint))

    def read_text(self, source: SourceFile, *, constraint: bool) -> None:
        with suppress(_TooManyError):
            self._read_to_end(self._lines_of(source, constraint=constraint))

    def _read_to_end(self, top: _Reading) -> None:
        """Read a file, and what it includes at the place where it does; without recursion, as they may be nested deeply."""
        open_files = [top]
        while open_files:
            included = next(open_files[-1], None)
            if included is None:
                open_files.pop()
            else:
                open_files.append(included)
                self._unreadable_for_uv = self._unreadable_for_uv or len(open_files) > _DEEPEST_FOR_UV

    def _open(self, path: Path, *, constraint: bool) -> _Reading:
        key = (Path(os.path.realpath(path)), constraint)
        if key in self._seen:  # a cycle, or a file that is included twice
            return iter(())
        self._seen.add(key)
        source = self._files.get(key[0]) or read_source(path)
        _refuse_web_page(source)
        if path == self._top:
            _refuse_other_formats(source)
        self._files[key[0]] = source
        return self._lines_of(source, constraint=constraint)

    def _lines_of(self, source: SourceFile, *, constraint: bool) -> _Reading:
        if source.encoding not in {"utf-8", "utf-8-sig"}:
            self._unreadable_for_uv = True
        for line in logical_lines(source, self._environ, self._refuse):
            self._variables.update(line.variables)
            try:
                refuse_loose_backslash(line)
                self._unreadable_for_uv = self._unreadable_for_uv or not uv_reads(line)
                yield from self._read_line(line, constraint=constraint)
            except RefusedError as error:
                self._refuse(error)

    def _refuse(self, error: RefusedError) -> None:
        """Go on after a bad line, so that all are told at once; not to the end of what is no requirements file at all."""
        self._refused.append(error)
        if len(self._refused) == MOST_REFUSALS:
            raise _TooManyError

    def _read_line(self, line: LogicalLine, *, constraint: bool) -> _Reading:
        folder = self._top.parent
        if not line.text.startswith("-"):
            entry = parse_requirement(line, folder, constraint=constraint)
            if line.variables and entry.url is None:
                self._unreadable_for_uv = True  # uv fills variables only in addresses
            self._add(entry, line.raw if entry.url is not None else line.text)
            return
        for option in parse_options(line, line.text):
            if option.name in {"--requirement", "--constraint"}:
                yield self._include(line, option)
            elif option.name == "--editable":
                if constraint:
                    raise bad_line(line, "editable")
                self._add(parse_editable(line, option.value, folder), line.raw)
            elif option.name == "--hash":
                raise bad_line(line, option.name)
            else:
                self._add_option(line, option)

    def _add(self, entry: RequirementEntry, text: str) -> None:
        self._entries.append(entry)
        if entry.url and repository_login(entry.url) is not None:
            text, self._unreadable_for_uv = without_credentials(text), True  # git gets the login by its variables
        self._lines[entry.constraint].append(text)

    def _add_option(self, line: LogicalLine, option: RequirementOption) -> None:
        if option.name in ("--index-url", "--extra-index-url"):
            try:
                _ = urlsplit(option.value).port
            except ValueError as error:
                raise bad_line(line, error) from error
        written = f"{option.name} {option.value}".rstrip()
        if option.name == "--find-links" and "://" not in option.value:
            place = self._find_links(line, option)
            # In a file, uv reads a backslash of a Windows path as a sign that quotes.
            option = replace(option, value=place.absolute().as_uri() if os.name == "nt" else str(place))
            written = f"{option.name} {option.value}"
        elif line.variables:
            written = line.raw  # the value may be secret and is not to be written to disk
        self._options.append(option)
        if written not in self._written_options:
            self._written_options.add(written)
            self._lines[False].append(written)

    def _find_links(self, line: LogicalLine, option: RequirementOption) -> Path:
        """Return the folder or file of links, which pip looks for beside the file first, then in the working folder."""
        for folder in (line.file.parent, self._top.parent):
            path = folder / option.value
            try:
                there = is_there(path)
            except OSError as error:
                raise bad_line(line, reason_of(error)) from error
            if there:
                if folder != line.file.parent:
                    self._unreadable_for_uv = True  # uv looks beside the file alone
                return path
        named = shown(line) if line.variables else option.value
        raise RefusedError("AML_REQUIREMENTS_LOCAL_MISSING", file=str(line.file), line=line.number, path=named)

    def _include(self, line: LogicalLine, option: RequirementOption) -> _Reading:
        file = str(line.file)
        if "://" in option.value:
            address = redact_urls(option.value)
            raise RefusedError("AML_REQUIREMENTS_REMOTE_INCLUDE", file=file, line=line.number, included=address)
        included = line.file.parent / option.value
        if (Path(os.path.realpath(included)), option.name == "--constraint") in self._seen:
            self._again = self._again or (line, included)
        try:
            return self._open(included, constraint=option.name == "--constraint")
        except RefusedError as error:
            if error.code == "AML_REQUIREMENTS_MISSING" and error.arguments["file"] == str(included):
                raise RefusedError(
                    "AML_REQUIREMENTS_INCLUDE_MISSING", file=file, line=line.number, included=str(included)
                ) from error
            raise

    def closure(self, *, with_uv: bool | None = None) -> RequirementsClosure:
        closure = RequirementsClosure(
            path=self._top,
            files=tuple(self._files.values()),
            entries=tuple(self._entries),
            options=tuple(self._options),
            variables=frozenset(self._variables),
            needs_transcoding=self._unreadable_for_uv,
            _requirement_lines=tuple(self._lines[False]),
            _constraint_lines=tuple(self._lines[True]),
        )
        refused = list(self._refused)
        if with_uv is not None:
            refused += islice(_unsupported(closure, with_uv=with_uv), MOST_REFUSALS)
        if refused:
            raise refusal_of(refused)
        if not closure.requirements and self._again is not None:
            line, again = self._again
            file, by = str(self._top), str(line.file)
            raise RefusedError("AML_REQUIREMENTS_CYCLE", file=file, by=by, line=line.number, included=str(again))
        if not closure.requirements:
            raise RefusedError("AML_REQUIREMENTS_EMPTY", file=str(self._top))
        refused = list(islice(chain(_conflicts(closure), _without_hashes(closure)), MOST_REFUSALS))
        if refused:
            raise refusal_of(refused)
        return closure


def _refuse_web_page(source: SourceFile) -> None:
    if _WEB_PAGE.match(source.text):
        raise RefusedError("AML_REQUIREMENTS_WEB_PAGE", file=str(source.path))


def _refuse_other_formats(source: SourceFile) -> None:
    name = source.path.name.lower()
    if name in {"environment.yml", "environment.yaml"} or _CONDA.search(source.text):
        raise RefusedError("AML_REQUIREMENTS_ENVIRONMENT_YML", file=str(source.path))
    if name == "pyproject.toml" or _PROJECT.search(source.text):
        raise RefusedError("AML_REQUIREMENTS_PYPROJECT", file=str(source.path))
    if name in _OTHER_FILES or source.path.suffix.lower() in _OTHER_SUFFIXES:
        raise RefusedError("AML_REQUIREMENTS_OTHER_FILE", file=str(source.path))


def _conflicts(closure: RequirementsClosure) -> Iterator[RefusedError]:
    """Give the refusals of two pins of one package that differ where neither marker keeps them apart.

    Pins with different markers (a lock for several Pythons) are left to the resolver.
    """
    pins: dict[str, dict[tuple[str, str], tuple[RequirementEntry, str]]] = {}
    for entry in closure.entries:
        version = entry.pinned_version
        if entry.name is None or version is None:
            continue
        known = pins.setdefault(entry.name, {})
        if (entry.marker, entry.specifier) in known:
            continue
        for earlier, pinned in known.values():
            together = earlier.marker == entry.marker or not earlier.marker or not entry.marker
            if together and earlier.specifier != entry.specifier and not _allows(earlier, version):
                yield RefusedError(
                    "AML_REQUIREMENTS_CONFLICT",
                    name=entry.name,
                    first=pinned,
                    first_file=str(earlier.file),
                    first_line=earlier.line,
                    second=version,
                    second_file=str(entry.file),
                    second_line=entry.line,
                )
                break
        known[entry.marker, entry.specifier] = (entry, version)


def _allows(pin: RequirementEntry, version: str) -> bool:
    """Tell whether a pin in another spelling is of this version."""
    return "===" not in pin.specifier and SpecifierSet(pin.specifier).contains(version, prereleases=True)


def _without_hashes(closure: RequirementsClosure) -> Iterator[RefusedError]:
    """Give the refusals of lines without hashes where others have some: they would be installed unchecked.

    Folders and checkouts can have none.
    """
    requirements = [entry for entry in closure.requirements if not (entry.editable or entry.is_folder or entry.is_vcs)]
    hashed = any(entry.hashes for entry in requirements) or closure.has_option("--require-hashes")
    by_constraint = {entry.name for entry in closure.constraints if entry.hashes}
    for entry in requirements:
        if hashed and not entry.hashes and entry.name not in by_constraint:
            yield RefusedError("AML_REQUIREMENTS_PARTIAL_HASHES", file=str(entry.file), line=entry.line, text=entry.text)
