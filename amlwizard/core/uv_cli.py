"""The one module that knows uv's command line and its environment variables (DESIGN 3.3 to 3.7 and 6).

Nothing is run here: the methods return argument lists, ``environment`` the variables that belong to them. Index addresses
and their credentials go by environment only, so that they never stand in a process list. Every option
here is known to the oldest uv that is used, ``detection.MINIMUM_UV``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from amlwizard.core.child_env import without_network
from amlwizard.core.choices import IndexStrategy

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from amlwizard.core.paths import Workspace

HTTP_TIMEOUT_SECONDS: Final = 60
"""How long uv waits for the next bytes; it reads pages of an index and metadata, the large files are fetched by us."""
HTTP_RETRIES: Final = 3
"""How often uv asks again. Altogether it gives up, and names the address, before it is stopped for its silence."""

BEST_MATCH: Final = ("--index-strategy", IndexStrategy.UNSAFE_BEST_MATCH.value)
"""Looks for a version on every index, as pip does; for what is pinned to hashes or to what is installed already."""

AUTO: Final = "auto"
ACCELERATORS: Final = (
    AUTO, "cpu", "cu132", "cu130", "cu129", "cu128", "cu126", "cu125", "cu124", "cu123", "cu122", "cu121",
    "cu120", "cu118", "cu117", "cu116", "cu115", "cu114", "cu113", "cu112", "cu111", "cu110", "cu102", "cu101",
    "cu100", "cu92", "cu91", "cu90", "cu80", "rocm7.2", "rocm7.1", "rocm7.0", "rocm6.4", "rocm6.3", "rocm6.2.4",
    "rocm6.2", "rocm6.1", "rocm6.0", "rocm5.7", "rocm5.6", "rocm5.5", "rocm5.4.2", "rocm5.4", "rocm5.3",
    "rocm5.2", "rocm5.1.1", "rocm4.2", "rocm4.1", "rocm4.0.1", "xpu",
)  # fmt: skip
"""The accelerators for which uv knows an index with builds of PyTorch; ``auto`` is the one that uv finds here."""

_COMMON: Final = ("--no-config", "--no-progress", "--color", "never")


@dataclass(frozen=True)
class Index:
    """A package index; ``url`` holds no userinfo, the credentials are those of its own origin."""

    url: str
    username: str = ""
    password: str = ""


@dataclass(frozen=True)
class UvCli:
    """Builds the commands of one uv for one workspace."""

    executable: Path
    workspace: Workspace

    def version(self) -> tuple[str, ...]:
        """Return the command that prints ``uv X.Y.Z``."""
        return (str(self.executable), "--version")

    def venv(self, target: Path, python: Path) -> tuple[str, ...]:
        """Return the command that makes an empty relocatable environment; an existing target is an error."""
        return self._command("venv", "--relocatable", "--no-project", "--python", str(python), str(target))

    def sync(self, lock: Path, python: Path) -> tuple[str, ...]:
        """Return the command that makes an environment hold exactly what a ``pylock`` names, without a network.

        Args:
            lock: the lock; relative paths in it are relative to its folder.
            python: the interpreter of the environment.
        """
        options = ("--strict", "--allow-empty-requirements", "--offline", "--python", str(python))
        return self._command("pip", "sync", *options, str(lock))

    def install_locked(self, lock: Path, python: Path, reinstall: Sequence[str]) -> tuple[str, ...]:
        """Return the command that adds what a ``pylock`` of local wheels names, and nothing else, to an environment.

        Args:
            lock: the lock; relative paths in it are relative to its folder.
            python: the interpreter of the environment.
            reinstall: distributions to be installed again although they seem to be there.
        """
        argv = self._command("pip", "install", "--offline", "--no-index", "--no-deps", "--python", str(python))
        for name in reinstall:
            argv += ("--reinstall-package", name)
        return (*argv, "--requirements", str(lock))

    def pip_compile(
        self,
        requirements: Sequence[Path],
        output: Path,
        python: Path,
        *,
        dependencies: bool = True,
        python_platform: str | None = None,
        python_version: str | None = None,
        universal: bool = False,
        only_wheels: bool = False,
        accelerator: str | None = None,
        find_links: Sequence[str] = (),
        no_index: bool = False,
        upgrade: bool = False,
        offline: bool = False,
    ) -> tuple[str, ...]:
        """Return the command that resolves requirements files to a ``pylock.toml``.

        Args:
            requirements: the files, given to uv as they are (relative ones count from the child's folder).
            output: the lock to be written; uv wants a name of the form ``pylock.toml`` or ``pylock.<name>.toml``.
            python: the interpreter that the lock is for.
            dependencies: False where the file is a complete hashed lock already.
            python_platform: another platform than the interpreter's, by uv's name for it.
            python_version: another version than the interpreter's.
            universal: for every platform at once.
            only_wheels: choose versions of which there is a wheel.
            accelerator: the one of ``ACCELERATORS`` from whose index PyTorch comes; None for that of everything else.
            find_links: folders or pages with archives; without credentials.
            no_index: ask no index, only ``find_links``.
            upgrade: take the newest versions although ``output`` holds others.
            offline: never touch the network.
        """
        argv = self._command("pip", "compile", "--format", "pylock.toml", "--no-header", "--python", str(python))
        if not dependencies:
            # the hashes name the files, so it does no harm to look at every index for them
            argv += ("--no-deps", *BEST_MATCH)
        if python_platform is not None:
            argv += ("--python-platform", python_platform)
        if python_version is not None:
            argv += ("--python-version", python_version)
        if universal:
            argv += ("--universal",)
        if only_wheels:
            argv += ("--only-binary", ":all:")
        if accelerator is not None:
            argv += ("--torch-backend", accelerator)
        for place in find_links:
            argv += ("--find-links", place)
        if no_index:
            argv += ("--no-index",)
        if upgrade:
            argv += ("--upgrade",)
        if offline:
            argv += ("--offline",)
        return (*argv, "--output-file", str(output), *map(str, requirements))

    def show_index(self, empty: Path, python: Path | None) -> tuple[str, ...]:
        """Return the command that prints, resolving an empty file, the index that is in use as ``--index-url URL``.

        Args:
            empty: the file.
            python: any interpreter; None lets uv find one, but none of an environment, which may not start.
        """
        chosen = ("--python", str(python)) if python is not None else ("--system",)
        return self._command(
            "pip", "compile", "--offline", "--no-cache", "--emit-index-url", "--quiet", *chosen, str(empty)
        )

    def python_install(
        self,
        version: str,
        *,
        mirror: str | None = None,
        downloads_json: str | None = None,
        offline: bool = False,
        reinstall: bool = False,
        folder: Path | None = None,
    ) -> tuple[str, ...]:
        """Return the command that unpacks an interpreter into the workspace.

        Args:
            version: what is asked for, such as ``3.11``.
            mirror: the base address of the archives; uv checks its built-in hash.
            downloads_json: the address of a list with archives and hashes of its own.
            offline: never touch the network (``file://`` addresses still work).
            reinstall: unpack again although it is there.
            folder: another place than the workspace's.
        """
        place = folder or self.workspace.interpreters
        argv = self._command("python", "install", "--no-bin", "--install-dir", str(place))
        if mirror is not None:
            argv += ("--mirror", mirror)
        if downloads_json is not None:
            argv += ("--python-downloads-json-url", downloads_json)
        if offline:
            argv += ("--offline",)
        if reinstall:
            argv += ("--reinstall",)
        return (*argv, version)

    def python_list_downloads(self, request: str, *, all_platforms: bool = False) -> tuple[str, ...]:
        """Return the command that prints the interpreters that could be had, as JSON with their addresses."""
        argv = self._command("python", "list", "--no-cache", "--only-downloads", "--output-format", "json")
        if all_platforms:
            argv += ("--all-platforms", "--all-arches", "--all-versions")
        return (*argv, request)

    def build_wheel(self, source: Path, out: Path, python: Path) -> tuple[str, ...]:
        """Return the command that builds a wheel of an sdist or of a local folder."""
        return (*self._command("build", "--wheel", "--python", str(python), "--out-dir", str(out)), str(source))

    def build_editable(self, source: Path, out: Path, python: Path, *, offline: bool) -> tuple[str, ...]:
        """Return the command that builds an editable folder into the cache, and installs it in ``out``."""
        argv = self._command("pip", "install", "--no-deps", "--python", str(python), "--target", str(out))
        if offline:
            argv += ("--offline",)
        return (*argv, "--editable", str(source))

    def cache_clean(self, packages: Sequence[str]) -> tuple[str, ...]:
        """Return the command that drops packages from the cache (all of them where none is named)."""
        return self._command("cache", "clean", *packages)

    def cache_prune(self) -> tuple[str, ...]:
        """Return the command that drops from the cache what nothing in it refers to any more."""
        return self._command("cache", "prune")

    def environment(
        self,
        *,
        default_index: Index | None = None,
        indexes: Sequence[Index] = (),
        python_downloads: bool = False,
        offline: bool = False,
    ) -> dict[str, str]:
        """Return uv's variables for a child; they come on top of what ``child_env`` makes.

        Args:
            default_index: the index in place of uv's own; None leaves uv's own.
            indexes: further indexes, which uv asks first.
            python_downloads: only for ``python_install``; everywhere else uv must not fetch an interpreter by itself.
            offline: never touch the network.
        """
        variables = {
            "UV_CACHE_DIR": str(self.workspace.cache),
            "UV_PYTHON_INSTALL_DIR": str(self.workspace.interpreters),
            "UV_PYTHON_INSTALL_BIN": "0",
            "UV_PYTHON_INSTALL_REGISTRY": "0",
            "UV_PYTHON_DOWNLOADS": "manual" if python_downloads else "never",
            "UV_NO_CONFIG": "1",
            "UV_NO_PROGRESS": "1",
            "UV_HTTP_TIMEOUT": str(HTTP_TIMEOUT_SECONDS),
            "UV_HTTP_RETRIES": str(HTTP_RETRIES),
            "UV_KEYRING_PROVIDER": "disabled",
            "UV_PREVIEW_FEATURES": "pylock",  # or uv warns at each lock that they are experimental
        }
        if python_downloads:
            variables["UV_HTTP_RETRIES"] = "0"  # it reads what we have fetched, and a damaged file does not get better
        if offline:
            variables |= {"UV_OFFLINE": "1"} | without_network()
        if default_index is not None:
            variables["UV_DEFAULT_INDEX"] = f"amldefault={default_index.url}"
            variables |= _credentials("AMLDEFAULT", default_index)
        if indexes:
            variables["UV_INDEX"] = " ".join(f"aml{number}={index.url}" for number, index in enumerate(indexes))
            for number, index in enumerate(indexes):
                variables |= _credentials(f"AML{number}", index)
        return variables

    def _command(self, *arguments: str) -> tuple[str, ...]:
        return (str(self.executable), *arguments, *_COMMON)


def _credentials(name: str, index: Index) -> dict[str, str]:
    if not index.username and not index.password:
        return {}
    return {f"UV_INDEX_{name}_USERNAME": index.username, f"UV_INDEX_{name}_PASSWORD": index.password}
