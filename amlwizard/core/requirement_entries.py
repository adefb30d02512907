"""One requirement or one option of a requirements file: what a single joined line says."""

from __future__ import annotations

import re
import shlex
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

from packaging.markers import InvalidMarker, Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)

from amlwizard.core.catalogue import Phrase
from amlwizard.core.errors import RefusedError
from amlwizard.core.plain_files import LONGEST_NAME, is_folder, is_there
from amlwizard.core.system_errors import reason_of
from amlwizard.core.urls import local_path, redact_urls

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from amlwizard.core.requirement_files import LogicalLine

_ARCHIVE_SUFFIXES: Final = (".whl", ".zip", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
_URL = re.compile(r"(?:(?P<vcs>git|hg|svn|bzr)\+)?(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+)://|file:")
_MARKER_SEPARATOR = re.compile(r"(?<=\s);|;(?=\s)")
_PLAIN = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?)(==(?:0|[1-9][0-9]*)(?:\.(?:0|[1-9][0-9]*))*)?")
"""A name, with one version at the most: nearly every line, read without a parser as there may be very many."""
_PIN = re.compile(r"===?([^=,\s][^,]*)(?<!\.\*)")
_EXTRAS = re.compile(r"(?P<path>.*?)\[(?P<extras>[A-Za-z0-9._, -]*)\]$")
_OPTIONS_BEGIN = re.compile(r"(?:^|\s)(?=--?[A-Za-z])")
_OPTION_NAME = re.compile(r"--?[A-Za-z][A-Za-z0-9-]*")
_LOOSE_BACKSLASH = re.compile(r"(^|\s)\\$")
_HASH = re.compile(r"(sha256|sha384|sha512):([0-9a-f]+)")
_FRAGMENT_HASH = re.compile(r"[#&](sha256|sha384|sha512)=([0-9a-f]+)")
_HEX_DIGITS: Final = {"sha256": 64, "sha384": 96, "sha512": 128}

_SHORT: Final = {
    "-i": "--index-url",
    "-f": "--find-links",
    "-r": "--requirement",
    "-c": "--constraint",
    "-e": "--editable",
    "-C": "--config-settings",
    "--config-setting": "--config-settings",
}
_VALUED: Final = frozenset(
    {
        *("--index-url", "--extra-index-url", "--find-links", "--no-binary", "--only-binary", "--trusted-host"),
        *("--use-feature", "--hash", "--config-settings", "--global-option"),
    }
)
_FLAGS: Final = frozenset({"--no-index", "--pre", "--prefer-binary", "--require-hashes"})
_TO_LINE_END: Final = frozenset({"--requirement", "--constraint", "--editable"})
PLACES: Final = frozenset({"--find-links", "--index-url", "--extra-index-url"})
"""Options that say where packages come from."""
PIP_READS: Final = _VALUED | _FLAGS
"""Options that pip honours in a file, beside those that name another file or folder."""


@dataclass(frozen=True)
class RequirementOption:
    """One option with its long name; ``value`` is empty for a flag and may hold credentials."""

    name: str
    value: str = field(repr=False)
    file: Path
    line: int


@dataclass(frozen=True)
class RequirementEntry:
    """One requirement, or one constraint.

    ``name`` is normalised, None where only building the source would tell it. ``specifier`` and ``marker`` are in their
    normalised spelling, empty where there are none. ``url`` is a direct reference with its variables filled in, which may
    hold credentials; ``path`` is set too where it is a file or folder of this computer. ``text`` can be shown; ``written``
    is the whole line with its variables unfilled, which may hold credentials.
    """

    name: str | None
    specifier: str
    extras: tuple[str, ...]
    marker: str
    url: str | None = field(repr=False)
    path: Path | None
    editable: bool
    hashes: tuple[str, ...]
    options: tuple[RequirementOption, ...]
    constraint: bool
    text: str
    file: Path
    line: int
    written: str = field(repr=False, default="")

    @property
    def needs_git(self) -> bool:
        """Tell whether git must fetch this."""
        return self.url is not None and self.url.startswith("git+")

    @property
    def is_vcs(self) -> bool:
        """Tell whether this is checked out of a version control system."""
        match = _URL.match(self.url or "")
        return match is not None and match["vcs"] is not None

    @property
    def is_folder(self) -> bool:
        """Tell whether this is a local folder, which can have no hash."""
        return self.path is not None and is_folder(self.path)

    @property
    def pinned_version(self) -> str | None:
        """The one version that this allows, or None."""
        pin = _PIN.fullmatch(self.specifier)
        return pin[1] if pin is not None else None


def uv_reads(line: LogicalLine) -> bool:
    """Tell whether uv reads a line as pip does: it joins lines only before the options of a requirement."""
    if line.odd_space:
        return False
    if not line.goes_on:
        return True
    head = _head(line.raw)
    return bool(head) and head != line.raw and len(head) <= len(_head(line.first_part))


