"""The one place that decides what environment a child gets (DESIGN section 6).

Both environments are built from allow-lists: what is not named here does not reach a child. Names are compared without case
on Windows. The run tag is added by the runner.
"""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from amlwizard.core.running import RUN_TAG_VARIABLE
from amlwizard.core.temporary import system_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from amlwizard.core.paths import Workspace

PROXY_VARIABLES: Final = (
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
)
CERTIFICATE_VARIABLES: Final = (
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT", "GIT_SSL_CAINFO"),
    *("UV_SYSTEM_CERTS", "UV_NATIVE_TLS"),
)

_SYSTEM: Final = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TZ", "LANG", "LANGUAGE"),
    *("LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LC_COLLATE", "LC_NUMERIC", "LC_TIME", "LC_MONETARY"),
    *("XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"),
    *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "USERNAME"),
    *("APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "ALLUSERSPROFILE", "PUBLIC", "PROGRAMFILES", "PROGRAMFILES(X86)"),
    *("PROGRAMW6432", "COMMONPROGRAMFILES", "COMMONPROGRAMFILES(X86)", "COMMONPROGRAMW6432", "OS"),
    *("PROCESSOR_ARCHITECTURE", "PROCESSOR_ARCHITEW6432", "NUMBER_OF_PROCESSORS"),
)
_TOOL: Final = (*_SYSTEM, *PROXY_VARIABLES, *CERTIFICATE_VARIABLES)
_JOB: Final = ("PATH", "PATHEXT", "SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "WINDIR", "PROGRAMFILES", "LANG", "LC_ALL")
_PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
_NO_PROXY_AT_ALL: Final = "http://"
"""A proxy without a host: pip, Python's own library and curl refuse it before there is a socket."""
_JOB_PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")

_LIBRARY_PATH: Final = "LD_LIBRARY_PATH"
_SOCKET_PATH_BYTES: Final = {"darwin": 104}
_SOCKET_PATH_BYTES_ELSEWHERE: Final = 108
_ROOM_FOR_NAMES: Final = 50
"""What tools put below their temporary folder before the name of a socket."""


@dataclass(frozen=True)
class ChildEnvironment:
    """An environment, and the names (never the values) of what was left out of the parent's, for the log."""

    variables: dict[str, str]
    dropped: tuple[str, ...]


def tool_environment(
    parent: Mapping[str, str],
    *,
    tmp: Path,
    extra: Mapping[str, str] = MappingProxyType({}),
    frozen: bool | None = None,
) -> ChildEnvironment:
    """Return the environment of a tool such as uv, pip or git.

    ``tmp`` is the private temporary folder; ``extra`` is what the caller decides (UV_*, PIP_CONFIG_FILE and the like) and
    wins; ``frozen`` tells whether this program is a frozen one (None: find out), whose loader path must not reach children.
    """
    variables, dropped = _allowed(parent, _TOOL)
    variables |= _original_library_path(parent, frozen)
    variables |= {
        "NO_COLOR": "1",
        "PYTHONUTF8": "1",
        "PYTHONUNBUFFERED": "1",
        "GIT_TERMINAL_PROMPT": "0",
        **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(tmp)),
        # where an index refuses it, uv looks for logins of its own, and locks the file in the user's home meanwhile
        "UV_CREDENTIALS_DIR": str(tmp / "uv-credentials"),
    }
    variables |= extra
    return ChildEnvironment(variables, tuple(name for name in dropped if name not in variables))


def session_environment(parent: Mapping[str, str], *, frozen: bool | None = None) -> dict[str, str]:
    """Return the environment of a program that the user opens from the window and that outlives it, such as JupyterLab.

    It is the user's own, less what belongs to this program: its libraries, its Qt, and another Python's modules. The run
    tag is that of no run, so that it is not taken for what a run left behind.
    """
    mine: tuple[str, ...] = ("QT_API", "PYTHONHOME", "PYTHONPATH")
    if _is_frozen(frozen):
        mine += ("QT_", "_PYI_", "PYINSTALLER_", _LIBRARY_PATH)
    variables = {name: value for name, value in parent.items() if not name.upper().startswith(mine)}
    return variables | _original_library_path(parent, frozen) | {RUN_TAG_VARIABLE: "opened"}


