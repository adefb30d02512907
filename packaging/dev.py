"""Everything that a developer of amlwizard runs, with the standard library alone.

    python3 packaging/dev.py run [ARGS]         amlwizard ARGS; without ARGS the wizard, or the text installation where
                                                there is no screen
    python3 packaging/dev.py test [ARGS]        pytest ARGS, in the checkout's folder
    python3 packaging/dev.py lint               ruff, mypy and the project's own checks
    python3 packaging/dev.py bench [NAMES]      the benchmarks as one table; fails on a breached limit
    python3 packaging/dev.py chaos [OPTIONS]    real runs struck at random moments; --runs N --seed S
    python3 packaging/dev.py fuzz [OPTIONS]     random input of every kind that is read; --minutes N --seed S
    python3 packaging/dev.py screenshots DIR    pictures of the window's pages
    python3 packaging/dev.py errors             write docs/errors.md anew from the catalogue
    python3 packaging/dev.py lock               compile the locks of development, packages and Ansible anew
    python3 packaging/dev.py package SYSTEM     the installers of linux, windows or macos, in dist/
    python3 packaging/dev.py windows-check      the Windows side under Wine, in a Debian of its own (as root)
    python3 packaging/dev.py package-check linux  try them in minimal Debian systems (as root); macos: look at their files
    python3 packaging/dev.py clean-root SUITE   try the commands of the README in a fresh minimal Debian (as root)
    python3 packaging/dev.py fleet-check        try the Ansible role on hosts in namespaces, without network (as root)

The first start sets up what is missing under .dev/ in the checkout; later ones go straight to the work, without network.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - this one file also has to speak where the rest cannot be read
    sys.exit(
        "amlwizard needs Python 3.11 or newer, and this is Python {}.{} ({})".format(*sys.version_info[:2], sys.executable)
    )

import os
from pathlib import Path
from typing import TYPE_CHECKING

import devenv

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = devenv.ROOT
Arguments = list[str]


def run(arguments: Arguments) -> int:
    """Start amlwizard in the caller's folder."""
    window = not arguments and _has_screen()
    python = devenv.ready("window" if window else "text")
    if not arguments and not window:
        arguments = ["install"]
        if os.name != "nt" and os.geteuid() == 0:  # the default is meant here, also without a terminal
            os.environ.setdefault("AML_ROOT", str(Path.home() / "aml"))
    # -P: a file beside the caller, such as packaging.py, must not take the place of a library
    return devenv.hand_over([str(python), "-P", "-m", "amlwizard", *arguments])


def test(arguments: Arguments) -> int:
    """Run the tests, all of them on all processors; benchmarks are not among them."""
    python = devenv.ready("test")
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    workers = str((os.cpu_count() or 1) + 1)  # many tests wait for servers and programs
    return devenv.hand_over([str(python), "-m", "pytest", *(arguments or ["-n", workers, "--dist", "worksteal"])], cwd=ROOT)


def lint(arguments: Arguments) -> int:
    """Run every static check, all of them although one fails."""
    _none_expected(arguments)
    python = str(devenv.ready("test"))
    helpers = sorted(str(file.relative_to(ROOT)) for file in (ROOT / "packaging").glob("*.py"))
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    os.environ["MYPYPATH"] = "packaging"
    checks = (
        ("ruff", "check", "."),
        ("ruff", "format", "--check", "."),
        ("mypy",),
        ("mypy", *helpers),
        ("pytest", "-q", "tests/test_project.py"),
    )
    results = [devenv.call([python, "-m", *check], cwd=ROOT) for check in checks]
    failed = [" ".join(check[:2]) for check, result in zip(checks, results, strict=True) if result]
    print(f"lint: failed: {', '.join(failed)}" if failed else "lint: all checks passed")
    return 1 if failed else 0


def bench(arguments: Arguments) -> int:
    """Run all benchmarks, or the named ones."""
    return devenv.hand_over([str(devenv.ready("test")), "-m", "tests.benchmarks", *arguments], cwd=ROOT)


def chaos(arguments: Arguments) -> int:
    """Strike real runs at random moments and prove that nothing is lost; fails on any breach."""
    return devenv.hand_over([str(devenv.ready("test")), "-m", "tests.chaos", *arguments], cwd=ROOT)


def fuzz(arguments: Arguments) -> int:
    """Try random input of every kind; fails where anything but a refusal in words comes of it."""
    return devenv.hand_over([str(devenv.ready("test")), "-m", "tests.fuzz", *arguments], cwd=ROOT)


def screenshots(arguments: Arguments) -> int:
    """Write pictures of the pages into a folder."""
    if len(arguments) != 1:
        sys.exit("usage: dev.py screenshots DIR")
    script = ROOT / "packaging" / "screenshots.py"
    return devenv.hand_over([str(devenv.ready("test")), str(script), str(Path(arguments[0]).absolute())], cwd=ROOT)


def errors(arguments: Arguments) -> int:
    """Write docs/errors.md."""
    _none_expected(arguments)
    return devenv.hand_over([str(devenv.ready("text")), str(ROOT / "packaging" / "errors_doc.py")], cwd=ROOT)


def lock(arguments: Arguments) -> int:
    """Compile the project's and the development requirements into the lock; versions in it stay where they can."""
    return devenv.compile_lock(arguments)


def package(arguments: Arguments) -> int:
    """Make the installers of one system."""
    import package as procedure

    return procedure.main(arguments)


def windows_check(arguments: Arguments) -> int:
    """Run the Windows side under Wine."""
    import windows_check as procedure

    return procedure.main(arguments)


def package_check(arguments: Arguments) -> int:
    """Try the packages of a system, as far as that can be done here."""
    import package_check as procedure

    return procedure.main(arguments)


def clean_root(arguments: Arguments) -> int:
    """Try the README's commands in a fresh minimal Debian."""
    import clean_root as procedure

    return procedure.main(arguments)


def fleet_check(arguments: Arguments) -> int:
    """Try the Ansible role on real hosts."""
    import fleet_check as procedure

    return procedure.main(arguments)


def _none_expected(arguments: Arguments) -> None:
    if arguments:
        sys.exit(f"dev.py: not understood: {' '.join(arguments)}")


def _has_screen() -> bool:
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


COMMANDS: "dict[str, Callable[[Arguments], int]]" = {
    "run": run,
    "test": test,
    "lint": lint,
    "bench": bench,
    "chaos": chaos,
    "fuzz": fuzz,
    "screenshots": screenshots,
    "errors": errors,
    "lock": lock,
    "package": package,
    "windows-check": windows_check,
    "package-check": package_check,
    "clean-root": clean_root,
    "fleet-check": fleet_check,
}


def main(argv: Arguments) -> int:
    """Run one command of ``COMMANDS``."""
    command = COMMANDS.get(argv[0]) if argv else None
    if command is None:
        print(__doc__)
        return 0 if argv and argv[0] in ("-h", "--help") else 2
    return command(argv[1:])


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except devenv.SetUpError as error:
        sys.exit(f"dev.py: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
