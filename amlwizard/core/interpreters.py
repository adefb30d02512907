"""What is known of the managed interpreters in ``<root>/python``: from which archive each came, and whether it is whole.

``runtime/python.json`` keeps for each of them its archive in ``downloads/``, with the SHA-256 that was right when uv
unpacked it. So an interpreter can be compared with it and unpacked again without network.
"""

from __future__ import annotations

import ast
import asyncio
import json
import os
import tarfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any, Final

from amlwizard.core.environment.layout import read_pyvenv_cfg
from amlwizard.core.environment.marker import read_marker
from amlwizard.core.environment.relink import point_minor_link
from amlwizard.core.environment.removal import is_link
from amlwizard.core.environment.threads import run_whole
from amlwizard.core.fetching import Download
from amlwizard.core.file_hash import file_sha256
from amlwizard.core.lacking import Lacking, incomplete_store
from amlwizard.core.plain_files import is_name
from amlwizard.core.records import read_record, write_record, write_text_atomically

if TYPE_CHECKING:
    import threading
    from collections.abc import Collection, Iterable, Mapping

    from amlwizard.core.context import RunContext
    from amlwizard.core.paths import Workspace

_BLOCK: Final = 1024 * 1024
_LONGEST_WAY: Final = 40
"""After so many links, one leads to itself."""
_TOOLS: Final = frozenset({"AR", "BLDSHARED", "CC", "CXX", "LDCXXSHARED", "LDSHARED", "LINKCC"})
"""Build variables in which uv names the tools of this computer instead of those that the interpreter was built with."""
_BUILD_PREFIX: Final = "/install"
"""Where the interpreter lay when it was built; uv writes its present place instead."""


@dataclass(frozen=True)
class Origin:
    """Where an interpreter came from: ``archive`` is a file name in ``downloads/``, ``entry`` its line of uv's list."""

    name: str
    version: str
    archive: str
    sha256: str
    key: str
    entry: dict[str, Any]

    @property
    def url(self) -> str | None:
        """The archive's address, None where it has none."""
        url = self.entry.get("url")
        return url if isinstance(url, str) else None

    @property
    def minor(self) -> str:
        """Return the version as ``3.11``."""
        return self.version.rpartition(".")[0]


def note_origin(workspace: Workspace, origin: Origin) -> None:
    """Remember where an interpreter came from."""
    _write_origins(workspace, [*origins(workspace).values(), origin])


def forget_origins(workspace: Workspace, archives: Collection[str]) -> None:
    """Forget the interpreters that came from archives which the store no longer holds."""
    known = list(origins(workspace).values())
    kept = [origin for origin in known if origin.archive not in archives]
    if len(kept) < len(known):
        _write_origins(workspace, kept)


def _write_origins(workspace: Workspace, listed: Iterable[Origin]) -> None:
    noted = {
        known.name: {
            "version": known.version,
            "archive": known.archive,
            "sha256": known.sha256,
            "key": known.key,
            "entry": known.entry,
        }
        for known in listed
    }
    write_record(workspace.python_record, {"interpreters": noted})


def origins(workspace: Workspace) -> dict[str, Origin]:
    """Return what is known, by the interpreters' folder names."""
    entries = (read_record(workspace.python_record) or {}).get("interpreters")
    found: dict[str, Origin] = {}
    for name, values in entries.items() if isinstance(entries, dict) else ():
        try:
            version, archive, sha256, key = (str(values[field]) for field in ("version", "archive", "sha256", "key"))
            if is_name(name) and is_name(archive):
                found[name] = Origin(name, version, archive, sha256, key, dict(values["entry"]))
        except (KeyError, TypeError, ValueError):
            continue
    return found


def environment_origin(workspace: Workspace) -> Origin | None:
    """Return the origin of the managed interpreter that the environment stands on, though it may be gone; None where it
    stands on another one or nothing is known.
    """
    home = Path((read_pyvenv_cfg(workspace.venv) or {}).get("home", ""))
    if not home.is_relative_to(workspace.interpreters) or home == workspace.interpreters:
        return None
    known = origins(workspace)
    name = home.relative_to(workspace.interpreters).parts[0]
    way = [workspace.interpreters / name, *_way(workspace.interpreters / name)]
    found = next((known[place.name] for place in reversed(way) if place.name in known), None)
    if found is not None:
        return found
    same_minor = [origin for origin in known.values() if minor_name(origin) == name]
    marker = read_marker(workspace.venv)
    recorded = [origin for origin in same_minor if marker is not None and origin.version == marker.python]
    return next(iter(recorded or same_minor), None)


def _way(link: Path) -> list[Path]:
    """Return where a link leads, one link after the other; nothing for what is no link."""
    way: list[Path] = []
    while is_link(link) and len(way) < _LONGEST_WAY:
        link = Path(os.path.normpath(link.parent / str(link.readlink()).removeprefix("\\\\?\\")))
        way.append(link)
    return way


def strayed_to(workspace: Workspace, origin: Origin) -> Path | None:
    """Return where the minor-version link of an interpreter leaves the folder of interpreters, None where it does not."""
    home = os.path.realpath(workspace.interpreters)
    way = _way(workspace.interpreters / minor_name(origin))
    return next((place for place in way if os.path.realpath(place.parent) != home), None)


def mend_minor_link(workspace: Workspace, origin: Origin) -> None:
    """Let the minor-version link of an interpreter lead to it."""
    point_minor_link(workspace.interpreters / minor_name(origin), workspace.interpreters / origin.name)


