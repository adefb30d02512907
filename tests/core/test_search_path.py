"""PATH after an installer has run: the real algorithm on a simulated registry."""

from __future__ import annotations

from amlwizard.core.search_path import renewed_environment

MACHINE = "SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Environment"


class FakeRegistry:
    """A registry that only knows two values of PATH."""

    def __init__(self, machine: str | None, user: str | None) -> None:
        self._values = {("HKLM64", MACHINE, "Path"): machine, ("HKCU", "Environment", "Path"): user}

    def views(self) -> tuple[str, ...]:
        return ("HKCU", "HKLM64", "HKLM32")

    def subkeys(self, view: str, key: str) -> list[str]:
        return []

    def value(self, view: str, key: str, name: str) -> str | None:
        return self._values[view, key, name]


def test_b91_on_windows_a_program_that_was_just_installed_is_found() -> None:
    environ = {"Path": "C:\\Windows;C:\\Tools\\", "SystemRoot": "C:\\Windows", "OTHER": "1"}
    registry = FakeRegistry(
        "%SYSTEMROOT%;c:\\tools;C:\\Program Files\\Git\\cmd;%NOWHERE%\\x;",
        "C:\\Users\\Ana\\bin;C:\\Program Files\\Git\\cmd\\",
    )
    renewed = renewed_environment(environ, registry)
    added = "C:\\Program Files\\Git\\cmd;%NOWHERE%\\x;C:\\Users\\Ana\\bin"
    assert renewed == {**environ, "Path": f"C:\\Windows;C:\\Tools\\;{added}"}
    assert environ["Path"] == "C:\\Windows;C:\\Tools\\"


def test_b91_without_a_registry_or_news_path_stays_as_it_is() -> None:
    environ = {"PATH": "/usr/bin:/bin"}
    assert renewed_environment(environ, None) is environ
    assert renewed_environment({"PATH": "C:\\a"}, FakeRegistry(None, None)) == {"PATH": "C:\\a"}
