"""Makes a wheel of what has none: a source archive, a checkout, a local folder (DESIGN 3.6)."""

from __future__ import annotations

import shutil
import tarfile
import zlib
from typing import TYPE_CHECKING

from amlwizard.core import pip_cli
from amlwizard.core.catalogue import ToolText
from amlwizard.core.errors import AmlError
from amlwizard.core.git_logins import git_variables
from amlwizard.core.pip_python import python_with_pip

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.context import RunContext


async def build_wheel(run: RunContext, package: str, source: Path) -> Path:
    """Build a wheel from a source archive or a folder in a private folder; return its path there.

    Raises:
        AmlError: ``AML_BUILD_FAILED`` with the last lines of the build's output, or a recognised cause.
    """
    out = run.tmp / "wheels" / package
    python = run.require_python()
    if run.uv is not None:
        argv, variables = run.uv_cli().build_wheel(source, out, python.executable), run.uv_variables()
    else:
        with_pip = await python_with_pip(run, python, pip_cli.MINIMUM_FOR_TARGET)
        argv, variables = pip_cli.build_wheel(with_pip, source, out), run.pip_variables()
    result = await run.run_tool(argv, variables=variables, cwd=run.tmp)
    wheels = sorted(out.glob("*.whl")) if out.is_dir() else []
    if result.code != 0 or len(wheels) != 1:
        raise run.failure(result, otherwise="AML_BUILD_FAILED", package=package)
    return wheels[0]


async def check_out(run: RunContext, package: str, url: str, commit: str) -> Path:
    """Fetch one commit of a git repository, with its history, tags and submodules, and return its private folder.

    The history is fetched because some builds make their version of it.

    Raises:
        AmlError: ``AML_GIT_MISSING``, ``AML_GIT_UNAUTHORIZED``, or ``AML_GIT_FAILED`` with git's last line.
    """
    git = shutil.which("git", path=run.parent_environment.get("PATH"))
    if git is None:
        raise AmlError("AML_GIT_MISSING", package=package)
    variables = git_variables(run.wish.git_logins)
    folder = run.tmp / "checkouts" / package
    folder.mkdir(parents=True, exist_ok=True)
    for arguments in (
        ("init", "--quiet"),
        ("remote", "add", "--", "origin", url),
        ("fetch", "--quiet", "--", "origin", f"{commit}:refs/remotes/origin/locked"),  # a place, so that tags come with it
        ("checkout", "--quiet", "--detach", "refs/remotes/origin/locked"),
        ("submodule", "--quiet", "update", "--init", "--recursive"),
    ):
        result = await run.run_tool((git, *arguments), variables=variables, cwd=folder)
        if result.code != 0:
            raise run.failure(result, otherwise="AML_GIT_FAILED", tool="git", package=package)
    return folder


def unpack(archive: Path, folder: Path) -> Path:
    """Unpack a source archive; return the one folder in it. Blocks: call it in a thread.

    Raises:
        AmlError: ``AML_BUILD_FAILED``; it is none, or has an entry that would lie outside the folder.
    """
    try:
        if archive.name.endswith(".zip"):
            shutil.unpack_archive(archive, folder)
        else:
            _unpack_tar(archive, folder)
    except (shutil.ReadError, tarfile.TarError, EOFError, zlib.error) as error:
        raise AmlError("AML_BUILD_FAILED", package=archive.name, cause=ToolText(str(error), "Python")) from error
    found = [entry for entry in folder.iterdir() if entry.is_dir()]
    return found[0] if len(found) == 1 else folder


def _unpack_tar(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as opened:
        if hasattr(tarfile, "data_filter"):
            opened.extractall(folder, filter="data")
            return
        members = [member for member in opened if member.isfile() or member.isdir()]  # before 3.11.4: without any link
        for member in members:
            if not (folder / member.name).resolve().is_relative_to(folder.resolve()):
                raise tarfile.ReadError(f"{member.name!r} is outside")
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
        opened.extractall(folder, members)  # noqa: S202 - each of them was looked at
