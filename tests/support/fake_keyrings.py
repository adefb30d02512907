"""Backends for the ``keyring`` library in the place of a system's own, for ``keyring.set_keyring``."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError

if TYPE_CHECKING:
    from pathlib import Path


class FakeKeyring(KeyringBackend):
    """Keeps passwords in memory; what was kept before may come from a file that a test has written."""

    priority = 1  # type: ignore[assignment]

    def __init__(self, given: Path | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.asked: list[tuple[str, str]] = []
        self.kept: dict[tuple[str, str], str] = {}
        if given is not None:
            self.kept = {("amlwizard", origin): login for origin, login in json.loads(given.read_text()).items()}

    def get_password(self, service: str, username: str) -> str | None:
        self.asked.append((service, username))
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if self.kept.pop((service, username), None) is None:
            raise PasswordDeleteError("no such password")


class FakeLockedKeyring(FakeKeyring):
    """Is locked, and nobody unlocks it."""

    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringLocked("the keyring is locked")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise KeyringLocked("the keyring is locked")


class FakeSilentKeyring(FakeKeyring):
    """Waits for a person to unlock it, until a test lets it go on."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = threading.Event()

    def get_password(self, service: str, username: str) -> str | None:
        self.go_on.wait()
        return super().get_password(service, username)
