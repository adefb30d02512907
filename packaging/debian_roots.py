"""Minimal Debian systems in folders: made by debootstrap, entered in namespaces that end with the command.

Nothing stays mounted or running. The network settings of this machine are handed on: mirror, proxies, certificates.
Needs root and debootstrap.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from devenv import SetUpError

if TYPE_CHECKING:
    from collections.abc import Sequence

_SOURCES = (Path("/etc/apt/sources.list"), Path("/etc/apt/sources.list.d"))


def refusal() -> str | None:
    """Return why this machine can make no such system, or None where it can."""
    if os.name == "nt" or os.geteuid() != 0:
        return "this needs root on Linux"
    if shutil.which("debootstrap") is None:
        return "this needs debootstrap:\n\n  apt-get install -y debootstrap\n"
    return None


def require() -> None:
    """Make sure that such systems can be made.

    Raises:
        SetUpError: they cannot.
    """
    reason = refusal()
    if reason is not None:
        raise SetUpError(reason)


def make_base(suite: str, base: Path, included: Sequence[str]) -> Path:
    """Make a system of a suite with some packages more where it is not there yet, and return its folder."""
    if not base.is_dir():
        part = base.with_name(f"{base.name}.part")
        remove(part)
        base.parent.mkdir(parents=True, exist_ok=True)
        command = ["debootstrap", "--variant=minbase", f"--include={','.join(included)}", suite, str(part)]
        result = subprocess.run([*command, *mirrors("debian")[:1]], stdin=subprocess.DEVNULL, stdout=2, check=False)
        if result.returncode:
            raise SetUpError(f"debootstrap could not make a Debian {suite} (status {result.returncode})")
        part.rename(base)
    return base


def plain_base(suite: str, folder: Path) -> Path:
    """Make the system that the trials of a suite begin with, kept in ``folder``, and return it."""
    return make_base(suite, folder / f"{suite}.base", ("python3", "ca-certificates"))


def copy(base: Path, target: Path) -> Path:
    """Make a copy of a system, in place of what is there, and return it."""
    remove(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-a", "--reflink=auto", str(base), str(target)], check=True)
    return target


def mirrors(archive: str) -> list[str]:
    """Return the addresses from which this machine itself gets an archive of Debian, such as ``debian-security``."""
    found: list[str] = []
    for place in _SOURCES:
        for file in sorted(place.glob("*")) if place.is_dir() else [place]:
            if file.suffix not in (".list", ".sources") or not file.is_file():
                continue
            pattern = rf"^(?:deb(?: \[[^]]*\])?|URIs:) +(\S+/{archive})/?(?:\s|$)"
            found += re.findall(pattern, file.read_text(), re.MULTILINE)
    return list(dict.fromkeys(found))


def hand_on_settings(root: Path) -> None:
    """Give a system this machine's network settings."""
    shutil.copy("/etc/resolv.conf", root / "etc" / "resolv.conf")
    # Every installed system has this line; debootstrap leaves it to the installer.
    (root / "etc" / "hosts").write_text("127.0.0.1 localhost\n::1 localhost\n")
    for certificate in Path("/usr/local/share/ca-certificates").glob("*.crt"):
        shutil.copy(certificate, root / "usr" / "local" / "share" / "ca-certificates")
    settings = subprocess.run(["apt-config", "dump"], check=True, capture_output=True, text=True).stdout.splitlines()
    handed_on = [line for line in settings if re.match(r"Acquire::(https?::|Check-)", line)]
    (root / "etc" / "apt" / "apt.conf.d" / "90machine").write_text("".join(f"{line}\n" for line in handed_on))


def entering(
    root: Path,
    command: Sequence[str],
    *,
    folder: str = "/",
    binds: Sequence[tuple[Path, str]] = (),
    network: bool = True,
) -> list[str]:
    """Return the command that runs another one in a system, in namespaces that end with it.

    Args:
        root: the system.
        command: what to run in it.
        folder: where in it.
        binds: folders of this machine, with the places in the system where they can be seen.
        network: False to leave it none.
    """
    place = shlex.quote(str(root))
    lines = [
        f"mount --bind {place} {place}",
        f"mount -t proc proc {place}/proc",
        f"mount --rbind /dev {place}/dev",
        f"mount -t tmpfs tmpfs {place}/run",
    ]
    for source, target in binds:
        inside = shlex.quote(f"{root}{target}")
        lines += [f"mkdir -p {inside}", f"mount --bind {shlex.quote(str(source))} {inside}"]
    # Not exec: the shell stays as the first process of the namespace, which has to take leave of orphans that end.
    inner = f"cd {shlex.quote(folder)} && exec {shlex.join(command)}"
    lines += ["status=0", f"chroot {place} /bin/sh -c {shlex.quote(inner)} || status=$?", "exit $status"]
    namespaces = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private"]
    if not network:
        namespaces.append("--net")
    return [*namespaces, "/bin/sh", "-ec", "\n".join(lines)]


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a command in a system: none of this machine's but the network settings."""
    names = re.compile(
        r"(https?|all|no)_proxy|SSL_CERT_(FILE|DIR)|(REQUESTS|CURL)_CA_BUNDLE|PIP_(CERT|INDEX_URL|DEFAULT_TIMEOUT)"
        r"|UV_(DEFAULT_INDEX|INDEX_URL|HTTP_TIMEOUT)",
        re.IGNORECASE,
    )
    handed_on = {name: value for name, value in os.environ.items() if names.fullmatch(name)}
    return {**handed_on, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8", **more}


def remove(folder: Path) -> None:
    """Remove a system, if there is one."""
    if folder.is_dir():
        shutil.rmtree(folder)