def refuse_loose_backslash(line: LogicalLine) -> None:
    """Refuse a backslash at the end that joins nothing.

    Raises:
        RefusedError: ``AML_REQUIREMENTS_BAD_LINE``.
    """
    if line.cut_off:
        raise bad_line(line, Phrase("requirements.cut_off"))
    if _LOOSE_BACKSLASH.search(line.raw):
        raise bad_line(line, Phrase("requirements.loose_backslash"))


def _head(text: str) -> str:
    cut = _OPTIONS_BEGIN.search(text)
    return (text[: cut.start()] if cut else text).strip()


def bad_line(line: LogicalLine, reason: object) -> RefusedError:
    """Return the refusal of a line that cannot be read."""
    told = reason if isinstance(reason, Phrase) else redact_urls(str(reason).partition("\n")[0])
    if line.variables and told is not reason:  # the reason may quote their values
        told = ", ".join(f"${{{name}}}" for name in line.variables)
    return RefusedError(
        "AML_REQUIREMENTS_BAD_LINE",
        file=str(line.file),
        line=line.number,
        text=shown(line),
        reason=told,
    )


def shown(line: LogicalLine) -> str:
    """Return the line as it can be shown: variables unfilled, credentials hidden, at most 120 characters."""
    text = redact_urls(f"{line.raw} \\".lstrip() if line.cut_off else line.raw)
    return text if len(text) <= 120 else text[:119] + "…"


def parse_options(line: LogicalLine, text: str) -> list[RequirementOption]:
    """Return the options of a text that consists of options.

    Raises:
        RefusedError: ``AML_REQUIREMENTS_BAD_LINE``, or ``AML_REQUIREMENTS_OPTION_VALUE`` for an option without its value.
    """
    first, _, rest = text.partition(" ")
    whole = _split_option(first)
    if whole[0] in _TO_LINE_END:
        argument = _unquoted(f"{whole[1] or ''} {rest}".strip())
        return [RequirementOption(whole[0], _required(line, whole[0], argument), line.file, line.number)]
    options: list[RequirementOption] = []
    words = deque(_words(line, text))
    while words:
        word = words.popleft()
        name, value = _split_option(word)
        if not _OPTION_NAME.fullmatch(name):
            raise bad_line(line, word)
        if value is None and words and (name in _VALUED or (name not in _FLAGS and not words[0].startswith("-"))):
            value = words.popleft()
        if name in _VALUED:
            _required(line, name, value or "")
        options.append(RequirementOption(name, value or "", line.file, line.number))
    return options


def _words(line: LogicalLine, text: str) -> Iterator[str]:
    if '"' not in text and "'" not in text:  # the thousands of hashes of a lock
        yield from text.split()
        return
    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    lexer.escape = ""  # a backslash belongs to a Windows path
    try:
        yield from lexer
    except ValueError as error:
        raise bad_line(line, error) from error


def _split_option(word: str) -> tuple[str, str | None]:
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        return _SHORT.get(name, name), value if equals else None
    name, attached = word[:2], word[2:]
    return _SHORT.get(name, name), attached.removeprefix("=") or None


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value


def _required(line: LogicalLine, name: str, value: str) -> str:
    if not value:
        raise RefusedError("AML_REQUIREMENTS_OPTION_VALUE", file=str(line.file), line=line.number, option=name)
    return value


def parse_requirement(line: LogicalLine, folder: Path, *, constraint: bool) -> RequirementEntry:
    """Return the requirement of a line; local paths are relative to ``folder``.

    Raises:
        RefusedError: ``AML_REQUIREMENTS_BAD_LINE``, ``_OPTION_VALUE``, ``_HASH`` or ``_LOCAL_MISSING``.
    """
    cut = _OPTIONS_BEGIN.search(line.text)
    options = parse_options(line, line.text[cut.start() :].strip()) if cut else []
    hashes = tuple(sorted(_checked_hash(line, option.value) for option in options if option.name == "--hash"))
    others = tuple(option for option in options if option.name != "--hash")
    text = line.text[: cut.start()].strip() if cut else line.text
    return _entry(line, text, folder, constraint=constraint, hashes=hashes, options=others)


def parse_editable(line: LogicalLine, value: str, folder: Path) -> RequirementEntry:
    """Return the requirement of an ``-e`` line, whose value is a folder or a version control address.

    Raises:
        RefusedError: as ``parse_requirement``.
    """
    cut = _OPTIONS_BEGIN.search(value)
    options = tuple(parse_options(line, value[cut.start() :].strip())) if cut else ()
    text = value[: cut.start()].strip() if cut else value
    return _entry(line, text, folder, constraint=False, options=options, editable=True)


def _checked_hash(line: LogicalLine, value: str) -> str:
    match = _HASH.fullmatch(value.lower())
    if match is None or len(match[2]) != _HEX_DIGITS[match[1]]:
        raise RefusedError("AML_REQUIREMENTS_HASH", file=str(line.file), line=line.number, text=value[:40])
    return match.group()


