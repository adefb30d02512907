"""Puts the engine together with the real fetcher; the front ends choose the runner."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from amlwizard.core.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Callable

    from amlwizard.core.choices import Choices
    from amlwizard.core.fetching import Fetcher
    from amlwizard.core.logins import LoginStore
    from amlwizard.core.running import Runner


def make_engine(make_runner: Callable[[], Runner], language: str) -> Engine:
    """Return an engine whose commands run through the runners that ``make_runner`` makes, one for each run."""
    return Engine(make_runner, make_fetcher, language)


def make_fetcher(choices: Choices) -> Fetcher:
    """Return the fetcher for a wish: its proxy, certificates and credentials."""
    from amlwizard.net.fetcher import HttpFetcher
    from amlwizard.net.policy import NetworkPolicy

    policy = NetworkPolicy.from_environment(
        os.environ,
        proxy=choices.proxy,
        ca_file=choices.ca_file,
        offline=choices.offline,
        credentials=choices.credentials,
        login_places=choices.login_places,
        kept=login_store(),
    )
    return HttpFetcher(policy)


@cache
def login_store() -> LoginStore:
    """Return the store of this process: a keyring that gave no answer is not asked over and over."""
    from amlwizard.core.logins import SystemLogins

    return SystemLogins()
