"""Reaches the hosts that an installation on this computer would need, for the report and for the text for IT."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from amlwizard.core.diagnose.computer import certificates, locked_addresses, system_label
from amlwizard.core.diagnose.known_secrets import known_secrets
from amlwizard.core.diagnose.redaction import Redactor
from amlwizard.core.errors import AmlError
from amlwizard.core.for_it import text_for_it
from amlwizard.core.locked_hints import note_locks
from amlwizard.core.planning import learn_default_index
from amlwizard.core.preflight import Address, Reached, addresses, by_host, file_addresses, reach
from amlwizard.core.records import utc_now
from amlwizard.core.settings import home_folder
from amlwizard.core.wish import read_wish

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from amlwizard.core.choices import Choices
    from amlwizard.core.facts import Facts
    from amlwizard.core.fetching import Fetcher
    from amlwizard.core.session import Session

    OpenSession = Callable[[Choices], AbstractAsyncContextManager[Session]]

_HOSTS: Final = 20


async def reach_all(
    choices: Choices, facts: Facts, open_session: OpenSession, fetcher: Fetcher, *, with_default: bool = True
) -> list[Reached]:
    """Return how each host is reached that the choices and the workspace's lock name, whatever the store holds.

    Args:
        choices: what was chosen.
        facts: what was found on this computer.
        open_session: opens a session that looks.
        fetcher: the one for these choices.
        with_default: whether uv's own index counts where none is chosen; where settings cannot be used, they may name one.
    """
    async with open_session(choices) as session:
        await session.probe_environment()
        try:
            wish = await read_wish(choices)
        except AmlError:  # told elsewhere; what it names is not known then
            wish = await read_wish(replace(choices, requirements=None, bundle=None, profile="minimal"))
        run = session.context(wish, facts)
        run.python = facts.python.python if facts.python is not None else None
        if with_default:
            with suppress(AmlError):
                await learn_default_index(run)
        locked = await asyncio.to_thread(lambda: list(locked_addresses(session.workspace.lock)))
        asked = await addresses(run)
        wanted = by_host([*asked, *await file_addresses(fetcher, asked), *(Address(url, "fetch") for url in locked)])
    return await reach(fetcher, wanted[:_HOSTS], attempts=1)


@dataclass(frozen=True)
class NetworkCheck:
    """What came of reaching each host, and the text for IT about that, redacted."""

    hosts: tuple[Reached, ...]
    for_it: str


async def checked_network(
    choices: Choices, facts: Facts, open_session: OpenSession, make_fetcher: Callable[[Choices], Fetcher], language: str
) -> NetworkCheck:
    """Reach the hosts at this moment, for a window.

    Raises:
        RefusedError: the proxy or the certificate file that was chosen cannot be used.
    """
    fetcher = await asyncio.to_thread(make_fetcher, choices)
    checked = await reach_all(choices, facts, open_session, fetcher)
    for each in checked:
        if each.error is not None:
            note_locks(each.error, choices.organisation)

    def in_words() -> str:
        logins = {**choices.credentials, **fetcher.kept_logins()}
        clean = Redactor(known_secrets(os.environ, logins, ()), home_folder(os.environ)).text
        return clean(text_for_it(checked, utc_now(), system_label(), certificates(fetcher), language))

    return NetworkCheck(tuple(checked), await asyncio.to_thread(in_words))
