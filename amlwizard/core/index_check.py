"""Asks an index itself where a resolver says that a package does not exist: it may be the index that is not there.

uv and pip take a sign-in page for an index without the package, and pip a refusal and a broken server as well.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from packaging.utils import canonicalize_name

from amlwizard.core.catalogue import Phrase, ToolText
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.index_urls import PROXY_SCHEMES, split_url
from amlwizard.core.plain_files import is_folder
from amlwizard.core.simple_index import ACCEPT, parse_project_page, project_url
from amlwizard.core.urls import host_of, local_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amlwizard.core.context import RunContext
    from amlwizard.core.requirements import RequirementsClosure

_MAY_BE_THE_INDEX: Final = frozenset({"AML_PACKAGE_NOT_FOUND", "AML_NO_SUCH_VERSION", "AML_BUILD_REQUIREMENT"})
_OF_AN_INDEX: Final = {
    "AML_NET_NAME": "AML_INDEX_NAME",
    "AML_NET_REFUSED": "AML_INDEX_REFUSED",
    "AML_NET_UNREACHABLE": "AML_INDEX_UNREACHABLE",
    "AML_NET_TIMEOUT": "AML_INDEX_TIMEOUT",
    "AML_NET_STALLED": "AML_INDEX_TIMEOUT",
    "AML_NET_RESET": "AML_INDEX_UNREACHABLE",
    "AML_NET_CERTIFICATE": "AML_INDEX_TLS",
    "AML_NET_TLS": "AML_INDEX_UNREACHABLE",
    "AML_NET_PROXY": "AML_PROXY_UNREACHABLE",
    "AML_NET_PROXY_AUTH": "AML_INDEX_PROXY_AUTH",
    "AML_NET_UNAUTHORIZED": "AML_INDEX_UNAUTHORIZED",
    "AML_NET_FORBIDDEN": "AML_INDEX_FORBIDDEN",
    "AML_NET_NOT_FOUND": "AML_INDEX_NOT_FOUND",
    "AML_NET_BUSY": "AML_INDEX_SERVER",
    "AML_NET_SERVER": "AML_INDEX_SERVER",
}
"""By what a fetch says, what uv and pip are taken to say of an index."""
_A_GLANCE: Final = 1024
"""Bytes of an index's list of all packages that are enough to know that it is there."""


async def blame_index(run: RunContext, closure: RequirementsClosure, error: AmlError) -> AmlError:
    """Return what an index says where that explains better than the resolver's error why a package was not found.

    Args:
        run: the run.
        closure: what was resolved; indexes that the files name count.
        error: what the resolver's output was taken for.
    """
    if error.code == "AML_INDEX_TLS" and not run.choices.offline:
        return await _with_issuer(run, closure, error)
    package = re.match(r"[A-Za-z0-9._-]+", str(error.arguments.get("package", "")))
    if error.code not in _MAY_BE_THE_INDEX or package is None or run.choices.offline:
        return error
    if closure.has_option("--no-index"):
        return AmlError("AML_PACKAGE_WITHOUT_INDEX", detail=error.detail, package=package[0])
    for index in _all_indexes(run, closure):
        if index.startswith("file:") and not is_folder(folder := local_path(index)):
            return AmlError("AML_INDEX_FOLDER_MISSING", detail=error.detail, path=str(folder))
    unknown = error.code == "AML_PACKAGE_NOT_FOUND"
    only_source = unknown and closure.has_option("--no-binary")
    for index in dict.fromkeys(indexes(run, closure)):
        found = await _look(run, index, canonicalize_name(package[0]), only_source=only_source)
        if isinstance(found, AmlError):
            return AmlError(found.code, detail=error.detail, **found.arguments)
        if found and unknown and run.uv is None:  # pip alone takes nothing but wheels that fit, and calls the rest unknown
            return AmlError("AML_NO_WHEEL_FITS", detail=error.detail, cause=error.arguments["cause"])
    return error


async def _with_issuer(run: RunContext, closure: RequirementsClosure, error: AmlError) -> AmlError:
    """Return the error with what uv and pip do not say: by whom the certificate was issued."""
    for index in dict.fromkeys(indexes(run, closure)):
        if host_of(index) == error.arguments.get("host"):
            found = await _look(run, index, "pip", only_source=False)
            if isinstance(found, AmlError) and found.code == error.code:
                return AmlError(found.code, detail=error.detail, **found.arguments)
    return error


def index_error(error: AmlError, index: str, package: str) -> AmlError:
    """Return what a fetch from an index has met, as the error of the index."""
    reason = error.arguments.get("reason", "")
    code = _OF_AN_INDEX.get(error.code)
    if code is None:
        return error
    if code == "AML_PROXY_UNREACHABLE" and error.arguments.get("answers"):
        code = "AML_INDEX_PROXY"
    told = AmlError(code)
    cause = (
        Phrase("wording.sentence", {"words": reason}) if isinstance(reason, Phrase) else ToolText(str(reason or "?"), "")
    )
    host, met = host_of(index), error.arguments.get("host")
    named = Phrase("net.led_on", {"host": host, "target": met}) if met and met != host else host
    told.arguments = {"cause": cause, **error.arguments, "host": named, "url": index, "package": package}
    return told


async def _look(run: RunContext, index: str, package: str, *, only_source: bool) -> AmlError | bool:
    """Return what is wrong with an index, or whether it has files of the package where it answers as one does.

    Of one that has nothing but wheels where ``only_source`` counts, pip says that it lacks the package.
    """
    url, host = project_url(index, package), host_of(index)
    try:
        body = await run.fetcher.read(url, accept=ACCEPT)
        files = await asyncio.to_thread(parse_project_page, body, url)
    except ValueError:
        return AmlError("AML_NET_NOT_AN_INDEX", host=host, url=url)
    except AmlError as error:
        if error.code == "AML_NET_NOT_FOUND" and await _lists_packages(run, index):
            return False
        return index_error(error, index, package)
    if only_source and files and all(file.filename.endswith(".whl") for file in files):
        return AmlError("AML_NO_SOURCE", package=package)
    return bool(files)


async def _lists_packages(run: RunContext, index: str) -> bool:
    try:
        await run.fetcher.read(f"{index.rstrip('/')}/", accept=ACCEPT, limit=_A_GLANCE)
    except AmlError as error:
        return error.code != "AML_NET_NOT_FOUND"  # too long for a glance, most likely
    return True


def indexes(run: RunContext, closure: RequirementsClosure) -> Iterator[str]:
    """Give the addresses of all indexes on the network that are asked for what the files want, without credentials."""
    return (index for index in _all_indexes(run, closure) if urlsplit(index).scheme in PROXY_SCHEMES)


def _all_indexes(run: RunContext, closure: RequirementsClosure) -> Iterator[str]:
    if not closure.has_option("--no-index"):
        named = [option.value for option in closure.options if option.name in ("--index-url", "--extra-index-url")]
        if not closure.has_option("--index-url"):
            with suppress(AmlError):
                named.insert(0, run.index_url())
        for address in (*named, *run.choices.extra_index_urls):
            with suppress(RefusedError):  # a variable in it, which the resolver has filled
                yield split_url(address, "").clean
