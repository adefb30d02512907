"""Tries the Linux packages where nothing has been prepared: in minimal Debian 12 and 13, made by debootstrap.

    python3 packaging/dev.py package-check linux [--from DIR] [--bases DIR] [--suite NAME]... [--pictures DIR]

Each package in DIR (default dist/) is installed, run and removed: what it says of itself, what it says where libraries of
the window are missing, the window on a screen, an environment from a complete one without a network, and what is left
afterwards. Needs root and debootstrap; the network is used for Debian's packages alone.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import debian_roots
from devenv import ROOT, STATE, SetUpError

if TYPE_CHECKING:
    from collections.abc import Sequence

SUITES = ("bookworm", "trixie")
INCLUDED = ("python3", "ca-certificates")
"""The same bases as those of clean-root."""
SCREEN = ("xvfb", "xauth", "imagemagick", "fonts-dejavu-core", "x11-utils")
HOME = "/home/zoë maier"
"""The account's home: a space and a letter that is not ASCII are part of the trial."""
USER = "zoe"
MOST_SECONDS = 60.0
"""From the start of a complete .run to a verified environment."""
FOREIGN = {
    "LD_LIBRARY_PATH": "/nonexistent/lib",
    "QT_PLUGIN_PATH": "/nonexistent/plugins",
    "QT_QPA_PLATFORM_PLUGIN_PATH": "/nonexistent/platforms",
    "QT_STYLE_OVERRIDE": "nonsense",
    "QT_QPA_PLATFORMTHEME": "nonsense",
    "QML2_IMPORT_PATH": "/nonexistent/qml",
    "_PYI_SPLASH_IPC": "0",
}
"""Variables of other programs, which must do no harm and must not reach a job."""


class CheckError(Exception):
    """A package did not do what it shall do."""


def main(arguments: Sequence[str]) -> int:
    """Try the packages; return 1 if one of them failed."""
    parser = argparse.ArgumentParser(prog="dev.py package-check", description="Try the packages in minimal systems.")
    parser.add_argument("system", choices=("linux",))
    parser.add_argument("--from", dest="packages", type=Path, default=ROOT / "dist", help="folder of the packages")
    parser.add_argument("--bases", type=Path, default=STATE / "roots", help="folder of the minimal systems")
    parser.add_argument("--suite", action="append", choices=SUITES, help="one of the systems alone")
    parser.add_argument("--pictures", type=Path, help="where pictures of the window go")
    chosen = parser.parse_args(arguments)
    debian_roots.require()
    packages = sorted(chosen.packages.absolute().glob("amlwizard-*-linux-x86_64*"))
    packages = [file for file in packages if file.name.endswith((".deb", ".run", ".tar.zst"))]
    if not packages:
        raise SetUpError(f"there are no packages in {chosen.packages}; make them by: dev.py package linux")
    failed = []
    for suite in chosen.suite or SUITES:
        base = debian_roots.make_base(suite, chosen.bases.absolute() / f"{suite}.base", INCLUDED)
        trial = Trial(suite, base, STATE / "roots" / f"{suite}.package-check", chosen.pictures)
        for package in packages:
            try:
                trial.run(package)
            except CheckError as error:
                failed.append(f"{suite}, {package.name}: {error}")
                print(f"package-check: FAILED: {failed[-1]}", flush=True)
            finally:
                debian_roots.remove(trial.root)
    print(f"package-check: {len(failed)} failed" if failed else "package-check: all passed", flush=True)
    return 1 if failed else 0


