"""One Linux package in one minimal system: installed over an older one, run, and removed.

Looked at is: whether the installed executable files are those of the list; what the program says of itself, where libraries
of the window are missing (B107), and where its own files are; the window on a screen, and a second start; what the programs
get that it starts (B29); an environment from a complete package without a network; that settings and workspaces outlive
the older version, and that this one is refused afterwards; and what is left in the end.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import time
from typing import TYPE_CHECKING

import debian_roots
from package_papers import executable_files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

SCREEN = ("xvfb", "xauth", "imagemagick", "fonts-dejavu-core", "x11-utils", "xdotool", "libgssapi-krb5-2")
"""A screen, and what looks at it. The last is on every desktop: by it, a second start finds the first window."""
HOME = "/home/zoë maier"
"""The account's home: a space and a letter that is not ASCII are part of the trial."""
USER = "zoe"
_ACCOUNT = {"HOME": HOME, "USER": USER}
MOST_SECONDS = 60.0
"""From the start of a complete .run to a verified environment."""
LONGEST_SECONDS = 600
"""After which a command is given up."""
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
_OF_PYTHON, _OF_BASH = "libexpat.so.1", "libtinfo.so.6"
"""What Debian's Python and bash load, and the text mode and the window do not: put into the program's folder as rubbish."""
SETTINGS = f"{HOME}/.config/amlwizard/settings.json"
WORKSPACE = f"{HOME}/my aml"
"""What the settings name, and what outlives the program."""
_OPENER = """#!/bin/sh
env > /tmp/opened.part
bash -c 'echo it started' >> /tmp/opened.part 2>&1
mv /tmp/opened.part /tmp/opened
"""
"""Stands for the desktop's opener of files."""


class CheckError(Exception):
    """A package did not do what it shall do."""