def _entry(
    line: LogicalLine,
    text: str,
    folder: Path,
    *,
    constraint: bool,
    hashes: tuple[str, ...] = (),
    options: tuple[RequirementOption, ...] = (),
    editable: bool = False,
) -> RequirementEntry:
    name: str | None
    url: str | None
    extras: tuple[str, ...]
    plain = None if editable else _PLAIN.fullmatch(text)
    if plain is not None:
        name, specifier, extras, marker, url = canonicalize_name(plain[1]), plain[2] or "", (), "", None
        _refuse_long(line, text)
    elif editable or _is_direct(text):
        target, marker = _split_marker(line, text)
        target, extras = _split_extras(target)
        name, specifier, url = None, "", target
    else:
        try:
            requirement = Requirement(text)
        except InvalidRequirement as error:
            raise bad_line(line, error) from error
        name, url = canonicalize_name(requirement.name), requirement.url
        specifier, marker = str(requirement.specifier), str(requirement.marker or "")
        extras = tuple(sorted(canonicalize_name(extra) for extra in requirement.extras))
        _refuse_long(line, name, *extras, *(each.version for each in requirement.specifier))
    path = None
    if url is not None:
        url = url.strip()
        if _URL.match(url):
            try:
                urlsplit(url)
            except ValueError as error:
                raise bad_line(line, error) from error
        path = _local_path(line, url, folder)
        hashes += tuple(f"{kind}:{value}" for kind, value in _FRAGMENT_HASH.findall(url))
        name = name or _name_of(url, path)
    return RequirementEntry(
        name=name,
        specifier=specifier,
        extras=extras,
        marker=marker,
        url=url,
        path=path,
        editable=editable,
        hashes=hashes,
        options=options,
        constraint=constraint,
        text=shown(line),
        file=line.file,
        line=line.number,
        written=line.raw,
    )


def _refuse_long(line: LogicalLine, *words: str) -> None:
    """Refuse a name or a version that no file can have in its own name; a resolver finds that out very late."""
    if any(len(word) > LONGEST_NAME for word in words):
        raise bad_line(line, Phrase("requirements.too_long", {"most": LONGEST_NAME}))


def _is_direct(text: str) -> bool:
    """Tell whether a requirement without a name is an address or a path, as pip does."""
    target = _MARKER_SEPARATOR.split(text, maxsplit=1)[0].rstrip()
    if _URL.match(target):
        return True
    if " @" in target or "@ " in target or re.match(r"[A-Za-z0-9._-]+(\[[^\]]*\])?@[A-Za-z]+[:+]", target):
        return False
    if target.startswith(".") or "/" in target or "\\" in target:
        return True
    extras = _EXTRAS.match(target)
    return (extras["path"] if extras else target).lower().endswith(_ARCHIVE_SUFFIXES)


def _split_marker(line: LogicalLine, text: str) -> tuple[str, str]:
    parts = _MARKER_SEPARATOR.split(text, maxsplit=1)
    if len(parts) == 1:
        return text.strip(), ""
    try:
        return parts[0].strip(), str(Marker(parts[1].strip()))
    except InvalidMarker as error:
        raise bad_line(line, error) from error


def _split_extras(target: str) -> tuple[str, tuple[str, ...]]:
    match = _EXTRAS.match(target)
    if match is None or _URL.match(target):
        return target, ()
    extras = (canonicalize_name(extra.strip()) for extra in match["extras"].split(",") if extra.strip())
    return match["path"], tuple(sorted(extras))


def _local_path(line: LogicalLine, url: str, folder: Path) -> Path | None:
    if _URL.match(url) is None:
        if "://" in url:
            raise bad_line(line, url)
        path = folder / url.partition("#")[0]
    elif url.startswith("file:"):
        if not urlsplit(url).path:
            raise bad_line(line, url)
        path = folder / local_path(url)
    else:
        return None
    try:
        exists = is_there(path)
    except OSError as error:  # too long, or in a folder that may not be entered
        raise bad_line(line, reason_of(error)) from error
    if not exists:
        named = shown(line) if line.variables or "://" in url else str(path)
        raise RefusedError("AML_REQUIREMENTS_LOCAL_MISSING", file=str(line.file), line=line.number, path=named)
    return path


def _name_of(url: str, path: Path | None) -> str | None:
    fragment = re.search(r"[#&]egg=([A-Za-z0-9._-]+)", url)
    if fragment:
        return canonicalize_name(fragment[1])
    filename = path.name if path is not None else unquote(urlsplit(url).path.rpartition("/")[2])
    try:
        if filename.endswith(".whl"):
            return parse_wheel_filename(filename)[0]
        return parse_sdist_filename(filename)[0]
    except (InvalidWheelFilename, InvalidSdistFilename):
        return None
