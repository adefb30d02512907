"""Recognises in the output of uv and pip what went wrong (DESIGN P7); knows patterns, not command lines.

The rules are tried in their order over the last lines of a tool's output; the first that fits names the code. Network
faults stand before "package not found", because uv reports a refused index as an unsatisfiable requirement with a hint.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from amlwizard.core.catalogue import ToolText
from amlwizard.core.errors import AmlError
from amlwizard.core.refused_start import BINARY, POLICY, VIRUS
from amlwizard.core.urls import is_remote

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TAIL_LINES: Final = 40
"""How many of the last lines are looked at and kept with the error."""


_LONGEST_LINE: Final = 8_000
_LOOKED_AT: Final = 30_000
"""Characters; in more than any tool says in its last lines the rules would look for minutes."""


@dataclass(frozen=True)
class _Rule:
    """A pattern, and what it ends in: looking for that alone costs little where it is not there."""

    pattern: str
    code: str
    end: str = ""

    def search(self, text: str) -> re.Match[str] | None:
        """Return where a text fits; patterns are compiled here, as all of them would cost each start 20 ms."""
        flags = re.IGNORECASE | re.DOTALL
        return re.search(self.pattern, text, flags) if re.search(self.end, text, flags) else None


def _ending(start: str, end: str, code: str) -> _Rule:
    """Return the rule for words that follow something."""
    return _Rule(f"{start}(?:{end})", code, end)


_URL_HOST = r"(?P<scheme>https?)://(?:[^/@\s]*+@)?+(?P<host>[^/\s`),]++)"
_POOL_HOST = r"host='(?P<host>[^']++)'.{0,400}?"
_PACKAGE = r"(?P<package>[A-Za-z0-9][A-Za-z0-9._-]*)"
_GIT_PACKAGE = r"(?:Failed to download and build [`'](?P<package>[^`'@\s]+)[^`']*[`'].{0,200}?)?"
_OF_GIT = (
    r"(?:(?:Failed to download and build [`']|Collecting )" + _PACKAGE + r"(?:\[[^\]]{0,200}\])?\s?@ "
    r"(?:(?!Collecting ).){0,2000}?)?"
)
_GIT_HOST = r"'https?://(?:[^/@\s']*+@)?+(?P<host>[^/\s']++)"

_STARTED = r"Failed to query Python interpreter at [`'](?P<program>[^`']{1,1000})[`']"
_QUERIED = r"Querying Python at [`'](?P<program>[^`']{1,1000})[`'] failed with exit status "
_COMPILERS = (
    r"(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|cl|cl\.exe|gfortran|cargo|rustc|cmake|ninja|make|swig|nvcc)(?:-[\d.]+)?"
)
_BUILDS = r"(?:.{0,8000}?Failed (?:to build [`']|building wheel for )(?P<package>[^`'@\s]+))?"
_LACKING: Final = (
    r"\[Errno 2\] No such file or directory: '(?P<compiler>" + _COMPILERS + r")'",
    r"command '(?P<compiler>" + _COMPILERS + r")' failed: No such file",
    r"Unknown compiler\(s\): \[\['(?P<compiler>[^']{1,40})'",
    r"No (?P<compiler>CMAKE_\w{1,20}_COMPILER) could be found",
    r"(?P<compiler>Microsoft Visual C\+\+ [\d.]{1,8}) or greater is required",
    r"(?P<compiler>xcrun): error: invalid active developer path",
    r"can't find (?P<compiler>Rust) compiler",
    r"linker [`'](?P<compiler>cc|link\.exe)[`'] not found",
)
_HEADERS: Final = (
    r"fatal error: (?P<header>[^\s:'\"]{1,200}): No such file",
    r"fatal error: '(?P<header>[^']{1,200})' file not found",
    r"Cannot open include file: '(?P<header>[^']{1,200})'",
)

_DAMAGED: Final = (
    r"Failed to download(?: and build)? [`'](?P<package>[^`'@\s]+)[^`']{0,2000}[`'].{0,200}?Failed to extract archive",
    r"Failed to download(?: and build)? [`'](?P<package>[^`'@\s]+)[^`']{0,2000}[`'].{0,200}?error decoding response body",
    r"(?:Because|and|And because) (?P<package>[A-Za-z0-9._-]+(?:==\S+)?) has an invalid package format",
    r"Failed to unzip wheel: (?P<package>[^\s/]{1,200}\.whl)",
    r"Wheel '(?P<package>[^']{1,200})' located at .{1,2000}? is invalid\.",
)
_ONLY_AVAILABLE: Final = (
    r"Because only (?:(?!we can conclude).){1,4000}? and you require (?:one of: )?"
    r"(?P<package>[^\s,]+(?:(?!we can conclude).){0,1000}?),? we can conclude that your requirements are unsatisfiable"
)

_RULES: Final = (
    _Rule(
        r"no space left on device|os error 28\b|not enough space on the disk|dis[ck] quota exceeded|os error 122\b",
        "AML_NO_SPACE",
    ),
    _Rule(
        r"memory allocation of \d+ bytes failed|cannot allocate memory|os error 12\b|os error 1455\b"
        r"|paging file is too small|virtual memory exhausted|\bMemoryError\b|fatal error: Killed signal terminated program",
        "AML_OUT_OF_MEMORY",
    ),
    _Rule(r"input/output error \(os error 5\)|\[Errno 5\] Input/output error|os error 1117\b", "AML_DISK_FAULT"),
    _Rule(r"os error 396\b|incompatible hard ?links|failed to hard ?link|os error 1142\b", "AML_LINK_REFUSED"),
    _Rule(
        r"os error 206\b|os error 36\b|file ?name (?:or extension is )?too long|WinError 206\b"
        r"|[A-Z]:\\[^\n\"'`<>|]{235}.{0,1000}?(?:os error [23]\b|cannot find the (?:path|file)|No such file)",
        "AML_TOOL_PATH_TOO_LONG",
    ),
    _Rule(
        r"[`']" + _PACKAGE + r"[`'] was found on " + _URL_HOST + r"\S*, but not at the requested version "
        r"\((?P<wanted>[^)]{1,200})\)\. A compatible version may be available on a subsequent index",
        "AML_INDEX_SHADOWS",
    ),
    _Rule(
        r"Failed to deserialize cache entry|Failed to (?:initialize cache|acquire lock on the distribution cache).{0,400}?"
        r"(?:os error (?:17|20)\b)"
        r"|failed to (?:read directory|open file) [`'][^`']{1,600}[/\\]archive-v\d+[/\\][^`']{1,400}[`'].{0,60}?"
        r"os error (?:2|3|20)\b",
        "AML_CACHE_DAMAGED",
    ),
    _Rule(_STARTED + r".{0,200}?(?P<reason>[^:]{0,200}os error (?:1260|4551|577)\b|Operation not permitted)", POLICY),
    _Rule(_STARTED + r".{0,200}?(?P<reason>[^:]{0,200}os error 22[56]\b)", VIRUS),
    _Rule(
        _STARTED + r".{0,200}?(?P<reason>Exec format error|Bad CPU type in executable|[^:]{0,200}os error (?:193|216)\b)",
        BINARY,
    ),
    _Rule(r"version [`'](?P<library>(?:GLIBC|GLIBCXX|CXXABI)_[\d.]+)' not found", "AML_SYSTEM_TOO_OLD"),
    _Rule(r"error while loading shared libraries: (?P<library>[^:\s]+): cannot open", "AML_LIBRARY_MISSING"),
    _Rule(r"Error loading shared library (?P<library>[^:\s]+):", "AML_LIBRARY_MISSING"),
    _Rule(r"Library not loaded: (?P<library>\S+)", "AML_LIBRARY_MISSING"),
    _Rule(_QUERIED + r"signal: (?P<signal>\d+)", "AML_TOOL_KILLED"),
    _Rule(_QUERIED + r"exit status.{0,6000}\s(?P<cause>\w+Error: .{1,200}?)(?=\s{2}|$)", "AML_PYTHON_DAMAGED"),
    _Rule(_QUERIED + r"(?P<cause>exit status: \d+)", "AML_PYTHON_DAMAGED"),
    *(_Rule(lacking + _BUILDS, "AML_BUILD_NO_COMPILER") for lacking in _LACKING),
    *(_Rule(header + _BUILDS, "AML_BUILD_NO_HEADER") for header in _HEADERS),
    _Rule(
        r"DO NOT MATCH THE HASHES.{0,1000}?(?P<cause>\S+ from \S+ .{0,1000}?Expected \w+ .{0,1000}?Got\s+\w{32,})",
        "AML_HASH_REFUSED",
    ),
    _Rule(r"hash mismatch|hashes? .{0,40}do not match|THESE PACKAGES DO NOT MATCH THE HASHES", "AML_HASH_REFUSED"),
    *(_Rule(damaged, "AML_DOWNLOAD_DAMAGED") for damaged in _DAMAGED),
    _Rule(_GIT_PACKAGE + r"Git executable not found", "AML_GIT_MISSING"),
    _ending(
        _OF_GIT,
        r"(?:could not read (?:Username|Password) for|Authentication failed for) " + _GIT_HOST,
        "AML_GIT_UNAUTHORIZED",
    ),
    _ending(
        _OF_GIT,
        r"unable to access " + _GIT_HOST + r"[^']{0,1000}': The requested URL returned error: 40[13]\b",
        "AML_GIT_UNAUTHORIZED",
    ),
    _ending(_OF_GIT, r"(?P<host>[\w.-]{1,255}): Permission denied \(publickey", "AML_GIT_UNAUTHORIZED"),
    _Rule(
        _GIT_PACKAGE + r"Git operation failed(?:.{0,2000}?fatal: (?P<cause>.{1,300}?)(?= fatal:| Please make sure|$))?",
        "AML_GIT_FAILED",
    ),
    _ending(_URL_HOST + r".{0,200}?", r"\b407\b|proxy authentication required", "AML_INDEX_PROXY_AUTH"),
    _ending(
        r"(?:" + _URL_HOST + r".{0,600}?)?",
        r"tunnel error: failed to create underlying connection"
        r"|Cannot connect to proxy\.', (?:NewConnectionError|NameResolutionError|ConnectTimeoutError)",
        "AML_PROXY_UNREACHABLE",
    ),
    _ending(_URL_HOST + r".{0,600}?", r"tunnel error: ", "AML_INDEX_PROXY"),
    _ending(_URL_HOST + r".{0,400}?", r"invalid peer certificate|UnknownIssuer|certificate verify failed", "AML_INDEX_TLS"),
    _ending(_URL_HOST + r".{0,300}?", r"dns error|failed to lookup address|name or service not known", "AML_INDEX_NAME"),
    _ending(_URL_HOST + r".{0,400}?", r"connection refused|os error 111|os error 61\b|os error 10061", "AML_INDEX_REFUSED"),
    _ending(_URL_HOST + r".{0,400}?", r"operation timed out|timed out|os error 110\b", "AML_INDEX_TIMEOUT"),
    _ending(_URL_HOST + r".{0,200}?", r"\b401\b", "AML_INDEX_UNAUTHORIZED"),
    _ending(_URL_HOST + r".{0,200}?", r"\b403\b", "AML_INDEX_FORBIDDEN"),
    _ending(_POOL_HOST, r"name or service not known|getaddrinfo failed", "AML_INDEX_NAME"),
    _ending(_POOL_HOST, r"connection refused|10061", "AML_INDEX_REFUSED"),
    _ending(_POOL_HOST, r"certificate verify failed", "AML_INDEX_TLS"),
    _ending(
        _URL_HOST + r".{0,600}?", r"error sending request|connect error|network is unreachable", "AML_INDEX_UNREACHABLE"
    ),
    _Rule(r"Missing `Content-Type` header for `(?P<url>" + _URL_HOST + r"[^`]{0,1000})`", "AML_NET_NOT_AN_INDEX"),
    _Rule(r"Received some unexpected \w+ from `(?P<url>" + _URL_HOST + r"[^`]{0,1000})`", "AML_NET_NOT_AN_INDEX"),
    _Rule(
        r"Failed to fetch: `?(?P<url>" + _URL_HOST + r"[^`\s]{0,1000})`?.{0,200}?HTTP 30\d\b.{0,40}? 'Location' value",
        "AML_NET_NOT_AN_INDEX",
    ),
    _Rule(
        r"Failed to fetch: `?" + _URL_HOST + r".{0,600}?error decoding response body"
        r"(?:.{0,600}cause: (?P<cause>error reading a body.{1,200}))?",
        "AML_INDEX_UNREACHABLE",
    ),
    _Rule(r"HTTP status \w+ error \((?P<status>\d{3})\b[^)]*\) for url \(" + _URL_HOST, "AML_INDEX_SERVER"),
    _Rule(r"network connectivity is disabled|--offline|network was disabled", "AML_OFFLINE_MISSING"),
    _Rule(
        r"Failed to resolve requirements from [`'](?:build-system\.requires[`']|setup\.py[`'] build).{0,1000}?"
        r"Because " + _PACKAGE + r" was not found in the ",
        "AML_BUILD_REQUIREMENT",
    ),
    _Rule(
        r"subprocess to install build dependencies did not run successfully.{0,4000}?"
        r"No matching distribution found for (?P<package>[^\s(]+)",
        "AML_BUILD_REQUIREMENT",
    ),
    _Rule(
        r"Because " + _PACKAGE + r" was not found in the (?:package registry|provided package locations)",
        "AML_PACKAGE_NOT_FOUND",
    ),
    _Rule(r"(?:Because|And because|and) (?P<package>[A-Za-z0-9._-]+(?:==\S+)?) was yanked", "AML_YANKED"),
    _Rule(r"there are no versions of " + _PACKAGE, "AML_PACKAGE_NOT_FOUND"),
    _Rule(r"satisfies the requirement (?P<package>\S+) \(from versions: (?!none)", "AML_NO_SUCH_VERSION"),
    _Rule(r"No matching distribution found for (?P<package>[^\s(]+)", "AML_PACKAGE_NOT_FOUND"),
    _Rule(r"there is no version of (?P<package>\S+?)(?: and| which|,|\s)", "AML_NO_SUCH_VERSION"),
    _Rule(r"Failed to build [`'](?P<package>[^`'@]+?)(?:\s@[^`']*)?[`']", "AML_BUILD_FAILED"),
    _Rule(r"Failed building wheel for (?P<package>\S+)|subprocess-exited-with-error", "AML_BUILD_FAILED"),
    _Rule(r"has no wheels with a matching platform tag", "AML_NO_WHEEL_FOR_SYSTEM"),
    _Rule(r"has no wheels with a matching|doesn't have a (?:source distribution or )?wheel", "AML_NO_WHEEL_FITS"),
    _Rule(r"(?P<package>[A-Za-z0-9._-]+(?:==\S+)?) (?:has|have) no source distribution", "AML_NO_SOURCE"),
    _Rule(_ONLY_AVAILABLE, "AML_NO_SUCH_VERSION"),
    _Rule(r"unsatisfiable|ResolutionImpossible|conflicting dependencies", "AML_CONFLICT"),
    _Rule(
        r"used by another process|WinError 32\b|(?<!Broken pipe \()os error (?:32|33)\b|text file busy|os error 26\b",
        "AML_FILE_IN_USE",
    ),
    _Rule(r"read-only file system|os error 30\b", "AML_READ_ONLY"),
    _Rule(r"permission denied|os error 13\b|access is denied|os error 5\b", "AML_PERMISSION"),
    _Rule(r"unexpected argument|unrecognized subcommand", "AML_UV_TOO_OLD_FOR_OPTION"),
)


def failure_from_output(lines: Sequence[str], *, otherwise: str, tool: str = "uv", **arguments: object) -> AmlError:
    """Return the error that a tool's last lines speak of.

    Args:
        lines: the tool's output, redacted.
        otherwise: the code where nothing is recognised.
        tool: whose words they are.
        arguments: arguments for the texts; those that a rule finds are added.
    """
    tail = list(lines)[-TAIL_LINES:]
    detail = "\n".join(tail)
    told = _DEFAULTS | arguments | {"cause": ToolText(_cause(tail), tool)}
    joined = " ".join(line.strip()[:_LONGEST_LINE] for line in tail)[-_LOOKED_AT:]
    for rule in _RULES:
        found = rule.search(joined)
        if found is None:
            continue
        named: dict[str, object] = {name: value for name, value in found.groupdict().items() if value}
        if "cause" in named:
            named["cause"] = ToolText(found["cause"], tool)
        return AmlError(rule.code, detail=detail, **(told | named))
    return AmlError(otherwise, detail=detail, **told)


_YANKED_BY_UV: Final = re.compile(
    r"""warning: [`'](?P<package>[^`']{1,200})[`'] is yanked(?: \(reason: "(?P<reason>.{1,1000})"\))?"""
)
_YANKED_BY_PIP: Final = re.compile(
    r"is a yanked version: '(?P<name>[^']{1,200})' candidate \(version (?P<version>\S{1,100}) at "
)
_SOUGHT_BY_PIP: Final = re.compile(r"Collecting (?P<name>\S{1,200}?) ?@ (?P<url>\S{1,1000})")
_REASON_OF_PIP: Final = re.compile(r"Reason for being yanked: (?!<none given>)(?P<reason>.{1,1000})")


def yanked_packages(lines: Sequence[str]) -> dict[str, str]:
    """Return what uv or pip took although it is withdrawn, as ``name==version``, each with the reason given or nothing.

    Args:
        lines: the tool's output, redacted.
    """
    yanked: dict[str, str] = {}
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if (by_uv := _YANKED_BY_UV.search(line)) is not None:
            yanked[by_uv["package"]] = by_uv["reason"] or ""
        elif (by_pip := _YANKED_BY_PIP.search(line)) is not None:
            reason = _REASON_OF_PIP.search(following)
            yanked[f"{by_pip['name']}=={by_pip['version']}"] = reason["reason"].strip() if reason is not None else ""
    return yanked


def sought_elsewhere(lines: Sequence[str]) -> list[str]:
    """Return what pip was about to take from an address elsewhere, as requirements: a wheel's own metadata may name one."""
    found = (_SOUGHT_BY_PIP.match(line.strip()) for line in lines)
    return [f"{match['name']} @ {match['url']}" for match in found if match is not None and is_remote(match["url"])]