def without_network() -> dict[str, str]:
    """Return the variables that keep tools, and whatever they start, from an address that metadata or a build names.

    Mercurial and Bazaar take the proxy as well. Subversion, what either sends over SSH, and code with a connection of its
    own take no variable; what the user names for them is refused before anything starts.
    """
    variables = {**dict.fromkeys(_PROXIES, _NO_PROXY_AT_ALL), "NO_PROXY": ""}
    if os.name != "nt":  # names are not told apart by case there
        variables |= {name.lower(): value for name, value in variables.items()}
    return variables | {"GIT_ALLOW_PROTOCOL": "file"}


def job_environment(
    parent: Mapping[str, str],
    *,
    workspace: Workspace,
    job_dir: Path,
    tmp: Path,
    home: Path | None = None,
    let_through: Sequence[str] = (),
) -> dict[str, str]:
    """Return the environment of a training job, in which no secret of the parent is visible.

    ``home`` is the workspace's home for jobs unless another is given. ``let_through`` names variables of the parent that
    the user lets pass all the same.
    """
    home = home or workspace.job_home
    variables, _ = _allowed(parent, _JOB)
    variables |= dict.fromkeys(_JOB_PROXIES, "")
    variables |= {
        **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(tmp)),
        **dict.fromkeys(("HOME", "USERPROFILE"), str(home)),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "MPLCONFIGDIR": str(home / ".config" / "matplotlib"),
        "AML_ROOT": str(workspace.root),
        "AML_JOB_DIR": str(job_dir),
        "PYTHONPATH": str(workspace.kit),
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONIOENCODING": "utf-8",
        "PYTHONUTF8": "1",
        "NO_COLOR": "1",
    }
    passing, _ = _allowed(parent, let_through)
    for name, value in passing.items():
        if _case_counts():
            variables[name] = value
        else:
            variables = {other: old for other, old in variables.items() if other.upper() != name.upper()} | {name: value}
    return variables


def private_tmp(workspace: Workspace, run_id: str) -> Path:
    """Return the private temporary folder of a run; it is not made here.

    It lies in the workspace, or under a short name in the system's temporary folder where the path of a socket in it would
    be too long for the system. Builds run programs in it, so a place that forbids that is worse than a long path.
    """
    folder = workspace.tmp / run_id
    limit = _SOCKET_PATH_BYTES.get(sys.platform, _SOCKET_PATH_BYTES_ELSEWHERE)
    if len(os.fsencode(folder)) + _ROOM_FOR_NAMES <= limit or sys.platform == "win32":
        return folder
    short = hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]
    system = system_folder()
    return folder if _forbids_programs(system) else system / f"aml-{short}"


def _forbids_programs(folder: Path) -> bool:
    """Tell whether a folder lies on a file system that is mounted ``noexec``; where that cannot be told, it is not."""
    forbidden = getattr(os, "ST_NOEXEC", 0)  # Linux alone has a name for it
    return bool(os.statvfs(folder).f_flag & forbidden)


def _is_frozen(frozen: bool | None) -> bool:
    return bool(getattr(sys, "frozen", False)) if frozen is None else frozen


def _original_library_path(parent: Mapping[str, str], frozen: bool | None) -> dict[str, str]:
    """Return the loader path that the user had before a frozen program put its own in its place."""
    original = parent.get(f"{_LIBRARY_PATH}_ORIG") if _is_frozen(frozen) else None
    return {_LIBRARY_PATH: original} if original else {}


def _case_counts() -> bool:
    return sys.platform != "win32"


def _allowed(parent: Mapping[str, str], names: Sequence[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Split the parent's environment into what is allowed and the sorted names of the rest."""

    def key(name: str) -> str:
        return name if _case_counts() else name.upper()

    allowed = {key(name) for name in names}
    kept = {name: value for name, value in parent.items() if key(name) in allowed}
    return kept, tuple(sorted(name for name in parent if name not in kept))