class Trial:
    """One minimal system, made anew for each package."""

    def __init__(self, suite: str, base: Path, root: Path, pictures: Path | None) -> None:
        self.suite = suite
        self.root = root
        self._base = base
        self._pictures = pictures
        self._name = ""

    def run(self, package: Path) -> None:
        """Try one package.

        Raises:
            CheckError: it failed.
        """
        self._name = f"{self.suite}, {package.name}"
        debian_roots.copy(self._base, self.root)
        debian_roots.hand_on_settings(self.root)
        self._as_root("update-ca-certificates >/dev/null 2>&1; apt-get update -qq")
        self._as_root(f"useradd --create-home --home-dir '{HOME}' {USER}")
        shutil.copy(package, self.root / "srv" / package.name)
        before = self._files()
        kind = {"deb": self._deb, "run": self._run, "zst": self._archive}[package.name.rpartition(".")[2]]
        kind(f"/srv/{package.name}", complete="-complete" in package.name)
        left = sorted(self._files() - before)
        self._expect(not left, f"left behind: {', '.join(left[:20])}")
        self._say("nothing is left but the workspace")

    def _deb(self, file: str, *, complete: bool) -> None:
        self._as_root(f"apt-get install -qq --no-install-recommends -y {file} >/dev/null 2>&1")
        self._say("installed by apt-get")
        for place in (
            "usr/share/applications/amlwizard.desktop",
            "usr/share/mime/packages/amlwizard.xml",
            "usr/share/icons/hicolor/scalable/apps/amlwizard.svg",
            "usr/share/man/man1/amlwizard.1.gz",
        ):
            # minimal roots of Debian in containers may leave man pages out; debootstrap's do not
            self._expect((self.root / place).is_file(), f"{place} is missing")
        self._as_root(f"apt-get install -qq --no-install-recommends -y {' '.join(SCREEN)} >/dev/null 2>&1")
        self._program("amlwizard", complete=complete)
        self._as_root("apt-get purge -qq -y amlwizard >/dev/null 2>&1")
        self._forget_settings()

    def _run(self, file: str, *, complete: bool) -> None:
        data = f"{HOME}/.local/share"
        program = f"'{data}/amlwizard/current/amlwizard'"
        if complete:
            began = time.monotonic()
            self._as_user(f"{file} -- install --root '{HOME}/aml first' >/tmp/first.log 2>&1", network=False)
            seconds = time.monotonic() - began
            self._say(f"from the .run to a verified environment without a network: {seconds:.1f} s")
            self._expect(seconds <= MOST_SECONDS, f"took {seconds:.1f} s, and {MOST_SECONDS} are allowed")
            self._as_user(f"{program} verify --root '{HOME}/aml first' >/dev/null", network=False)
            shutil.rmtree(self.root / HOME.lstrip("/") / "aml first")
            self._as_root("rm -f /tmp/first.log")
        self._as_user(f"{file} --silent", network=False)
        self._as_user(f"{file} --silent", network=False)  # a second time changes nothing
        self._say("installed for one user, by nothing that a minimal system lacks")
        said = self._as_user(f"DISPLAY=:9 {program} gui 2>&1 || echo status $?")
        self._expect("AML_QT_LIBRARIES_MISSING" in said, f"missing libraries are not named: {said}")
        self._expect("apt-get install" in said, f"no command installs what is missing: {said}")
        self._expect("status 2" in said, f"another exit code than 2: {said}")
        self._say("missing libraries of the window are named, with the command")
        self._install_libraries()
        self._program(program, complete=complete)
        self._as_user(f"{file} --uninstall", network=False)
        self._forget_packages()

    def _archive(self, file: str, *, complete: bool) -> None:
        self._as_root("apt-get install -qq --no-install-recommends -y zstd >/dev/null 2>&1")
        self._as_user(f"cd && tar --zstd -xf {file} && mv amlwizard-* unpacked")
        self._install_libraries()
        self._program(f"'{HOME}/unpacked/amlwizard'", complete=complete)
        self._as_user("rm -r ~/unpacked")
        self._forget_settings()

    def _program(self, program: str, *, complete: bool) -> None:
        """Let the installed program work."""
        version = self._as_user(f"{program} --version", network=False)
        self._expect(version.startswith("amlwizard "), f"says of itself: {version}")
        detected = self._as_user(f"{program} detect --json 2>/dev/null", network=False)
        found = next(event for event in map(json.loads, detected.splitlines()) if event["event"] == "detected")
        bundled = [one for one in found["candidates"] if one["kind"] == "uv" and one["usable"]]
        self._expect(bool(bundled), "its own uv is not found")
        self._say(f"{version.strip()}, with uv {bundled[0]['version']}")
        self._window(program)
        if complete:
            root = f"{HOME}/aml"
            self._as_user(f"{program} install --root '{root}' >/tmp/install.log 2>&1", network=False, **FOREIGN)
            self._as_user(f"{program} verify --root '{root}' >/dev/null", network=False)
            shown = self._as_user(f"{program} run --root '{root}' --print-env", network=False, **FOREIGN)
            names = {line.partition("=")[0] for line in shown.splitlines()}
            leaked = sorted(name for name in names if name.startswith(("LD_", "QT_", "QML", "_PYI", "PYINSTALLER")))
            self._expect(not leaked, f"reaches a job: {', '.join(leaked)}")
            self._say("an environment was set up from the bundle without a network, and verified")
            shutil.rmtree(self.root / root.lstrip("/"))
            self._as_root("rm -f /tmp/install.log")

    def _window(self, program: str) -> None:
        """Open the window on a screen, take a picture, open it a second time, and close the first one."""
        script = f"""
Xvfb :7 -screen 0 1280x800x24 -nolisten tcp >/dev/null 2>&1 & screen=$!
export DISPLAY=:7
until xdpyinfo >/dev/null 2>&1; do kill -0 $screen; sleep 0.1; done
{program} >/tmp/window.log 2>&1 & window=$!
until xwininfo -root -tree | grep -q '"amlwizard'; do kill -0 $window || {{ cat /tmp/window.log; exit 1; }}; sleep 0.1; done
until {program} >/tmp/second.log 2>&1 && grep -q . /tmp/second.log; do sleep 0.5; done
cat /tmp/second.log
sleep 3
import -window root /tmp/window.png
kill $window
wait $window || :
kill $screen
wait $screen || :
rm -f /tmp/window.log /tmp/second.log
"""
        said = self._as_user(script, network=False, **FOREIGN)
        self._expect("already" in said or "open" in said, f"a second window said: {said}")
        picture = self.root / "tmp" / "window.png"
        self._expect(picture.stat().st_size > 10_000, "the picture of the window is empty")
        if self._pictures is not None:
            self._pictures.mkdir(parents=True, exist_ok=True)
            name = self._name.replace(", ", "-")
            shutil.copyfile(picture, self._pictures / f"{name}.png")
        picture.unlink()
        self._say("the window opened, and a second start called it")

    def _install_libraries(self) -> None:
        sys.path.insert(0, str(ROOT))
        from package_linux import depends

        wanted = depends("2.28", ()).replace("libglib2.0-0t64 | libglib2.0-0", "libglib2.0-0")
        names = [word.split()[0] for word in wanted.split(", ")[1:]]
        self._as_root(f"apt-get install -qq --no-install-recommends -y {' '.join([*names, *SCREEN])} >/dev/null 2>&1")

    def _forget_settings(self) -> None:
        """Remove the account's settings, which a package for the whole computer does not touch in the homes."""
        self._as_user("rm -rf ~/.config/amlwizard; rmdir ~/.config 2>/dev/null || :")
        self._forget_packages()

    def _forget_packages(self) -> None:
        """Remove what other packages left, of which nothing belongs to the trial."""
        self._as_user("rm -rf ~/.cache/fontconfig; rmdir ~/.cache 2>/dev/null || :")

    def _files(self) -> set[str]:
        """Return the files of the home, and those anywhere that bear the program's name."""
        home = self.root / HOME.lstrip("/")
        found = {str(path.relative_to(self.root)) for path in home.rglob("*")}
        for place in ("usr", "etc", "var/lib", "opt", "tmp"):
            found |= {str(path.relative_to(self.root)) for path in (self.root / place).rglob("*amlwizard*")}
        return found

    def _as_root(self, script: str) -> str:
        return self._enter(["/bin/sh", "-ec", script], network=True, variables={})

    def _as_user(self, script: str, *, network: bool = True, **variables: str) -> str:
        command = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--init-groups", "/bin/sh", "-ec", script]
        return self._enter(command, network=network, variables={"HOME": HOME, "USER": USER, **variables})

    def _enter(self, command: Sequence[str], *, network: bool, variables: dict[str, str]) -> str:
        loader = variables.pop("LD_LIBRARY_PATH", None)  # it shall reach the program, not what starts it
        inner = ["env", f"LD_LIBRARY_PATH={loader}", *command] if loader else list(command)
        result = subprocess.run(
            debian_roots.entering(self.root, inner, network=network),
            env=debian_roots.environment(**variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        said = f"{result.stdout}{result.stderr}"
        self._expect(result.returncode == 0, f"status {result.returncode} of {command[-1].strip()[:200]}: {said[-2000:]}")
        return said

    def _expect(self, holds: bool, otherwise: str) -> None:
        if not holds:
            raise CheckError(otherwise)

    def _say(self, text: str) -> None:
        print(f"package-check: {self._name}: {text}", flush=True)
