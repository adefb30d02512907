"""Runs the Windows side of amlwizard without Windows, under Wine 10 in a Debian 13 of its own.

    python3 packaging/dev.py windows-check [PART...] [--into DIR]

PART is ``tests``, ``uv``, ``window``, ``cases``, ``installers`` or ``complete``; without one, all. What is made once is
kept in DIR (default .dev/roots). Needs root, debootstrap, git, and an index. At the end stands a table of what passed. What
Wine cannot show is listed in docs/releasing.md, and the tests that it cannot run, each with its reason, in
windows/not_under_wine.txt.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import time
import xml.etree.ElementTree as ET
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import debian_roots
import devenv
import freeze
import package_windows
import wine
from devenv import ROOT
from wine import PLACE, Wine, windows_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

LEFT_OUT = ROOT / "packaging" / "windows" / "not_under_wine.txt"
TEST_SECONDS = 600
"""For one test: Wine starts a process as slowly as a virus scanner lets Windows do."""
LONGEST_SECONDS = 5400
"""For all tests of a folder: many times what they take where the processors are free."""
WAIT_SECONDS = 120.0
FEW_COLOURS = 20
USER = Path("drive_c", "users", "root")
INSTALLED = USER / "AppData" / "Local" / "Programs" / "amlwizard"
FOR_ALL = Path("drive_c", "Program Files", "amlwizard")
KEY = r"HKCU\Software\Microsoft\Windows\CurrentVersion\Uninstall\amlwizard"


@dataclass
class Table:
    """What was checked, and what came of it."""

    rows: list[tuple[str, bool, str]] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    program: package_windows.Program | None = None

    def frozen(self, system: Wine) -> package_windows.Program:
        """Return the frozen program, which is made once."""
        if self.program is None:
            self.program = package_windows.frozen_program(system)
        return self.program

    def add(self, name: str, passed: bool, remark: str = "") -> None:
        """Note one result, and tell it at once."""
        self.rows.append((name, passed, remark))
        print(f"windows-check: {'passed' if passed else 'FAILED'}: {name} {remark}".rstrip(), flush=True)

    def show(self) -> int:
        """Print all of them; return the exit code."""
        width = max(len(name) for name, _, _ in self.rows)
        print()
        for name, passed, remark in self.rows:
            print(f"{name:<{width}}  {'passed' if passed else 'FAILED'}  {remark}".rstrip())
        print("", *self.parts, sep="\n")
        return 0 if all(passed for _, passed, _ in self.rows) else 1


def main(arguments: Sequence[str]) -> int:
    """Prepare what is missing, run the parts, print the table; return 1 if anything failed."""
    parser = argparse.ArgumentParser(prog="dev.py windows-check", description="Run the Windows side under Wine.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--into", type=Path, default=package_windows.WINE_ROOTS, help="folder of the roots")
    chosen = parser.parse_args(arguments)
    unknown = set(chosen.parts) - PARTS.keys()
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    debian_roots.require()
    roots = chosen.into.absolute()
    table = Table()
    with Wine(wine.wine_root(roots), roots / "windows") as system:
        system.boot()
        for part in chosen.parts or PARTS:
            before, started = len(table.rows), time.monotonic()
            PARTS[part](system, table)
            results = [passed for _, passed, _ in table.rows[before:]]
            took = f"{time.monotonic() - started:.0f} s"
            table.parts.append(f"{part}: {sum(results)} of {len(results)} passed, {took}")
    return table.show()


def left_out(text: str) -> list[str]:
    """Return the tests that a list names; every line has a reason behind its ``#``.

    Raises:
        ValueError: a line has none.
    """
    named = []
    for line in text.splitlines():
        test, mark, reason = (part.strip() for part in line.partition("  # "))
        if test.startswith("#") or not line.strip():
            continue
        if not mark or not reason:
            raise ValueError(f"no reason: {line}")
        named.append(test)
    return named


def _tests(system: Wine, table: Table) -> None:
    """Run the tests of the parts that know Windows."""
    for folder in ("tests/process", "tests/net", "tests/core"):
        _pytest(system, table, folder)


def _uv(system: Wine, table: Table) -> None:
    """Run the whole way with the real uv.exe."""
    _pytest(system, table, "tests/windows/test_real_uv.py")


def _cases(system: Wine, table: Table) -> None:
    """Run the cases that the frozen program has to come out right in."""
    table.frozen(system)
    program = windows_path(f"{PLACE}/frozen/amlwizard/amlwizard-cli.exe")
    _pytest(system, table, "tests/windows/test_frozen.py", f"--program={program}")


def _pytest(system: Wine, table: Table, folder: str, *more: str) -> None:
    python = wine.python_with(devenv.LOCK, system.state)
    report = system.state / "report.xml"
    report.unlink(missing_ok=True)
    deselected = [f"--deselect={name}" for name in left_out(LEFT_OUT.read_text(encoding="utf-8"))]
    options = system.state / "pytest.txt"
    options.write_text("\n".join(deselected), encoding="utf-8")
    command = ["wine", f"{python}/python.exe", "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--timeout={TEST_SECONDS}"]
    command += ["-m", "not posix and not linux", f"--junitxml={windows_path(f'{PLACE}/{report.name}')}", folder, *more]
    try:
        # As the installer of Python has it, which puts both folders there.
        path = ";".join(windows_path(folder) for folder in (python, f"{python}/Scripts"))
        command.append(f"@{windows_path(f'{PLACE}/{options.name}')}")
        status = system.run(command, variables={"WINEPATH": path}, seconds=LONGEST_SECONDS)
    except subprocess.TimeoutExpired:
        status = -1
    if not report.is_file():
        table.add(folder, passed=False, remark=f"no report (status {status})")
        return
    (suite,) = ET.parse(report).getroot().iter("testsuite")
    numbers = {name: int(suite.get(name, "0")) for name in ("tests", "failures", "errors", "skipped")}
    good = numbers["tests"] - numbers["failures"] - numbers["errors"] - numbers["skipped"]
    remark = f"{good} passed, {numbers['failures'] + numbers['errors']} failed, {numbers['skipped']} skipped"
    table.add(folder, passed=status == 0, remark=remark)


def _window(system: Wine, table: Table) -> None:
    """Freeze the program, and look at it as a console program and as a window."""
    program = table.frozen(system)
    place = f"{PLACE}/frozen/amlwizard"
    console = ["wine", f"{place}/amlwizard-cli.exe"]
    said = system.read([*console, "--version"]).strip()
    table.add("amlwizard-cli.exe --version", said == f"amlwizard {program.version}", said)
    for file in ("amlwizard.exe", "amlwizard-cli.exe"):
        code = ["wine", f"{wine.python_with(devenv.PACKAGE_LOCK, system.state)}/python.exe", "-c", _DETAILS]
        told = system.read([*code, windows_path(f"{place}/{file}")]).split("|")
        details = [package_windows.four_numbers(program.version), "amlwizard", program.version, ""]
        good = [part.strip() for part in told] == details
        table.add(f"{file} tells its version and no company", good, " ".join(told).strip())
    empty = windows_path(f"{PLACE}/nothing here")
    for arguments, wanted in (
        (("verify", "--root", empty), 3),
        (("--no-such-option",), 2),
        (("detect", "--root", empty), 0),
    ):
        status = system.run([*console, *arguments], output=subprocess.DEVNULL)
        table.add(f"amlwizard-cli.exe {arguments[0]}: exit code {wanted}", status == wanted, f"{status}")
    started = time.monotonic()
    with _started(system, ["wine", f"{place}/amlwizard.exe"]):
        shown = _wait(lambda: bool(_windows(system, "amlwizard")))
        table.add("amlwizard.exe shows its window", shown, f"{time.monotonic() - started:.1f} s under Wine")
        _picture(system, table, "window")
        _key(system, "alt+F4")
        table.add("alt+F4 closes the window", _wait(lambda: not _windows(system, "amlwizard")))


def _installers(system: Wine, table: Table) -> None:
    """Install for one user silently and by window, and for all users; uninstall; compare before and after."""
    into = system.state / "dist"
    into.mkdir(exist_ok=True)
    program = table.frozen(system)
    user = package_windows.nsis_in(system, program, into, complete=False)
    everybody = package_windows.msi_in(system, program, into, complete=False)
    system.fresh("prefix.installers")
    prefix = system.state / system.prefix
    installer, msi = f"{PLACE}/dist/{user.name}", windows_path(f"{PLACE}/dist/{everybody.name}")
    system.run(["wine", "cmd", "/c", "exit"])
    before = _contents(system)

    status = system.run(["wine", installer, "/S"])
    table.add("installer, silent", status == 0 and (prefix / INSTALLED / "amlwizard.exe").is_file(), f"status {status}")
    said = system.read(["wine", f"{PLACE}/{system.prefix}/{INSTALLED}/amlwizard-cli.exe", "--version"]).strip()
    table.add("the installed program answers", said == f"amlwizard {program.version}", said)
    opened = system.read(["wine", "reg", "query", r"HKCU\Software\Classes\amlwizard.bundle\shell\open\command", "/ve"])
    table.add("a double click on a bundle opens the program", "amlwizard.exe" in opened)
    menu = prefix / USER / "AppData/Roaming/Microsoft/Windows/Start Menu/Programs/amlwizard.lnk"
    table.add("it stands in the start menu", menu.is_file())

    system.must(["wine", "reg", "add", KEY, "/v", "DisplayVersion", "/d", "99.0.0", "/f"])
    status = system.run(["wine", installer, "/S"])
    table.add("a downgrade is refused", status == 2, f"status {status}")
    system.must(["wine", "reg", "add", KEY, "/v", "DisplayVersion", "/d", "0.0.1", "/f"])
    settings = prefix / USER / "AppData/Local/amlwizard/settings.json"
    workspace = prefix / USER / "aml" / "notebooks" / "mine.ipynb"
    for file in (settings, workspace):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{}", encoding="utf-8")
    status = system.run(["wine", installer, "/S"])
    kept = settings.is_file() and workspace.is_file()
    table.add("a newer one over an older one keeps workspaces and settings", status == 0 and kept, f"status {status}")
    _uninstall(system, prefix, silent=True)
    workspace_kept = workspace.is_file()
    shutil.rmtree(prefix / USER / "aml")
    rest = _more(before, _contents(system))
    table.add("uninstaller, silent: the workspace stays, nothing else does", workspace_kept and not rest, ", ".join(rest))

    _by_window(system, table, installer, prefix)
    rest = _more(before, _contents(system))
    table.add("after both by window nothing is left", not rest, ", ".join(rest))

    status = system.run(["wine", "msiexec", "/i", msi, "/qn"])
    said = system.read(["wine", f"{PLACE}/{system.prefix}/{FOR_ALL}/amlwizard-cli.exe", "--version"]).strip()
    table.add(".msi for all users", status == 0 and said == f"amlwizard {program.version}", f"status {status} {said}")
    older, newer = (_small_msi(system, program, into, version) for version in ("0.0.1", "99.0.0"))
    _msi_over_others(system, table, msi, older, newer)
    status = system.run(["wine", "msiexec", "/x", msi, "/qn"])
    rest = _more(before, _contents(system))
    table.add(".msi removed, nothing is left", status == 0 and not rest, f"status {status} {', '.join(rest)}")


def _complete(system: Wine, table: Table) -> None:
    """Go from complete installers to a verified environment: by one command after a silent one, and by one key."""
    into = system.state / "dist"
    into.mkdir(exist_ok=True)
    program = table.frozen(system)
    package_windows.put_in(program, _small_bundle(system))
    user = package_windows.nsis_in(system, program, into, complete=True)
    everybody = package_windows.msi_in(system, program, into, complete=True)
    shutil.rmtree(program.folder / package_windows.BUNDLE_FOLDER)  # other parts take the program without it
    system.fresh("prefix.complete")
    prefix = system.state / system.prefix
    workspace = prefix / USER / "aml"

    silent = system.run(["wine", f"{PLACE}/dist/{user.name}", "/S"])
    console = ["wine", f"{PLACE}/{system.prefix}/{INSTALLED}/amlwizard-cli.exe"]
    status = system.run([*console, "install"])
    good = silent == status == 0 and system.run([*console, "verify"]) == 0
    table.add("complete installer, silent: one command to a verified environment", good, f"status {silent}, {status}")
    _uninstall(system, prefix, silent=True)
    python = workspace / ".venv" / "Scripts" / "python.exe"
    imports = ["wine", f"{PLACE}/{python.relative_to(system.state)}", "-c", "import psutil"]
    table.add("uninstalled, its environment works on", system.run(imports) == 0)
    shutil.rmtree(workspace)

    silent = system.run(["wine", "msiexec", "/i", windows_path(f"{PLACE}/dist/{everybody.name}"), "/qn"])
    console = ["wine", f"{PLACE}/{system.prefix}/{FOR_ALL}/amlwizard-cli.exe"]
    with _started(system, ["wine", f"{PLACE}/{system.prefix}/{FOR_ALL}/amlwizard.exe"]):

        def begun() -> bool:
            _key(system, "alt+s")  # Set up, which waits until the computer has been looked at
            return workspace.exists()

        clicked = _wait(begun)
        _picture(system, table, "complete")
        good = clicked and _wait(lambda: system.run([*console, "verify"], output=subprocess.DEVNULL) == 0)
        table.add("complete .msi: the key of Set up, to a verified environment", silent == 0 and good, f"status {silent}")
        _picture(system, table, "ready")
        _key(system, "alt+F4")
        _wait(lambda: not _is_running(system, "amlwizard.exe"))


def _small_bundle(system: Wine) -> Path:
    """Make a bundle for Windows of uv, the CPython of the tests, and one package with a compiled library."""
    lock = devenv.LOCK
    python = Path(wine.python_with(lock, system.state))
    version = system.read(["wine", f"{python}/python.exe", "-c", "import platform; print(platform.python_version())"])
    place = system.state / "small.bundle"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    (place / "requirements.txt").write_text(devenv.locked("psutil"), encoding="utf-8")
    run_module = [str(devenv.ready("test")), "-m"]
    offering = ["tests.windows.interpreter", str(system.state / python.name), version.strip(), str(place)]
    freeze.run([*run_module, *offering])
    target = place / "small.amlbundle"
    making = ["amlwizard", "bundle", "create", str(target), "--root", str(place / "aml")]
    making += ["--platform", "windows-x86_64", "--python-version", ".".join(version.split(".")[:2])]
    making += ["--requirements", str(place / "requirements.txt")]
    making += ["--python-downloads-json", (place / "downloads.json").as_uri()]
    freeze.run([*run_module, *making])
    return target


def _small_msi(system: Wine, program: package_windows.Program, into: Path, version: str) -> str:
    """Make the .msi of another version, with two files alone, and return how Windows names it."""
    folder = system.state / "small" / "amlwizard"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("amlwizard.exe", f"of-{version}.txt"):
        (folder / name).write_text(version, encoding="utf-8")
    made = package_windows.msi_in(system, replace(program, folder=folder, version=version), into, complete=False)
    shutil.rmtree(folder)
    return windows_path(f"{PLACE}/dist/{made.name}")


def _msi_over_others(system: Wine, table: Table, msi: str, older: str, newer: str) -> None:
    """Install it over an older one, which goes, and over a newer one, which stays; at the end it is installed."""
    prefix = system.state / system.prefix
    place = prefix / FOR_ALL
    kept = [prefix / USER / "AppData/Local/amlwizard/settings.json", prefix / USER / "aml" / "notebooks" / "mine.ipynb"]
    for file in kept:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{}", encoding="utf-8")
    system.run(["wine", "msiexec", "/x", msi, "/qn"])
    before = system.run(["wine", "msiexec", "/i", older, "/qn"])
    there = (place / "of-0.0.1.txt").is_file()
    status = system.run(["wine", "msiexec", "/i", msi, "/qn"])
    replaced = there and not (place / "of-0.0.1.txt").exists() and (place / "amlwizard-cli.exe").is_file()
    remark = f"status {before}, {status}"
    table.add(".msi over an older one keeps workspaces and settings", replaced and all(map(Path.is_file, kept)), remark)
    system.run(["wine", "msiexec", "/x", msi, "/qn"])
    system.run(["wine", "msiexec", "/i", newer, "/qn"])
    status = system.run(["wine", "msiexec", "/i", msi, "/qn"])
    refused = status != 0 and (place / "of-99.0.0.txt").is_file() and not (place / "amlwizard-cli.exe").exists()
    table.add(".msi: a downgrade is refused", refused, f"status {status}")
    with _started(system, ["wine", "msiexec", "/i", msi]):  # Wine writes no such sentence to the log
        table.add(".msi: a window says so", _wait(lambda: bool(_windows(system, "msiexec", by="--class"))))
        _picture(system, table, "downgrade")
        _key(system, "Return")
        _wait(lambda: not _windows(system, "msiexec", by="--class"))
    system.run(["wine", "msiexec", "/x", newer, "/qn"])
    system.run(["wine", "msiexec", "/i", msi, "/qn"])
    for file in kept:
        shutil.rmtree(file.parent)
    (prefix / USER / "aml").rmdir()


def _by_window(system: Wine, table: Table, installer: str, prefix: Path) -> None:
    program = prefix / INSTALLED / "amlwizard.exe"
    with _started(system, ["wine", installer]):
        table.add("the installer shows its window", _wait(lambda: bool(_windows(system, "amlwizard"))))
        _picture(system, table, "installer")
        _key(system, "Return")  # the folder is the proposed one
        done = _wait(lambda: (prefix / INSTALLED / "uninstall.exe").is_file() and program.is_file())
        _wait(lambda: "DisplayVersion" in system.read(["wine", "reg", "query", KEY]))
        _picture(system, table, "installed")
        _key(system, "Return")  # Finish, which starts the program
        table.add("installer, by window", done)
        table.add("Finish starts the program", _wait(lambda: _is_running(system, "amlwizard.exe")))
        _picture(system, table, "started")
        _wait(lambda: bool(_windows(system, "amlwizard")))
        _key(system, "alt+F4")
        _wait(lambda: not _is_running(system, "amlwizard.exe"))
    _uninstall(system, prefix, silent=False)
    table.add("uninstaller, by window", not program.exists())


def _uninstall(system: Wine, prefix: Path, *, silent: bool) -> None:
    """Run the uninstaller, which goes on as a copy of itself after the first process has ended."""
    program = f"{PLACE}/{prefix.name}/{INSTALLED}/uninstall.exe"
    if silent:
        system.run(["wine", program, "/S"])
    else:
        system.run(["wine", program])
        _wait(lambda: bool(_windows(system, "amlwizard")))
        _key(system, "Return")
        _wait(lambda: not (prefix / INSTALLED / "amlwizard.exe").exists())
        _wait(lambda: not (prefix / INSTALLED).exists())
        _key(system, "Return")
    _wait(lambda: not (prefix / INSTALLED).exists())


def _contents(system: Wine) -> set[str]:
    """Return every file of the installation and every value of its registry, which the server writes at its end."""
    system.run(["wineserver", "-k"])
    system.run(["wineserver", "-w"])
    prefix = system.state / system.prefix
    found = {str(file.relative_to(prefix)) for file in (prefix / "drive_c").rglob("*") if not _is_temporary(file)}
    for name in ("user.reg", "system.reg"):
        found |= registry_values((prefix / name).read_text(encoding="utf-8", errors="replace"))
    system.boot()
    return found


def registry_values(text: str) -> set[str]:
    """Return the names of the keys and values in a registry file of Wine; values keep no content, which may change."""
    found, key = set(), ""
    for line in text.splitlines():
        if line.startswith("["):
            key = line[1 : line.rindex("]")]
            found.add(key)
        elif match := re.match(r'("(?:[^"\\]|\\.)*"|@)=', line):
            found.add(f"{key}: {match[1]}")
    return found


def _is_temporary(file: Path) -> bool:
    return "Temp" in file.parts or "temp" in file.parts


def _more(before: set[str], after: set[str]) -> list[str]:
    """Return what is there now and was not; what Wine notes for itself, or lacks at first, does not count."""
    own = re.compile(
        r"Software\\\\Wine|Explorer\\\\(Accent|FileExts|RecentDocs|UserAssist)|MuiCache|SessionInfo"
        r"|\\\\(Features|Products|UpgradeCodes|Components)$|windows/Installer$"  # empty; Windows always has them
        r"|^Software\\\\Classes$"  # on Windows every user has it
        r"|PendingFileRenameOperations",  # of the copy of an uninstaller, which goes at the next start of the system
        re.IGNORECASE,
    )
    return sorted(entry for entry in after - before if not own.search(entry))


@contextmanager
def _started(system: Wine, command: Sequence[str]) -> Iterator[None]:
    process = subprocess.Popen(
        system.entered(command, "/"),
        env=system.variables({}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def _wait(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.5)
    return False


def _windows(system: Wine, name: str, by: str = "--name") -> list[str]:
    return system.read(["xdotool", "search", "--onlyvisible", by, name]).split()


def _key(system: Wine, key: str) -> None:
    for window in _windows(system, "amlwizard")[-1:]:
        system.run(["xdotool", "windowfocus", window], output=subprocess.DEVNULL)
    system.run(["xdotool", "key", key], output=subprocess.DEVNULL)


def _is_running(system: Wine, program: str) -> bool:
    return f'"{program}"' in system.read(["wine", "tasklist", "/fo", "csv"]) or bool(_windows(system, "amlwizard"))


def _picture(system: Wine, table: Table, name: str) -> None:
    """Take a picture of the screen once there is something on it; one of few colours shows nothing."""
    file = f"{PLACE}/{name}.png"
    colours = 0

    def has_something() -> bool:
        nonlocal colours
        system.run(["import", "-window", "root", file])
        said = system.read(["identify", "-format", "%k", file]).strip()
        colours = int(said) if said.isdecimal() else 0
        return colours > FEW_COLOURS

    table.add(f"picture: {name}", _wait(has_something), f"{system.state / name}.png, {colours} colours")


_DETAILS = """
import ctypes, sys
api, file = ctypes.WinDLL("version"), sys.argv[1]
data = ctypes.create_string_buffer(api.GetFileVersionInfoSizeW(file, None))
api.GetFileVersionInfoW(file, 0, len(data), data)
at, size = ctypes.c_void_p(), ctypes.c_uint()
api.VerQueryValueW(data, chr(92), ctypes.byref(at), ctypes.byref(size))
high, low = ctypes.cast(at, ctypes.POINTER(ctypes.c_uint32))[2:4]
told = [f"{high >> 16}.{high & 65535}.{low >> 16}.{low & 65535}"]
for name in ("ProductName", "FileVersion", "CompanyName"):
    place = chr(92).join(("", "StringFileInfo", "040904B0", name))
    there = api.VerQueryValueW(data, place, ctypes.byref(at), ctypes.byref(size))
    told.append(ctypes.wstring_at(at) if there else "")
print("|".join(told))
"""
"""What the system itself reads as the details of a program."""
PARTS: dict[str, Callable[[Wine, Table], None]] = {
    "tests": _tests,
    "uv": _uv,
    "window": _window,
    "cases": _cases,
    "installers": _installers,
    "complete": _complete,
}