class Trial:
    """One minimal system, made anew for one package; ``listed`` are the hashes of its executable files."""

    def __init__(
        self, suite: str, base: Path, root: Path, package: Path, listed: Mapping[str, str], pictures: Path | None
    ) -> None:
        self.root = root
        self._name = f"{suite}, {package.name}"
        self._base = base
        self._package = package
        self._listed = listed
        self._pictures = pictures
        self._complete = "-complete" in package.name
        self._version = package.name.split("-")[1]
        self._older_version = re.sub(r"\d", "0", self._version)

    def run(self) -> None:
        """Try the package.

        Raises:
            CheckError: it failed.
        """
        debian_roots.copy(self._base, self.root)
        debian_roots.hand_on_settings(self.root)
        self._as_root("update-ca-certificates >/dev/null 2>&1; apt-get update -qq")
        self._as_root(f"useradd --create-home --home-dir '{HOME}' {USER}")
        shutil.copy(self._package, self.root / "srv" / self._package.name)
        before = self._files()
        kind = {"deb": self._deb, "run": self._run, "zst": self._archive}[self._package.name.rpartition(".")[2]]
        kind(f"/srv/{self._package.name}")
        notebook = self._inside(f"{WORKSPACE}/notebooks/mine.txt")
        self._expect(notebook.read_text() == "mine\n", "the workspace is not as it was")
        shutil.rmtree(self._inside(WORKSPACE))
        left = sorted(self._files() - before)
        self._expect(not left, f"left behind: {', '.join(left[:20])}")
        self._say("nothing is left but the workspace")

    def _deb(self, file: str) -> None:
        older = self._older_deb()
        self._apt_get("install", older)
        self._begin("amlwizard")
        self._apt_get("install", file)
        self._expect(self._installed_version() == self._version, "it did not take the place of the older one")
        self._say("installed by apt-get, over an older one")
        self._look_at_kept("amlwizard")
        said = self._as_root(f"dpkg -i {older} 2>&1 || echo status $?")
        self._expect(f"{self._version} is installed, which is newer" in said, f"going back is not refused: {said}")
        self._expect(self._installed_version() == self._version, "it was replaced by an older one")
        self._say("going back to the older one was refused, in a sentence")
        for place in (
            "usr/share/applications/amlwizard.desktop",
            "usr/share/mime/packages/amlwizard.xml",
            "usr/share/icons/hicolor/scalable/apps/amlwizard.svg",
            "usr/share/man/man1/amlwizard.1.gz",
            "usr/share/doc/amlwizard/copyright",
        ):
            # minimal roots of Debian in containers may leave these out; debootstrap's do not
            self._expect((self.root / place).is_file(), f"{place} is missing")
        self._apt_get("install", *SCREEN)
        self._program("amlwizard", "/usr/lib/amlwizard")
        self._apt_get("purge", "amlwizard")
        self._forget_settings()

    def _run(self, file: str) -> None:
        folder = f"{HOME}/.local/share/amlwizard/current"
        program = f"'{folder}/amlwizard'"
        if self._complete:
            self._from_the_start(file, program)
        older = self._older_run()
        self._as_user(f"{older} --silent", network=False)
        self._begin(program)
        self._as_user(f"{file} --silent", network=False)
        self._as_user(f"{file} --silent", network=False)  # a second time changes nothing
        versions = [path.name for path in self._inside(folder).parent.joinpath("versions").iterdir()]
        self._expect([name.split("-")[0] for name in versions] == [self._version], f"installed are {', '.join(versions)}")
        self._say("installed for one user over an older one, by nothing that a minimal system lacks")
        self._look_at_kept(program)
        said = self._as_user(f"{older} --silent 2>&1 || echo status $?")
        self._expect(f"{self._version} is installed, which is newer" in said, f"going back is not refused: {said}")
        self._expect("status 2" in said, f"another exit code than 2: {said}")
        self._say("going back to the older one was refused, in a sentence")
        self._install_named_libraries(program)
        self._apt_get("install", *SCREEN)
        self._program(program, folder)
        self._as_user(f"{file} --uninstall", network=False)
        self._forget_packages()

    def _archive(self, file: str) -> None:
        self._apt_get("install", "zstd")
        self._as_user(f"cd && tar --zstd -xf {file} && mv amlwizard-* unpacked")
        program = f"'{HOME}/unpacked/amlwizard'"
        self._begin(program)
        self._install_named_libraries(program)
        self._apt_get("install", *SCREEN)
        self._program(program, f"{HOME}/unpacked")
        self._as_user("rm -r ~/unpacked")
        self._forget_settings()

    def _from_the_start(self, file: str, program: str) -> None:
        """Set the workspace up by one command, and take the time."""
        os.sync()  # what making the system has left to be written does not count
        began = time.monotonic()
        command = self._by_user(f"{file} -- install --root '{WORKSPACE}' >/tmp/first.log 2>&1")
        # before all else that the machine does, so that this does not count
        self._enter(["chrt", "--rr", "1", *command], network=False, variables=_ACCOUNT)
        seconds = time.monotonic() - began
        self._say(f"from the .run to a verified environment without a network: {seconds:.1f} s")
        self._expect(seconds <= MOST_SECONDS, f"took {seconds:.1f} s, and {MOST_SECONDS} are allowed")
        self._as_user(f"{program} verify --root '{WORKSPACE}' >/dev/null", network=False)
        self._as_user(f"{file} --uninstall", network=False)
        self._inside("/tmp/first.log").unlink()

    def _older_deb(self) -> str:
        """Make the same package with a lower version, and return where it lies in the system."""
        tree, target = self.root / "srv" / "older", self.root / "srv" / "older.deb"
        subprocess.run(["dpkg-deb", "--raw-extract", self._package, tree], check=True)
        for name in ("control", "preinst"):
            file = tree / "DEBIAN" / name
            file.write_text(file.read_text(encoding="utf-8").replace(self._version, self._older_version), encoding="utf-8")
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, target], check=True, stdout=2)
        shutil.rmtree(tree)
        return "/srv/older.deb"

    def _older_run(self) -> str:
        """Make the same package with a lower version of the same length, and return where it lies in the system."""
        target = self.root / "srv" / "older.run"
        old, new = (f"\nversion='{version}'\n".encode() for version in (self._version, self._older_version))
        target.write_bytes(self._package.read_bytes().replace(old, new, 1))
        target.chmod(0o755)
        return "/srv/older.run"

    def _installed_version(self) -> str:
        return self._as_root("dpkg-query --show --showformat='${Version}' amlwizard")

    def _begin(self, program: str) -> None:
        """Make settings and a workspace; from a complete package with an environment, without a network."""
        text = shlex.quote(json.dumps({"root": WORKSPACE}))
        self._as_user(f"mkdir -p ~/.config/amlwizard && printf %s {text} > ~/.config/amlwizard/settings.json")
        if self._complete:
            if not self._inside(WORKSPACE).is_dir():
                self._as_user(f"{program} install >/dev/null", network=False, **FOREIGN)
                self._say("an environment was set up from the bundle without a network")
            self._as_user(f"{program} verify >/dev/null", network=False)
        self._as_user(f"mkdir -p '{WORKSPACE}/notebooks'; echo mine > '{WORKSPACE}/notebooks/mine.txt'")

    def _look_at_kept(self, program: str) -> None:
        """Make sure that settings and workspace are as the older version left them."""
        kept = json.loads(self._inside(SETTINGS).read_text(encoding="utf-8"))
        self._expect(kept == {"root": WORKSPACE}, f"the settings have become {kept}")
        if self._complete:
            self._as_user(f"{program} verify >/dev/null", network=False)
            said = self._as_user(f"{program} install --json", network=False)
            self._expect(
                json.loads(said.splitlines()[-1])["state"] == "ready", f"the workspace is not ready: {said[-500:]}"
            )
        self._say("settings and workspace of the older one are kept")

    def _program(self, program: str, folder: str) -> None:
        """Let the installed program work."""
        installed = executable_files(self._inside(folder))
        other = sorted(name for name, _ in installed.items() ^ self._listed.items())
        self._expect(not other, f"executable files are not those of the list: {', '.join(other[:10])}")
        said = self._as_user(f"{program} --version", network=False)
        self._expect(said == f"amlwizard {self._version}\n", f"says of itself: {said}")
        uv = [one for one in self._found(program) if one["kind"] == "uv" and one["usable"]]
        self._expect(bool(uv), "its own uv is not found")
        self._say(f"{said.strip()}, with uv {uv[0]['version']}; its executable files are those of the list")
        self._window(program)
        self._start_others(program, folder)
        self._fail_to_start(program, folder)
        if self._complete:
            shown = self._as_user(f"{program} run --print-env", network=False, **FOREIGN)
            names = {line.partition("=")[0] for line in shown.splitlines()}
            leaked = sorted(name for name in names if name.startswith(("LD_", "QT_", "QML", "_PYI", "PYINSTALLER")))
            self._expect(not leaked, f"reaches a job: {', '.join(leaked)}")

    def _found(self, program: str) -> list[dict[str, object]]:
        """Return the candidates that the program finds."""
        said = self._as_user(f"{program} detect --json 2>/dev/null", network=False)
        found = next(event for event in map(json.loads, said.splitlines()) if event["event"] == "detected")
        candidates: list[dict[str, object]] = found["candidates"]
        return candidates

    def _window(self, program: str) -> None:
        """Open the window on a screen, take a picture, open it a second time, and close the first one."""
        said = self._on_screen(
            program,
            f"""
until {program} >/tmp/second.log 2>&1 && grep -q . /tmp/second.log; do sleep 0.5; done
cat /tmp/second.log
rm -f /tmp/second.log
sleep 3
import -window root /tmp/window.png
""",
            **FOREIGN,
        )
        self._expect("already" in said or "open" in said, f"a second window said: {said}")
        picture = self._inside("/tmp/window.png")
        self._expect(picture.stat().st_size > 10_000, "the picture of the window is empty")
        if self._pictures is not None:
            self._pictures.mkdir(parents=True, exist_ok=True)
            name = self._name.replace(", ", "-")
            shutil.copyfile(picture, self._pictures / f"{name}.png")
        picture.unlink()
        self._say("the window opened, and a second start called it")

    def _start_others(self, program: str, folder: str) -> None:
        """B29: neither a probe nor the desktop's opener comes upon the program's libraries, or upon its variables."""
        parts = self._inside(f"{folder}/_internal")
        for name, other in ((_OF_PYTHON, "/usr/bin/python3"), (_OF_BASH, "bash")):
            (parts / name).write_bytes(b"x")
            harmed = self._as_user(f"LD_LIBRARY_PATH='{folder}/_internal' {other} -c : 2>&1 || echo status $?")
            self._expect("status 127" in harmed, f"{name} in the program's folder does no harm: {harmed}")
        pythons = [one for one in self._found(program) if one["kind"] == "python"]
        answered = any(one["version"] and str(one["path"]).startswith("/usr/bin/") for one in pythons)
        self._expect(answered, f"the system's Python did not answer: {json.dumps(pythons)}")
        (parts / _OF_PYTHON).unlink()  # the window loads it, with fontconfig
        opener = self._inside("/usr/bin/xdg-open")
        opener.write_text(_OPENER, encoding="utf-8")
        opener.chmod(0o755)
        settings = self._inside(SETTINGS)
        before = settings.read_bytes()
        settings.write_bytes(b"{")  # the window offers to open what it cannot read, by Alt+P
        self._on_screen(
            program,
            """
window=$(xdotool search --sync --onlyvisible --name '^amlwizard' | tail -n 1)
until test -e /tmp/opened; do xdotool windowfocus "$window" key alt+p; sleep 1; done
""",
            LD_LIBRARY_PATH="/nonexistent/lib",
        )
        settings.write_bytes(before)
        told = self._inside("/tmp/opened").read_text(encoding="utf-8")
        self._expect("it started" in told, f"what the opener starts comes to harm: {told}")
        self._expect("\nLD_LIBRARY_PATH=/nonexistent/lib\n" in told, f"the user's own path is lost: {told}")
        self._expect("_internal" not in told and "_PYI" not in told, f"reaches the opener: {told}")
        for path in (self._inside("/tmp/opened"), opener, parts / _OF_BASH):
            path.unlink()
        self._say("B29: what the program starts does not come upon its libraries")

    def _fail_to_start(self, program: str, folder: str) -> None:
        """Start it without a part of its own: the reason is told, and the file with the details."""
        messages = self._inside(f"{folder}/_internal/resources/messages")
        away = messages.rename(messages.with_name("away"))
        said = self._as_user(f"{program} detect 2>&1 || echo status $?")
        away.rename(messages)
        named = re.search(r"^amlwizard cannot start: .*\nDetails: (\S+\.log)\nstatus 1$", said, re.MULTILINE)
        self._expect(named is not None, f"a start that fails says: {said}")
        assert named is not None
        log = self._inside(named[1])
        self._expect("Traceback" in log.read_text(encoding="utf-8"), f"{named[1]} tells nothing")
        log.unlink()
        self._say(f"a start that fails names its log, such as {named[1]}")

    def _install_named_libraries(self, program: str) -> None:
        """B107: what the window lacks is named, with the command that is enough; until then the text mode works."""
        said = self._as_user(f"DISPLAY=:9 {program} gui 2>&1 || echo status $?")
        command = re.search(r"sudo apt-get install ([a-z0-9.+ -]+)", said)
        self._expect("AML_QT_LIBRARIES_MISSING" in said, f"missing libraries are not named: {said}")
        self._expect("status 2" in said, f"another exit code than 2: {said}")
        self._expect(command is not None, f"no command installs what is missing: {said}")
        assert command is not None
        self._found(program)
        self._apt_get("install", *command[1].split())
        said = self._as_user(f"DISPLAY=:9 {program} gui 2>&1 || echo status $?")
        self._expect("AML_SCREEN_SILENT" in said, f"after {command[0]} the window says: {said}")
        self._say(f"B107: {command[0]}")

    def _on_screen(self, program: str, body: str, **variables: str) -> str:
        """Open the window on a screen, do something, and close it; return what was printed."""
        script = f"""
Xvfb :7 -screen 0 1280x800x24 -nolisten tcp -noreset >/dev/null 2>&1 & screen=$!
export DISPLAY=:7
until xdpyinfo >/dev/null 2>&1; do kill -0 $screen; sleep 0.1; done
{program} >/tmp/window.log 2>&1 & program=$!
until xwininfo -root -tree | grep -q '"amlwizard'; do
    kill -0 $program || {{ cat /tmp/window.log; exit 1; }}
    sleep 0.1
done
{body}
kill $program
wait $program || :
kill $screen
wait $screen || :
rm -f /tmp/window.log
"""
        return self._as_user(script, network=False, **variables)

    def _forget_settings(self) -> None:
        """Remove the account's settings, which a package for the whole computer does not touch in the homes."""
        self._as_user("rm -rf ~/.config/amlwizard; rmdir ~/.config 2>/dev/null || :")
        self._forget_packages()

    def _forget_packages(self) -> None:
        """Remove what other packages left, of which nothing belongs to the trial."""
        self._as_user("rm -rf ~/.cache/fontconfig; rmdir ~/.cache 2>/dev/null || :")

    def _files(self) -> set[str]:
        """Return the files of the home, and those anywhere that bear the program's name."""
        found = {str(path.relative_to(self.root)) for path in self._inside(HOME).rglob("*")}
        for place in ("usr", "etc", "var/lib", "opt", "tmp"):
            found |= {str(path.relative_to(self.root)) for path in (self.root / place).rglob("*amlwizard*")}
        return found

    def _inside(self, path: str) -> Path:
        """Return where this machine finds a path of the system."""
        return self.root / path.lstrip("/")

    def _apt_get(self, action: str, *packages: str) -> None:
        names = " ".join(packages)
        self._as_root(
            f"apt-get {action} -qq --no-install-recommends -y {names} >/tmp/apt.log 2>&1 || {{ cat /tmp/apt.log; exit 1; }}"
        )

    def _as_root(self, script: str) -> str:
        return self._enter(["/bin/sh", "-ec", script], network=True, variables={})

    def _as_user(self, script: str, *, network: bool = True, **variables: str) -> str:
        return self._enter(self._by_user(script), network=network, variables={**_ACCOUNT, **variables})

    def _by_user(self, script: str) -> list[str]:
        return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--init-groups", "/bin/sh", "-ec", script]

    def _enter(self, command: Sequence[str], *, network: bool, variables: Mapping[str, str]) -> str:
        variables = dict(variables)
        loader = variables.pop("LD_LIBRARY_PATH", None)  # it shall reach the program, not what starts it
        inner = ["env", f"LD_LIBRARY_PATH={loader}", *command] if loader else list(command)
        try:
            result = subprocess.run(
                debian_roots.entering(self.root, inner, network=network),
                env=debian_roots.environment(**variables),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=LONGEST_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise CheckError(f"no end after {LONGEST_SECONDS} s: {command[-1].strip()[:200]}") from error
        said = f"{result.stdout}{result.stderr}"
        self._expect(result.returncode == 0, f"status {result.returncode} of {command[-1].strip()[:200]}: {said[-2000:]}")
        return said

    def _expect(self, holds: bool, otherwise: str) -> None:
        if not holds:
            raise CheckError(otherwise)

    def _say(self, text: str) -> None:
        print(f"package-check: {self._name}: {text}", flush=True)
