"""Windows without Windows: a Debian 13 with Wine 10 in a folder, and in it the CPython of Windows with locked wheels.

The system is entered in mount, process and network namespaces that end with the ``with`` statement; there is no network in
them but loopback. All commands of one statement share them, as the programs of one Wine prefix share a server.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

import debian_roots
import devenv
import freeze
from devenv import ROOT, SetUpError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType
    from typing import IO

SUITE = "trixie"
PACKAGES = (
    *("wine", "wine64", "wine32:i386", "nsis", "wixl", "msitools", "xvfb", "xdotool", "imagemagick"),
    *("fonts-wqy-microhei", "unzip"),
)
CHECKOUT = "/srv/amlwizard"
PLACE = "/srv/windows"
"""Where the checkout and what is kept for Windows lie in the system; Windows programs see it as drive Z."""
INTERPRETER = ROOT / "packaging" / "windows" / "interpreter.txt"
"""Names the source archive that carries CPython for Windows, with its hash. Nothing in it is run but that CPython."""


def wine_root(folder: Path) -> Path:
    """Return the Debian with Wine, made in ``folder`` where it is not there yet.

    Raises:
        SetUpError: it cannot be made here.
    """
    base = folder / "wine.base"
    if not base.is_dir():
        debian_roots.require()
        plain = debian_roots.plain_base(SUITE, folder)
        part = debian_roots.copy(plain, folder / "wine.part")
        debian_roots.hand_on_settings(part)
        install = "apt-get -q install -y --no-install-recommends"
        script = (
            "update-ca-certificates --fresh && dpkg --add-architecture i386 && apt-get -q update && "
            f"DEBIAN_FRONTEND=noninteractive {install} {' '.join(PACKAGES)} && apt-get clean"
        )
        freeze.run(debian_roots.entering(part, ["/bin/sh", "-c", script]), debian_roots.environment())
        part.rename(base)
    return base


def windows_path(place: str | Path) -> str:
    """Return how a Windows program names a place in the system."""
    return "Z:" + str(place).replace("/", "\\")


def python_with(lock: Path, state: Path) -> str:
    """Return the folder, in the system, of a CPython for Windows with a lock's wheels; kept while both stay the same.

    Raises:
        SetUpError: something cannot be fetched.
    """
    digest = hashlib.sha256(INTERPRETER.read_bytes() + lock.read_bytes()).hexdigest()[:12]
    name = f"{lock.stem.removeprefix('requirements-')}-{digest}"
    kept, part = state / name, state / "python.part"
    if not kept.is_dir():
        shutil.rmtree(part, ignore_errors=True)
        _unpack(interpreter_archive(state), part)
        site = part / "Lib" / "site-packages"
        freeze.install_into(site, lock, "--python-platform", "x86_64-pc-windows-msvc", "--python-version", "3.13")
        _move_programs(site, part / "Scripts")
        part.rename(kept)
    return f"{PLACE}/{name}"


def interpreter_archive(state: Path) -> Path:
    """Return the zip file with CPython, taken out of the source archive that pip has fetched and compared.

    Raises:
        SetUpError: it cannot be fetched.
    """
    kept = state / f"interpreter-{hashlib.sha256(INTERPRETER.read_bytes()).hexdigest()[:12]}.zip"
    if not kept.is_file():
        fetched = state / "fetched"
        shutil.rmtree(fetched, ignore_errors=True)
        fetched.mkdir(parents=True)
        pinned = fetched / "builder.txt"
        pinned.write_text(devenv.locked("setuptools", devenv.PACKAGE_LOCK), encoding="utf-8")
        freeze.install_into(fetched / "builder", pinned)
        # pip asks for the metadata of what it fetches, and these are made by setuptools; nothing is installed.
        download = [str(devenv.ready("text")), "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        download += ["--no-build-isolation", "--require-hashes", "--dest", str(fetched), "-r", str(INTERPRETER)]
        freeze.run(download, {**devenv.tool_environment(), "PYTHONPATH": str(fetched / "builder")})
        (archive,) = fetched.glob("*.tar.gz")
        shutil.unpack_archive(archive, fetched)
        (data,) = fetched.glob("*/src*/*/data.zip")
        data.rename(kept)
        shutil.rmtree(fetched)
    return kept


def _move_programs(site: Path, scripts: Path) -> None:
    """Move programs to where Windows has them, and in the records of their packages as well."""
    for program in (site / "bin").glob("*.exe"):
        program.rename(scripts / program.name)
    for record in site.glob("*.dist-info/RECORD"):
        text = record.read_text(encoding="utf-8")
        record.write_text(re.sub(r"^bin/(?=[^/]+\.exe,)", "../../Scripts/", text, flags=re.MULTILINE), encoding="utf-8")


def _unpack(archive: Path, target: Path) -> None:
    """Unpack CPython without what its packager installed beside it."""
    with zipfile.ZipFile(archive) as content:
        for member in content.infolist():
            inside = Path(*Path(member.filename).parts[1:])
            if member.is_dir() or inside.parts[:2] == ("Lib", "site-packages") or inside.parts[0] == "Scripts":
                continue
            place = target / inside
            place.parent.mkdir(parents=True, exist_ok=True)
            with content.open(member) as source, place.open("wb") as copy:
                shutil.copyfileobj(source, copy)
    (target / "Scripts").mkdir(exist_ok=True)


@dataclass
class Wine:
    """The system, entered. ``state`` keeps what is made for it; ``prefix`` names the Windows installation in it."""

    root: Path
    state: Path
    prefix: str = "prefix"
    _holder: subprocess.Popen[bytes] | None = field(default=None, init=False)
    _first: int = field(default=0, init=False)

    def __enter__(self) -> Self:
        """Enter it, with a Windows installation that is ready."""
        temporary = self.state / "tmp"  # where Wine's server has its sockets, which are of no use to the next one
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(mode=0o1777, parents=True)
        waiting = ["/bin/sh", "-c", _WAITING]
        binds = [(ROOT, CHECKOUT), (self.state, PLACE), (temporary, "/tmp")]
        command = debian_roots.entering(self.root, waiting, binds=binds, network=False)
        self._holder = subprocess.Popen(command, env=debian_roots.environment(), stdout=subprocess.PIPE)
        assert self._holder.stdout is not None
        if not self._holder.stdout.readline():
            raise SetUpError("the Debian with Wine cannot be entered; the reason stands above")
        children = Path(f"/proc/{self._holder.pid}/task/{self._holder.pid}/children").read_text(encoding="ascii")
        self._first = int(children.split()[0])
        self._loopback()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Leave it: the first process of the namespace takes all others with it."""
        assert self._holder is not None
        with suppress(ProcessLookupError):
            self._holder.kill()
        self._holder.wait()

    def fresh(self, prefix: str) -> None:
        """Change to another Windows installation, made anew."""
        self.prefix = prefix
        shutil.rmtree(self.state / prefix, ignore_errors=True)
        self.boot()

    def boot(self) -> None:
        """Make the Windows installation where it is not there yet, and keep its server for all that follows."""
        if not (self.state / self.prefix / "user.reg").is_file():
            self.must(["sh", "-c", "wineboot -i >/dev/null 2>&1; wineserver -w"])
        self.must(["wineserver", "-p"])  # it outlives the programs, and ends with the namespaces

    def run(
        self,
        command: Sequence[str],
        *,
        variables: Mapping[str, str] | None = None,
        output: IO[bytes] | int | None = None,
        seconds: float | None = None,
    ) -> int:
        """Run a command of the system and return its status; ``output`` takes both its streams."""
        result = subprocess.run(
            self.entered(command, CHECKOUT),
            env=self.variables(variables or {}),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            timeout=seconds,
            check=False,
        )
        return result.returncode

    def must(self, command: Sequence[str], **more: str) -> None:
        """Run a command that has to succeed.

        Raises:
            SetUpError: it did not.
        """
        if self.run(command, variables=more, output=sys.stderr.buffer):
            raise SetUpError(f"{command[0]} failed in the Debian with Wine; the reason stands above")

    def read(self, command: Sequence[str]) -> str:
        """Return what a command says, its errors left out."""
        # A file, and no pipe: the services that Wine starts along with a program would hold it open.
        with tempfile.TemporaryFile() as output:
            subprocess.run(
                self.entered(command, CHECKOUT),
                env=self.variables({}),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.DEVNULL,
                check=False,
            )
            output.seek(0)
            return output.read().decode("utf-8", errors="replace").replace("\r\n", "\n")

    def entered(self, command: Sequence[str], folder: str) -> list[str]:
        """Return the command that runs another one in the system."""
        inside = ["chroot", str(self.root), "/bin/sh", "-c", 'cd "$0" && exec "$@"', folder, *command]
        return ["nsenter", "--target", str(self._first), "--mount", "--pid", "--net", *inside]

    def variables(self, more: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of a command in the system, with ``more`` in it."""
        own = debian_roots.environment(
            WINEPREFIX=f"{PLACE}/{self.prefix}",
            WINEDEBUG="-all",
            WINEDLLOVERRIDES="mscoree,mshtml=",  # no offers to fetch what nobody needs
            XDG_RUNTIME_DIR="/run",
            DISPLAY=DISPLAY,
            PYTHONPYCACHEPREFIX=windows_path(f"{PLACE}/bytecode"),
        )
        without = ("SSL_CERT_", "REQUESTS_CA", "CURL_CA", "PIP_", "UV_")
        return {**{name: value for name, value in own.items() if not name.startswith(without)}, **more}

    def _loopback(self) -> None:
        subprocess.run(
            ["nsenter", "--target", str(self._first), "--net", sys.executable, "-c", _LOOPBACK], check=True, env=os.environ
        )


DISPLAY = ":99"
"""A screen for all programs: those of one Wine prefix have one desktop, which is where the first of them was started."""
_WAITING = f"""
export DISPLAY={DISPLAY}
Xvfb $DISPLAY -screen 0 1280x900x24 -nolisten tcp >/dev/null 2>&1 &
until xdotool getdisplaygeometry >/dev/null 2>&1; do sleep 0.1; done
echo
exec sleep infinity
"""
_LOOPBACK = """
import fcntl, socket, struct
with socket.socket() as any_socket:
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 0x1 | 0x40))  # SIOCSIFFLAGS: up and running
"""
