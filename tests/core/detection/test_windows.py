"""The Windows side of detection: the real algorithm on simulated facts."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.detection.windows import is_store_placeholder, launcher_pythons, registered_pythons
from tests.support.leaping_clock import LeapingClock
from tests.support.stub_interpreters import fake_interpreter, stub
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.core.detection.conftest import Computer


class FakeRegistry:
    """A registry in a dictionary: values by view, key and name."""

    def __init__(self, values: dict[tuple[str, str, str], str]) -> None:
        self._values = values

    def views(self) -> Iterable[str]:
        return ("HKCU", "HKLM64", "HKLM32")

    def subkeys(self, view: str, key: str) -> list[str]:
        below = (
            name.removeprefix(f"{key}\\") for at, name, _ in self._values if at == view and name.startswith(f"{key}\\")
        )
        return list(dict.fromkeys(name.split("\\")[0] for name in below))

    def value(self, view: str, key: str, name: str) -> str | None:
        return self._values.get((view, key, name))


def test_registered_interpreters() -> None:
    core = "Software\\Python\\PythonCore"
    registry = FakeRegistry(
        {
            ("HKLM64", f"{core}\\3.12\\InstallPath", "ExecutablePath"): "C:\\Python312\\python.exe",
            ("HKCU", f"{core}\\3.11\\InstallPath", ""): "D:/Python311",
            ("HKCU", "Software\\Python\\PyLauncher\\3\\InstallPath", ""): "C:/never",
            ("HKLM32", f"{core}\\3.12\\InstallPath", "ExecutablePath"): "c:\\python312\\PYTHON.EXE",
            ("HKLM32", f"{core}\\3.10\\Help", ""): "C:/help",
        }
    )
    assert list(registered_pythons(registry)) == [Path("D:/Python311/python.exe"), Path("C:\\Python312\\python.exe")]


def test_the_answer_of_the_launcher() -> None:
    lines = [
        " -V:3.12 *        C:\\Program Files\\Python312\\python.exe",
        " -V:ContinuumAnalytics/py39-64 C:\\conda\\python.exe",
        " -3.7-32          C:\\Python37-32\\python.exe",
        "No installed Pythons found!",
    ]
    assert launcher_pythons(lines) == [
        Path("C:\\Program Files\\Python312\\python.exe"),
        Path("C:\\conda\\python.exe"),
        Path("C:\\Python37-32\\python.exe"),
    ]


def test_store_placeholders() -> None:
    alias = Path("/users/mei/appdata/local/Microsoft/WindowsApps/python3.exe")
    assert is_store_placeholder(alias, 0)
    assert not is_store_placeholder(alias, 90_000)
    assert not is_store_placeholder(Path("/tools/python3.exe"), 0)


@pytest.mark.posix
async def test_launcher_registry_and_folders_together(computer: Computer) -> None:
    registered = fake_interpreter(computer.folder / "registered", "python.exe", version="3.12.1")
    launched = fake_interpreter(computer.folder / "launched", "python.exe", version="3.13.1")
    usual = fake_interpreter(computer.folder / "local" / "Programs" / "Python" / "Python311", "python.exe")
    stub(computer.bin, "py.exe", f'echo " -V:3.13 * {launched}"; echo " -V:3.12 {registered}"')
    computer.environ["LOCALAPPDATA"] = str(computer.folder / "local")
    key = "Software\\Python\\PythonCore\\3.12\\InstallPath"
    registry = FakeRegistry({("HKCU", key, "ExecutablePath"): str(registered)})
    facts = await computer.detect(system="windows", registry=registry)
    sources = {row.path: row.source for row in facts.candidates}
    assert sources == {registered: "registry", launched: "launcher", usual: "usual"}


async def test_a_hanging_launcher_delays_no_row(computer: Computer, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = LeapingClock(monkeypatch)
    stub(computer.bin, "py.exe", "sleep 300")
    python = fake_interpreter(computer.bin, "python.exe", version="3.12.1")
    detecting = asyncio.ensure_future(computer.detect(system="windows", probe_seconds=1000))
    await until(lambda: [candidate.path for candidate in computer.told] == [python])
    facts = await clock.run_out(detecting, 1001)
    assert [row.path for row in facts.candidates] == [python]