def minor_name(origin: Origin) -> str:
    """Return the name of uv's link to the newest interpreter of a minor version."""
    return origin.name.replace(f"-{origin.version}-", f"-{origin.minor}-")


def stable_path(workspace: Workspace, executable: Path) -> Path:
    """Return the path of a managed interpreter by way of its minor-version link, where it has one, as uv does."""
    if not executable.is_relative_to(workspace.interpreters):
        return executable
    name, *rest = executable.relative_to(workspace.interpreters).parts
    folder = (workspace.interpreters / name).resolve()
    for link in sorted(workspace.interpreters.iterdir()):
        if is_link(link) and link.resolve() == folder:
            return link.joinpath(*rest)
    return executable


def check_interpreter(workspace: Workspace, origin: Origin, stopped: threading.Event) -> list[str] | None:
    """Compare a managed interpreter with its archive. Blocks for seconds: call it in a thread.

    What uv writes anew when it unpacks (build settings, on macOS the library's own name) is compared by its meaning.

    Args:
        workspace: the workspace.
        origin: the interpreter.
        stopped: set by the caller to end the comparison early; the result then means nothing.

    Returns:
        The files that are missing or changed, relative to the interpreter's folder; None where the archive itself is
        missing or damaged, or of a kind that cannot be read here.
    """
    archive = workspace.downloads / origin.archive
    try:
        if file_sha256(archive) != origin.sha256:
            return None
        return _compare(archive, workspace.interpreters / origin.name, stopped)
    except (OSError, tarfile.TarError, EOFError):
        return None


def _compare(archive: Path, folder: Path, stopped: threading.Event) -> list[str]:
    wrong: list[str] = []
    with tarfile.open(archive, "r:*") as members:
        for member in members:
            if stopped.is_set():
                break
            relative = PurePosixPath(*PurePosixPath(member.name).parts[1:])
            path = folder / relative
            if member.issym():
                whole = path.is_symlink() and str(path.readlink()) == member.linkname
            elif member.isfile():
                source = members.extractfile(member)
                whole = source is not None and (relative.suffix == ".pyc" or _is_whole(source, member.size, path))
            else:
                whole = not member.islnk() or path.is_file()
            if not whole:
                wrong.append(str(relative))
    return wrong


def _is_whole(source: IO[bytes], size: int, path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    if path.name.startswith("_sysconfigdata_"):
        return _same_settings(source.read(), path.read_bytes())
    if path.suffix == ".pc" and path.parent.name == "pkgconfig":
        return _same_names(source.read(), path.read_bytes())
    if path.suffix == ".dylib" and path.name.startswith("libpython"):
        return path.stat().st_size >= size
    if path.stat().st_size != size:
        return False
    with path.open("rb") as stream:
        while block := source.read(_BLOCK):
            if stream.read(_BLOCK) != block:
                return False
    return True


def _same_settings(original: bytes, present: bytes) -> bool:
    """Tell whether build variables are the archive's, but for what uv adapts."""
    try:
        wanted, found = _build_variables(original), _build_variables(present)
    except (SyntaxError, ValueError):
        return False
    return all(
        name in found and (name in _TOOLS or _BUILD_PREFIX in str(value) or _plain(value) == _plain(found[name]))
        for name, value in wanted.items()
    )


def _build_variables(content: bytes) -> Mapping[str, object]:
    for statement in ast.parse(content.decode("utf-8")).body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Dict):
            values = ast.literal_eval(statement.value)
            return values if isinstance(values, dict) else {}
    raise ValueError("no build variables")


def _plain(value: object) -> str:
    return " ".join(str(value).split())


def _same_names(original: bytes, present: bytes) -> bool:
    def names(content: bytes) -> list[bytes]:
        return [line.partition(b"=")[0].partition(b":")[0] for line in content.splitlines()]

    return names(original) == names(present)


async def reinstall_interpreter(run: RunContext, origin: Origin) -> None:
    """Unpack a managed interpreter again from its archive, which is fetched again where it is damaged.

    Raises:
        AmlError: ``AML_STORE_INCOMPLETE`` where it would have to be fetched and the network is not to be used,
            ``AML_UV_PYTHON_FAILED``, or a network code.
    """
    workspace = run.workspace
    stored = workspace.downloads / origin.archive
    if not stored.is_file() or await asyncio.to_thread(file_sha256, stored) != origin.sha256:
        if run.choices.offline:
            raise incomplete_store([Lacking.of(origin.archive, None, origin.url)], workspace.downloads, run.language)
        stored.unlink(missing_ok=True)
        await run.fetch([Download((origin.url or "",), stored, origin.sha256)])
    description = run.tmp / "python-origin.json"
    entry = {**origin.entry, "url": stored.as_uri(), "sha256": origin.sha256}
    write_text_atomically(description, json.dumps({origin.key: entry}))
    argv = run.uv_cli().python_install(
        origin.version,
        downloads_json=description.as_uri(),
        offline=True,
        reinstall=(workspace.interpreters / origin.name).exists(),
    )
    link = workspace.interpreters / minor_name(origin)
    before = link.resolve() if is_link(link) and link.exists() else workspace.interpreters / origin.name
    try:
        result = await run.run_tool(argv, variables=run.uv_variables(downloads=True))
        if result.code != 0:
            raise run.failure(result, otherwise="AML_UV_PYTHON_FAILED", version=origin.version)
    finally:
        await run_whole(_lead_back, link, before)


def _lead_back(link: Path, before: Path) -> None:
    """Let a minor-version link lead where it did: uv lets it lead to the newest, and the environment may stand on it."""
    if before.is_dir() and (not link.exists() or link.resolve() != before.resolve()):
        point_minor_link(link, before)
