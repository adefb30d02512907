"""What was found for a report: a part each, of which any may have failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amlwizard.core.diagnose.computer import Disk, Network
    from amlwizard.core.diagnose.limits import Part
    from amlwizard.core.diagnose.log_files import PastRun
    from amlwizard.core.diagnose.request import Request
    from amlwizard.core.facts import EnvironmentFacts, Facts, Holder, Host
    from amlwizard.core.preflight import Reached


@dataclass(frozen=True)
class Holders:
    """Who uses the workspace: the run that holds it, and those that use the environment."""

    run: Holder | None
    users: tuple[Holder, ...]


@dataclass(frozen=True)
class Findings:
    """Everything that the short report tells. ``taken`` is UTC."""

    taken: str
    request: Request
    system: str
    host: Part[Host]
    facts: Part[Facts]
    environment: Part[EnvironmentFacts]
    runs: Part[tuple[PastRun, ...]]
    holders: Part[Holders]
    disks: Part[list[Disk]]
    network: Part[Network]
    reached: Part[list[Reached]]
    store: Part[dict[str, Any]]
    others: tuple[Part[Any], ...] = ()
    """The parts that are not told in the short report unless they failed."""

    @property
    def parts(self) -> Sequence[Part[Any]]:
        """All of them."""
        return (
            self.host,
            self.facts,
            self.environment,
            self.runs,
            self.holders,
            self.disks,
            self.network,
            self.reached,
            self.store,
            *self.others,
        )
