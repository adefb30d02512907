"""Reads one project's page of a package index: PEP 691 JSON, or PEP 503 HTML where the index has nothing newer."""

from __future__ import annotations

from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qs, unquote, urldefrag, urljoin, urlsplit

from amlwizard.core.data_text import parse_json

ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01"

_ARCHIVES = (".whl", ".tar.gz", ".zip", ".tar.bz2", ".egg")


@dataclass(frozen=True)
class IndexFile:
    """One file that the index offers; ``size`` in bytes and ``sha256`` are None where the index does not tell them."""

    filename: str
    url: str
    sha256: str | None
    size: int | None
    yanked: bool


def project_url(index_url: str, project: str) -> str:
    """Return the address of a project's page."""
    return f"{index_url.rstrip('/')}/{project}/"


def parse_project_page(body: bytes, url: str) -> list[IndexFile]:
    """Return the files of a project's page that was read from ``url``.

    Raises:
        ValueError: the document is neither a JSON nor an HTML page of an index.
    """
    text = body.decode("utf-8", errors="replace")
    if text.lstrip().startswith("{"):
        return _from_json(parse_json(text), url)
    reader = _LinkReader()
    try:
        reader.feed(text)
    except AssertionError as error:  # so the library calls a declaration that is none
        raise ValueError(f"the page cannot be read: {error}") from error
    links = [_from_link(attributes, url) for attributes in reader.links]
    files = [file for file in links if file is not None]
    asks = reader.has_form and not any(file.filename.endswith(_ARCHIVES) for file in files)  # to sign in, most likely
    if not reader.saw_markup or asks:
        raise ValueError("the answer is not a page of a package index")
    return files


def _from_json(content: Any, url: str) -> list[IndexFile]:
    if not isinstance(content, dict) or not isinstance(content.get("files"), list):
        raise ValueError("the answer is JSON but not a page of a package index")  # noqa: TRY004 - it is the document that is wrong
    files = [_from_entry(entry, url) for entry in content["files"] if isinstance(entry, dict)]
    return [file for file in files if file is not None]


def _from_entry(entry: dict[str, Any], url: str) -> IndexFile | None:
    """Return what an entry offers, None where it offers nothing that could be used."""
    filename, address, hashes, size = (entry.get(key) for key in ("filename", "url", "hashes", "size"))
    full = _joined(url, address)
    if not isinstance(filename, str) or full is None:
        return None
    sha256 = hashes.get("sha256") if isinstance(hashes, dict) else None
    return IndexFile(
        filename=filename,
        url=full,
        sha256=sha256 if isinstance(sha256, str) else None,
        size=size if isinstance(size, int) and not isinstance(size, bool) else None,
        yanked=bool(entry.get("yanked")),
    )


def _from_link(attributes: dict[str, str | None], url: str) -> IndexFile | None:
    full = _joined(url, attributes.get("href"))
    if full is None:
        return None
    address, fragment = urldefrag(full)
    hashes = parse_qs(fragment).get("sha256")
    return IndexFile(
        filename=unquote(urlsplit(address).path.rpartition("/")[2]),
        url=address,
        sha256=hashes[0] if hashes else None,
        size=None,
        yanked="data-yanked" in attributes,
    )


def _joined(url: str, address: object) -> str | None:
    """Return the whole address of a file, None where it is none."""
    try:
        return urljoin(url, address) if isinstance(address, str) and address else None
    except ValueError:  # such as a bracket without its other one
        return None


class _LinkReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.saw_markup = False
        self.has_form = False
        self.links: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.saw_markup = True
        self.has_form = self.has_form or tag in ("form", "script")
        if tag == "a":
            self.links.append(dict(attrs))
