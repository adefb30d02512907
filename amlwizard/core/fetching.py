"""How core asks for files to be fetched; ``net/`` implements it (DESIGN 3.6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.catalogue import Phrase
    from amlwizard.core.errors import AmlError


@dataclass(frozen=True)
class Download:
    """One file to be fetched.

    ``urls`` are addresses of the same file, tried in turn; http, https or file, without userinfo (credentials come from
    the fetcher's own settings, by origin). ``size`` is in bytes, None where unknown. ``sha256`` is in lower-case
    hexadecimal; None is allowed only for small descriptions such as an index page, never for what is run or installed.
    ``target`` is the final path; the partial file beside it ends in ``.part``.
    ``told_size`` is what a HEAD request told where ``size`` is None: it serves the progress, not the check.
    """

    urls: tuple[str, ...]
    target: Path
    sha256: str | None
    size: int | None = None
    told_size: int | None = None


@dataclass(frozen=True)
class FetchProgress:
    """How far all the downloads of one call are. ``total`` is None while any size is unknown; never counts backwards."""

    done_bytes: int
    total_bytes: int | None
    files_done: int
    bytes_per_second: float
    current: str
    """The name of the file that is moving now."""


OnProgress = Callable[[FetchProgress], None]


class Fetcher(Protocol):
    """Fetches files in parallel. All methods may be cancelled; what is complete stays, and so do ``.part`` files."""

    async def fetch(self, downloads: Sequence[Download], on_progress: OnProgress) -> None:
        """Fetch all files; a target that already exists with the right hash is not fetched again.

        Raises:
            AmlError: one of the ``AML_NET_*`` codes, with ``host`` and ``file``, or ``AML_DISK_FULL``, or
                ``AML_HASH_MISMATCH`` with ``file``, ``expected``, ``actual`` and ``host``.
        """
        ...

    async def read(self, url: str, *, accept: str = "*/*", limit: int = 32 * 1024 * 1024) -> bytes:
        """Return the body of a small document (an index page, a JSON file).

        Raises:
            AmlError: as ``fetch``; ``AML_NET_NOT_FOUND`` for 404 and 410.
        """
        ...

    async def sizes(self, urls: Sequence[str]) -> list[int | None]:
        """Return the sizes that HEAD requests tell, in bytes; None where nobody says, for whatever reason."""
        ...

    async def reach(
        self, urls: Sequence[str], *, accept: str, seconds: float, attempts: int | None = None
    ) -> list[AmlError | bytes]:
        """Reach the host of each address, all at once, with the patience of ``read``; connections are kept for later calls.

        Args:
            urls: http and https addresses.
            accept: the kinds of documents that are expected.
            seconds: the limit for all together; one that is silent until then is ``AML_NET_STALLED``.
            attempts: how often it is tried where a failure may pass; None for as often as ``read`` does.

        Returns:
            For each address the error, or the beginning of the web page that it answers with; empty for anything else.
        """
        ...

    def learn_logins(self, logins: Mapping[str, tuple[str, str]]) -> None:
        """Take over user names and passwords, by origin, for origins that none is known of."""
        ...

    def kept_logins(self) -> Mapping[str, tuple[str, str]]:
        """Return what the system's keyring gave in this run, by origin: it is asked where a host or a proxy wants a sign-in
        and no login of its origin is known.
        """
        ...

    def kept_problem(self) -> Phrase | None:
        """Return why the keyring could not tell a login that it was asked for, in words; None otherwise. Blocks."""
        ...

    def proxy_for(self, url: str) -> str | None:
        """Return host and port of the proxy by which this fetcher and its children reach an address; None without one."""
        ...

    def child_environment(self, parent: Mapping[str, str]) -> dict[str, str]:
        """Return a parent's environment with the proxy and certificate variables that uv and pip need to reach what this
        fetcher reaches; what would contradict them is taken out.
        """
        ...
