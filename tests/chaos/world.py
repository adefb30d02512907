"""Where the runs happen: a fenced folder with a home, a temporary folder, and a workspace on a file system of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.chaos.stock import PROJECT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.chaos.stock import Stock

DISK_BYTES = 600 * 1024 * 1024
HANGS_AFTER = 90.0


class Run:
    """One command of the wizard under way; its events are collected as they come."""

    def __init__(self, argv: Sequence[str], environ: dict[str, str], cwd: Path) -> None:
        self.began = time.monotonic()
        self.events: list[dict[str, Any]] = []
        self._news = threading.Condition()
        self._over = False
        self.process = subprocess.Popen(
            argv,
            env=environ,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.stderr = ""
        self._readers = [threading.Thread(target=work, daemon=True) for work in (self._read_events, self._read_errors)]
        for reader in self._readers:
            reader.start()

    def _read_events(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._news, suppress(ValueError):  # the last line of a killed process may be cut off
                self.events.append(json.loads(line))
                self._news.notify_all()
        with self._news:
            self._over = True
            self._news.notify_all()

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        self.stderr = self.process.stderr.read()

    def wait_for_step(self, step: str, state: str, seconds: float) -> bool:
        """Wait until a step is in a state; False where the run is over, or the time, before that."""

        def there() -> bool:
            return any(event.get("id") == step and event.get("state") == state for event in self.events)

        with self._news:
            self._news.wait_for(lambda: there() or self._over, seconds)
            return there()

    def wait(self, seconds: float) -> int | None:
        """Wait for the end of the process; return its status, or None where it did not end."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def close(self) -> None:
        """Stop reading: an orphan may hold the pipes."""
        for reader in self._readers:
            reader.join(1)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None and not any(reader.is_alive() for reader in self._readers):
                stream.close()

    @property
    def finished(self) -> dict[str, Any]:
        """The last event, empty where the run had none."""
        last = [event for event in self.events if event.get("event") == "finished"]
        return last[-1] if last else {}

    def tail(self) -> str:
        """Return the last lines for a report."""
        lines = [json.dumps(event, ensure_ascii=False)[:300] for event in self.events[-12:]]
        return "\n".join([*lines, self.stderr[-1500:]])


@dataclass
class World:
    """One fenced folder; ``namespace`` tells whether file systems may be mounted here."""

    base: Path
    stock: Stock
    index_url: str
    namespace: bool

    def __post_init__(self) -> None:
        for folder in (self.home, self.tmp, self.work, self.place):
            folder.mkdir(parents=True)
        (self.home / ".profile").write_text("# mine\n", encoding="utf-8")
        for number, text in enumerate(self.stock.sets):
            self.requirements(number).write_text(text, encoding="utf-8")
        if self.namespace:
            mount("-t", "tmpfs", "-o", f"size={DISK_BYTES}", "chaos", str(self.place))

    @property
    def fence(self) -> Path:
        """Everything around the workspace that must stay as it is."""
        return self.base / "fence"

    @property
    def home(self) -> Path:
        """The user's home."""
        return self.fence / "home"

    @property
    def tmp(self) -> Path:
        """The system's temporary folder."""
        return self.fence / "tmp"

    @property
    def work(self) -> Path:
        """The folder where the commands are given."""
        return self.fence / "work"

    @property
    def place(self) -> Path:
        """The parent of the workspace, a small disk of its own where that can be."""
        return self.fence / "place"

    @property
    def root(self) -> Path:
        """The workspace."""
        return self.place / "aml"

    def requirements(self, number: int) -> Path:
        """The requirements of one of the sets."""
        return self.work / f"set{number}.txt"

    def start(self, command: str, *arguments: str) -> Run:
        """Start a command of the wizard."""
        environ = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(PROJECT),
            "HOME": str(self.home),
            "TMPDIR": str(self.tmp),
            "LANG": "C.UTF-8",
            "PIP_CONFIG_FILE": os.devnull,
            "AML_ROOT": str(self.root),
            "AML_INDEX_URL": self.index_url,
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        argv = [sys.executable, "-m", "amlwizard", command, *arguments, "--json"]
        return Run(argv, environ, self.work)

    def clear(self) -> None:
        """Begin with an empty computer."""
        for folder in (self.place, self.tmp):
            for path in folder.iterdir():
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()

    def fill_disk(self) -> None:
        """Take all the space that is free at this moment."""
        descriptor = os.open(self.place / "ballast", os.O_WRONLY | os.O_CREAT)
        try:
            chunk = 1 << 26
            while chunk >= 1 << 12:
                try:
                    os.posix_fallocate(descriptor, os.fstat(descriptor).st_size, chunk)
                except OSError:
                    chunk >>= 1
        finally:
            os.close(descriptor)

    def free_disk(self) -> None:
        """Give the space back."""
        (self.place / "ballast").unlink(missing_ok=True)

    def make_read_only(self) -> Path:
        """Let nothing below the workspace be written any more, not even by root; return what ``make_writable`` wants."""
        target = self.root if self.root.is_dir() else self.place
        mount("--bind", str(target), str(target))
        for _ in range(200):
            # refused while a file that was opened through this mount is being written
            with suppress(subprocess.CalledProcessError):
                mount("-o", "remount,bind,ro", str(target))
                break
            time.sleep(0.01)
        return target

    def make_writable(self, target: Path) -> None:
        """Take that back."""
        subprocess.run(["umount", "-l", str(target)], check=True)


def mount(*arguments: str) -> None:
    """Mount something in this mount namespace."""
    subprocess.run(["mount", *arguments], check=True, capture_output=True)
