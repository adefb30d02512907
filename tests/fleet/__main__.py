"""``python -m tests.fleet ANSIBLE DEB BASES...``: the role on three sound hosts and three others; status 1 where it failed.

ANSIBLE is the folder of Ansible's programs, DEB the package, BASES are Debian systems of different releases, with what DEB
depends on. The first run has to change the sound hosts, the second nothing. A host with a full disk, one with a folder of
others in the environment's place, and one that is switched off have to fail alone, with the reason.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.fleet.hosts import Host, inside, running
from tests.fleet.stock import PROJECT, Release, make_release, make_wheels

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = "/srv/team environment"
_PLAYBOOK = """
- hosts: all
  gather_facts: false
  roles: [amlwizard]
"""
_CONFIG = """[defaults]
roles_path = {roles}
stdout_callback = ansible.builtin.default
callback_result_format = json
callback_format_pretty = False
nocolor = True
retry_files_enabled = False
host_key_checking = False
localhost_warning = False
[ssh_connection]
ssh_executable = {door}
transfer_method = piped
pipelining = True
"""
_FULL = f'mkdir -p "$ROOT{ROOT}"; mount -t tmpfs -o size=8m tmpfs "$ROOT{ROOT}"'
_FOREIGN = f'mkdir -p "$ROOT{ROOT}/.venv"; echo mine > "$ROOT{ROOT}/.venv/thesis.txt"'


class FleetError(Exception):
    """Something is not as it has to be."""


class Fleet:
    """The hosts and the runs on them."""

    def __init__(self, folder: Path, ansible: Path, deb: Path, bases: Sequence[Path]) -> None:
        self._folder = folder
        self._ansible = ansible
        self._deb = deb
        first, last = bases[0], bases[-1]
        self.sound = [Host("deb", first), Host("deb-too", last), Host("wheels", last)]
        self.broken = [Host("full", first, (_FULL,)), Host("foreign", last, (_FOREIGN,))]

    def check(self) -> None:
        """Do everything.

        Raises:
            FleetError: something is not as it has to be.
        """
        wheels = make_wheels(self._folder / "wheels")
        release = make_release(self._folder / "release")
        place = self._folder / "hosts"
        place.mkdir()
        say("the wheels and the bundle are made; starting the hosts")
        with running([*self.sound, *self.broken], place) as door:
            self._write(door, wheels, release)
            self._expect_changed("check mode", self._play("--check"), 0)
            for host in self.sound:
                expect(inside(place, host.name, "ls /srv") == "", f"check mode changed {host.name}")
            stats = self._expect_changed("first run", self._play(), 1)
            expect(stats["off"]["unreachable"] == 1, "the host that is off was reached")
            for host in self.sound:
                code = f"{ROOT}/.venv/bin/python"
                told = inside(place, host.name, f"'{code}' -c 'import tinyb, sys; print(sys.prefix)'")
                expect(told.strip() == f"{ROOT}/.venv", f"{host.name} has no environment: {told}")
                expect("amlbundle" not in inside(place, host.name, "ls /var/cache/amlwizard"), "the bundle was left there")
            self._expect_changed("second run", self._play(), 0)
            kept = inside(place, "foreign", f"cat '{ROOT}/.venv/thesis.txt'")
            expect(kept == "mine\n", "what was in the place of the environment is gone")
            inside(place, "deb", f"rm '{ROOT}/.venv/bin/python'")
            stats = self._play()
            expect(stats["deb"]["changed"] > 0 and not stats["deb"]["failed"], "a broken environment was not set right")
            expect(stats["wheels"]["changed"] == 0, "a sound host was changed")

    def _write(self, door: Path, wheels: Path, release: Release) -> None:
        (self._folder / "ansible.cfg").write_text(
            _CONFIG.format(roles=PROJECT / "packaging" / "fleet" / "roles", door=door), encoding="utf-8"
        )
        (self._folder / "play.yml").write_text(_PLAYBOOK, encoding="utf-8")
        common = {
            "ansible_python_interpreter": "/usr/bin/python3",
            "amlwizard_root": ROOT,
            "amlwizard_bundle": str(release.bundle),
            "amlwizard_bundle_sha256": release.sha256,
            "amlwizard_lock": release.lock,
        }
        by_deb, by_wheels = {"amlwizard_deb": str(self._deb)}, {"amlwizard_wheels": str(wheels)}
        names = [host.name for host in (*self.sound, *self.broken)]
        hosts = {name: by_wheels if name.startswith("wheels") else by_deb for name in (*names, "off")}
        inventory = {"all": {"hosts": hosts, "vars": common}}
        (self._folder / "hosts.json").write_text(json.dumps(inventory), encoding="utf-8")

    def _play(self, *options: str) -> dict[str, Any]:
        """Run the playbook; return what Ansible counted, with the reasons of failures by host under ``msg``."""
        began = time.monotonic()
        environ = {
            **os.environ,
            "ANSIBLE_CONFIG": str(self._folder / "ansible.cfg"),
            "ANSIBLE_HOME": str(self._folder / "home"),
            "LC_ALL": "C.UTF-8",
        }
        command = [
            self._ansible / "ansible-playbook",
            "-i",
            self._folder / "hosts.json",
            "play.yml",
            "--forks",
            "3",
            *options,
        ]
        done = subprocess.run(command, cwd=self._folder, env=environ, capture_output=True, text=True, check=False)
        (self._folder / "last.log").write_text(done.stdout + done.stderr, encoding="utf-8")
        say(f"ansible-playbook {' '.join(options)}: status {done.returncode} after {time.monotonic() - began:.0f} s")
        stats: dict[str, Any] = {}
        for name, counts in re.findall(r"^([\w-]+) +: +(ok=.*)$", done.stdout, re.MULTILINE):
            stats[name] = {key: int(count) for key, count in re.findall(r"(\w+)=(\d+)", counts)}
        expect(bool(stats), "Ansible counted nothing")
        for name, result in re.findall(r"^fatal: \[([\w-]+)\]: \w+! => (\{.*\})$", done.stdout, re.MULTILINE):
            stats[name]["msg"] = json.loads(result).get("msg", "")
        return stats

    def _expect_changed(self, what: str, stats: dict[str, Any], least: int) -> dict[str, Any]:
        """Make sure of how the hosts fared, and say it."""
        for name, counts in sorted(stats.items()):
            numbers = ", ".join(f"{key} {counts[key]}" for key in ("ok", "changed", "failed", "unreachable"))
            say(f"  {name:12} {numbers}  {counts.get('msg', '')}")
        is_check = what == "check mode"
        for host in self.sound:
            counts = stats[host.name]
            expect(not counts["failed"] and not counts["unreachable"], f"{what}: {host.name} failed")
            if not is_check:
                expect(bool(counts["changed"]) == bool(least), f"{what}: {host.name} changed {counts['changed']}")
        if not is_check:
            reasons = {"full": "No space left on device", "foreign": "AML_VENV_FOREIGN"}
            for host in self.broken:
                counts = stats[host.name]
                expect(counts["failed"] == 1, f"{what}: {host.name} did not fail")
                expect(reasons[host.name] in counts["msg"], f"{what}: {host.name} does not say why: {counts['msg']}")
        return stats


def expect(holds: bool, otherwise: str) -> None:
    """Make sure that something holds.

    Raises:
        FleetError: it does not.
    """
    if not holds:
        raise FleetError(otherwise)


def say(line: str) -> None:
    """Tell at once."""
    print(line, flush=True)


def main(arguments: Sequence[str]) -> int:
    """Run the check; return the status."""
    if len(arguments) < 3:
        say(__doc__ or "")
        return 2
    ansible, deb, *bases = (Path(argument).absolute() for argument in arguments)
    with tempfile.TemporaryDirectory(prefix="fleet-") as folder:
        try:
            Fleet(Path(folder), ansible, deb, bases).check()
        except FleetError as error:
            log = Path(folder, "last.log")
            say(log.read_text(encoding="utf-8")[-6000:] if log.is_file() else "")
            say(f"fleet-check: failed: {error}")
            return 1
    say("fleet-check: all passed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
