"""The outside of the window's Network page: the settings, the system's keyring, and logins that last for this run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from amlwizard.core.choices import Choices
    from amlwizard.core.index_urls import Credentials
    from amlwizard.core.logins import LoginStore
    from amlwizard.core.network_settings import NetworkSettings
    from amlwizard.ui.services import Defaults, Login


class WindowNetwork:
    """What the Network page reads and changes; see ``ui.services.NetworkService``.

    What that needs is loaded with the first call, in whose thread that holds nothing up.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        store: Callable[[], LoginStore],
        user_dir: Path | None = None,
        site_dir: Path | None = None,
    ) -> None:
        """Make the service.

        Args:
            environ: the variables.
            store: gives the system's keyring.
            user_dir: the user's settings folder, where it is not the system's usual one.
            site_dir: the machine-wide settings folder, where it is not the system's usual one.
        """
        self._environ = environ
        self._store = store
        self._folders = {"user_dir": user_dir, "site_dir": site_dir}
        self._logins: Credentials = {}

    def read(self) -> NetworkSettings:
        """Return what holds on this computer; see ``NetworkService.read``."""
        from amlwizard.core.catalogue import Phrase
        from amlwizard.core.network_settings import Found, read_network_settings
        from amlwizard.core.settings import home_folder
        from amlwizard.net.policy import found_proxy

        proxy = found_proxy(self._environ)
        found = Found("proxy", proxy[0], proxy[1] or Phrase("network.system")) if proxy is not None else None
        return read_network_settings(
            self._environ,
            home_folder(self._environ),
            proxy=found,
            no_keyring=self._store().problem(),
            **self._folders,
        )

    def save(self, before: NetworkSettings, values: Mapping[str, str], login: Login | None) -> None:
        """Write what was changed into the user's settings; logins never go there. See ``NetworkService.save``."""
        from amlwizard.core.logins import login_origin
        from amlwizard.core.network_settings import changed_settings
        from amlwizard.core.settings import save_user_settings

        changes, logins = changed_settings(before, values)
        if changes:
            save_user_settings(changes, self._folders["user_dir"])
        if login is not None:
            logins[login_origin(login.url)] = (login.user, login.password)
        self._logins |= logins

    def keep(self, login: Login) -> None:
        """Give a login to the system's keyring; see ``NetworkService.keep``."""
        from amlwizard.core.logins import login_origin

        self._store().keep(login_origin(login.url), login.user, login.password)

    def forget(self, url: str) -> None:
        """Use no login for the origin of an address any more; see ``NetworkService.forget``."""
        from amlwizard.core.logins import login_origin

        self._logins.pop(login_origin(url), None)
        self._store().forget(login_origin(url))

    def signed_in(self, defaults: Defaults) -> Defaults:
        """Return what the window starts with, with the logins of this run."""
        choices: Choices = defaults.choices
        return replace(defaults, choices=replace(choices, credentials=choices.credentials | self._logins))
