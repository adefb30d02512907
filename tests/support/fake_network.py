"""What the Network page reads and changes, without a disk and without a keyring."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from amlwizard.core.mirrors import Mirror
from amlwizard.core.network_settings import KEYS, NetworkSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amlwizard.ui.services import Login

NAMES = {"en": "Example University", "zh_CN": "示例大学"}
MIRROR = Mirror("uni", NAMES, "https://mirror.example.org/simple", "https://mirror.example.org/python")


class FakeNetwork:
    """Keeps what was saved in ``settings``; the lists tell what was asked, and ``refusal`` is raised."""

    def __init__(self) -> None:
        self.settings = NetworkSettings(dict.fromkeys(KEYS, ""), mirrors=(MIRROR,))
        self.logins: list[Login] = []
        self.kept: list[Login] = []
        self.forgotten: list[str] = []
        self.refusal: Exception | None = None

    def read(self) -> NetworkSettings:
        return self.settings

    def save(self, before: NetworkSettings, values: Mapping[str, str], login: Login | None) -> None:
        assert before == self.settings
        if self.refusal is not None:
            raise self.refusal
        self.settings = replace(self.settings, values=dict(values))
        if login is not None:
            self.logins.append(login)

    def keep(self, login: Login) -> None:
        self.kept.append(login)

    def forget(self, url: str) -> None:
        self.forgotten.append(url)
