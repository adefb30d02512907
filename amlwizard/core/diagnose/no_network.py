"""The fetcher of looks that need no network, so that no wrong proxy and no wrong certificate file can stop them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from amlwizard.core.errors import AmlError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amlwizard.core.fetching import Download, OnProgress


class NoNetwork:
    """Reaches nobody, and gives children the environment as it is."""

    async def fetch(self, downloads: Sequence[Download], on_progress: OnProgress) -> None:  # noqa: ARG002
        """Refuse; see ``Fetcher.fetch``."""
        for download in downloads:
            _refuse(download.target.name)

    async def read(self, url: str, *, accept: str = "*/*", limit: int = 0) -> bytes:  # noqa: ARG002
        """Refuse; see ``Fetcher.read``."""
        _refuse(url)

    async def sizes(self, urls: Sequence[str]) -> list[int | None]:
        """Know no size."""
        return [None for _ in urls]

    async def reach(self, urls: Sequence[str], **limits: Any) -> list[AmlError | bytes]:  # noqa: ARG002
        """Reach nobody."""
        return [AmlError("AML_OFFLINE", file=url) for url in urls]

    def learn_logins(self, logins: Mapping[str, tuple[str, str]]) -> None:
        """Need none."""

    def kept_logins(self) -> Mapping[str, tuple[str, str]]:
        """Have asked for none."""
        return {}

    def kept_problem(self) -> None:
        """Have asked for none."""

    def proxy_for(self, url: str) -> str | None:  # noqa: ARG002
        """Know of no proxy."""
        return None

    def child_environment(self, parent: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of the parent."""
        return dict(parent)


def _refuse(file: str) -> NoReturn:
    raise AmlError("AML_OFFLINE", file=file)