def blame_proxy(error: AmlError, proxy_for: Callable[[str], str | None]) -> AmlError:
    """Return an error that names the proxy where it was the proxy, not the host behind it, that did not do its part.

    Nothing but the proxy is looked up or connected to where one is in use; over HTTPS the tools say where it is not there.

    Args:
        error: as ``failure_from_output`` returns it.
        proxy_for: returns the proxy of an address, or None.
    """
    scheme, host = error.arguments.get("scheme", "https"), error.arguments.get("host", "?")
    if error.code not in _OF_THE_PROXY.keys() | _OF_A_PROXY:
        return error
    proxy = proxy_for(f"{scheme}://{host}/")
    code = error.code if error.code in _OF_A_PROXY else _OF_THE_PROXY[error.code].get(str(scheme))
    if code is None or (proxy is None and error.code not in _OF_A_PROXY):
        return error
    return AmlError(code, detail=error.detail, **(error.arguments | {"proxy": proxy or "?"}))


_OF_A_PROXY: Final = frozenset({"AML_PROXY_UNREACHABLE", "AML_INDEX_PROXY"})
"""What a tool says in so many words."""
_OF_THE_PROXY: Final[dict[str, dict[str, str]]] = {
    "AML_INDEX_NAME": {"http": "AML_PROXY_UNREACHABLE"},
    "AML_INDEX_REFUSED": {"http": "AML_PROXY_UNREACHABLE"},
    "AML_INDEX_UNREACHABLE": {"https": "AML_INDEX_PROXY"},
    "AML_INDEX_TIMEOUT": {"https": "AML_INDEX_PROXY"},
}
"""What is told of a host that a proxy leads to, by scheme."""
_DEFAULTS: Final[dict[str, object]] = {"host": "?", "package": "?", "file": "?"}


def _cause(tail: Sequence[str]) -> str:
    """Return the sentence that says most: uv's cause, else the last error line, else the last line."""
    kept: list[str] = []
    for number, line in enumerate(tail):
        label, separator, cause = line.strip().partition(":")
        if separator and label in {"cause", "Caused by"}:  # as uv words it now, and as it did before
            kept.append(cause.strip())
            kept.extend(more.strip() for more in _continuation(tail[number + 1 :]))
            break
    if not kept:
        kept = [line.strip() for line in tail if line.lower().lstrip().startswith("error")][-1:]
    if not kept:
        kept = [line.strip() for line in tail if line.strip()][-1:]
    return " ".join(kept)


def _continuation(lines: Sequence[str]) -> list[str]:
    taken: list[str] = []
    for line in lines:
        if not line.startswith("   ") or not line.strip():
            break
        taken.append(line)
    return taken
