"""The text front end as a process and in this one, with a scripted engine behind it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from amlwizard import __version__, cli
from amlwizard.cli_options import COMMANDS, parse
from amlwizard.core.catalogue import LANGUAGES, text
from amlwizard.core.errors import RefusedError
from amlwizard.core.events import FinishedEvent, PlanEvent, PlanStep, RunState
from amlwizard.core.facts import Candidate, EnvironmentFacts
from amlwizard.findings_text import facts_lines
from amlwizard.terminal import Output, show_failure, size_sentences
from tests.support.scripted_engine import FACTS, ScriptedEngine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROJECT = Path(__file__).resolve().parent.parent
posix = pytest.mark.skipif(os.name == "nt", reason="POSIX signals and pipes")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment in which no setting of this computer counts and English is spoken."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("AML_", "LC_", "XDG_", "PIP_", "UV_"))
    }
    home = str(tmp_path / "home")
    return {
        **kept,
        "HOME": home,
        "USERPROFILE": home,
        "APPDATA": home,
        "LOCALAPPDATA": home,
        "AML_ROOT": str(tmp_path / "home" / "aml"),
        "LANG": "en_US.UTF-8",
        "PIP_CONFIG_FILE": os.devnull,
        "TERM": "xterm",
        "TMPDIR": str(tmp_path),
        "PYTHONPATH": str(PROJECT),
        "PYTHONWARNINGS": "error",
    }


Run = "Callable[..., subprocess.CompletedProcess[str]]"


@pytest.fixture
def run(environment: dict[str, str], tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run one command line as a process, with the scripted engine."""

    def run_command_line(script: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "tests.support.scripted_engine", script, *arguments],
            env={**environment, **variables},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=60,
        )

    return run_command_line


@pytest.fixture
def started(environment: dict[str, str], tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start one command line as a process that the test goes on with."""
    processes: list[subprocess.Popen[str]] = []

    def start(script: str, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.scripted_engine", script, *arguments],
            env=environment,
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.communicate()


def events(stdout: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stdout.splitlines()]


class TestWrongUsage:
    @pytest.mark.parametrize(
        ("arguments", "code"),
        [
            (["bogus"], "AML_USAGE_COMMAND"),
            (["bundle"], "AML_USAGE_SECOND_WORD"),
            (["bundle", "--json"], "AML_USAGE_SECOND_WORD"),
            (["bundle", "bogus"], "AML_USAGE_COMMAND"),
            (["-x"], "AML_USAGE_ARGUMENT"),
            (["gui", "--root"], "AML_USAGE_VALUE_MISSING"),
            (["gui", "--", "x"], "AML_USAGE_ARGUMENT"),
            (["gui", "--requirements", "x"], "AML_USAGE_ARGUMENT"),
            (["--root", "/x", "install"], "AML_USAGE_ARGUMENT"),
            (["install", "--bogus"], "AML_USAGE_ARGUMENT"),
            (["install", "--offlin"], "AML_USAGE_ARGUMENT"),
            (["install", "stray"], "AML_USAGE_ARGUMENT"),
            (["install", "--", "stray"], "AML_USAGE_ARGUMENT"),
            (["verify", "--refresh"], "AML_USAGE_ARGUMENT"),
            (["verify", "--offline"], "AML_USAGE_ARGUMENT"),
            (["install", "--root"], "AML_USAGE_VALUE_MISSING"),
            (["install", "--root", "--json"], "AML_USAGE_VALUE_MISSING"),
            (["install", "--root="], "AML_USAGE_VALUE_MISSING"),
            (["install", "--find-links", ""], "AML_USAGE_VALUE_MISSING"),
            (["install", "--json=yes"], "AML_USAGE_VALUE_UNWANTED"),
            (["install", "--uv-method", "magic"], "AML_USAGE_CHOICE"),
            (["run"], "AML_USAGE_SCRIPT_MISSING"),
            (["run", "--"], "AML_USAGE_SCRIPT_MISSING"),
            (["run", "train.py"], "AML_USAGE_SCRIPT_PLACE"),
            (["run", "--sample", "--", "train.py"], "AML_USAGE_TOGETHER"),
            (["run", "--print-env", "--", "train.py"], "AML_USAGE_TOGETHER"),
            (["run", "--sample", "--print-env"], "AML_USAGE_TOGETHER"),
            (["rebuild", "--keep-added", "--drop-added"], "AML_USAGE_TOGETHER"),
            (["repair", "--drop-added"], "AML_USAGE_ARGUMENT"),
            (["run", "--json", "--sample"], "AML_USAGE_RUN_JSON"),
            (["run", "--env", "TOKEN=hunter2", "--sample"], "AML_USAGE_ENV_NAME"),
        ],
    )
    def test_is_refused_by_code(self, arguments: list[str], code: str) -> None:
        with pytest.raises(RefusedError) as caught:
            parse(arguments)
        assert caught.value.code == code
        for language in LANGUAGES:
            for part in ("message", "hint"):
                assert "{" not in text(f"{code}.{part}", language, **caught.value.arguments)

    def test_value_of_a_variable_is_not_repeated(self) -> None:
        with pytest.raises(RefusedError) as caught:
            parse(["run", "--env", "TOKEN=hunter2", "--sample"])
        assert "hunter2" not in str(caught.value)

    def test_is_a_sentence_on_stderr_and_exit_2(self, run: Run) -> None:
        result = run("ready", "install", "--root")
        assert result.returncode == 2
        assert result.stdout == ""
        assert result.stderr.startswith("--root needs a value: --root DIR. (AML_USAGE_VALUE_MISSING)\n")

    def test_is_an_event_too_with_json(self, run: Run) -> None:
        result = run("ready", "bogus", "--json")
        assert result.returncode == 2
        (event,) = events(result.stdout)
        assert (event["event"], event["state"], event["code"]) == ("finished", "refused", "AML_USAGE_COMMAND")
        assert event["message"] in result.stderr

    def test_json_behind_the_dashes_belongs_to_the_script(self, run: Run) -> None:
        result = run("ready", "run", "--bogus", "--", "train.py", "--json")
        assert (result.returncode, result.stdout) == (2, "")


class TestParsing:
    def test_keeps_what_was_given_and_nothing_else(self) -> None:
        line = "rebuild --root /w --refresh --find-links a --find-links b --uv-method pip-target --python=3.12 --offline"
        assert parse(line.split()).values == {
            "root": "/w",
            "refresh": True,
            "find_links": ["a", "b"],
            "uv_method": "pip-target",
            "python": "3.12",
            "offline": True,
        }

    def test_script_keeps_its_own_options(self) -> None:
        invocation = parse(["run", "--env", "A", "--env", "B", "--", "train.py", "--root", "x", "--", "--help"])
        assert invocation.values == {"env": ["A", "B"]}
        assert invocation.script == ("train.py", "--root", "x", "--", "--help")
        assert not invocation.help

    def test_without_arguments_the_window_is_meant(self) -> None:
        assert parse([]).command == "gui"
        assert parse(["--no-gui"]).no_gui
        assert parse(["gui", "--no-gui"]).no_gui
        for line in (["gui", "--root", "/x"], ["--root", "/x"], ["--root=/x"], ["gui", "--no-gui", "--root", "/x"]):
            invocation = parse(line)
            assert (invocation.command, invocation.values) == ("gui", {"root": "/x"})
            assert invocation.no_gui == ("--no-gui" in line)
        assert parse(["a.amlbundle", "--root", "/x"]).values == {"bundle": "a.amlbundle", "root": "/x"}


class TestReadme:
    def test_names_no_option_that_there_is_not(self) -> None:
        readme = (PROJECT / "README.md").read_text(encoding="utf-8")
        section = readme.partition("## The command line")[2].partition("\n## ")[0]
        known = {option.name for options in COMMANDS.values() for option in options} | {"--help", "--epochs"}
        assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", section)) <= known

    def test_says_truly_which_commands_have_root_and_json(self) -> None:
        for command, options in COMMANDS.items():
            names = {option.name for option in options}
            assert "--json" in names or command == "gui"
            assert "--root" in names or command == "bundle inspect"


class TestHelp:
    @pytest.mark.parametrize("language", LANGUAGES)
    @pytest.mark.parametrize("command", ["", *COMMANDS])
    def test_names_every_option(self, command: str, language: str) -> None:
        from amlwizard.cli_help import help_lines

        lines = help_lines(command, language)
        for name in COMMANDS if not command else [option.name for option in COMMANDS[command]]:
            assert any(line.startswith(f"  {name} ") for line in lines), name
        assert max(map(len, lines)) <= 124

    def test_is_a_result(self, run: Run) -> None:
        result = run("ready", "install", "-h")
        assert (result.returncode, result.stderr) == (0, "")
        assert "--python-downloads-json URL" in result.stdout

    @pytest.mark.linux
    def test_speaks_the_language_of_the_settings(self, run: Run, tmp_path: Path) -> None:
        file = tmp_path / "home" / ".config" / "amlwizard" / "settings.json"
        file.parent.mkdir(parents=True)
        file.write_text('{"language": "zh_CN"}', encoding="utf-8")
        assert "重建环境" in run("ready", "--help", LC_ALL="en_US.UTF-8").stdout
        file.write_text('{"language": "en"}', encoding="utf-8")
        assert "重建环境" not in run("ready", "--help", LC_ALL="zh_CN.UTF-8").stdout

    @pytest.mark.linux
    @pytest.mark.parametrize("command", ["detect", "plan", "install", "rebuild", "verify"])
    def test_settings_that_cannot_be_read_are_refused(self, run: Run, tmp_path: Path, command: str) -> None:
        file = tmp_path / "home" / ".config" / "amlwizard" / "settings.json"
        file.parent.mkdir(parents=True)
        file.write_text("{", encoding="utf-8")
        result = run("ready", command)
        assert (result.returncode, result.stdout) == (2, "")
        assert result.stderr.startswith(f"The settings file {file} cannot be read: It is no JSON (line 1, column 2).")

    def test_speaks_chinese(self, run: Run) -> None:
        result = run("ready", "--help", LC_ALL="zh_CN.UTF-8")
        assert "重建环境" in result.stdout

    def test_version(self, run: Run) -> None:
        assert run("ready", "--version").stdout == f"amlwizard {__version__}\n"


class TestInstall:
    def test_json_prints_events_alone(self, run: Run) -> None:
        result = run("done", "install", "--json")
        assert (result.returncode, result.stderr) == (0, "")
        found = events(result.stdout)
        assert [event["event"] for event in found[:2]] == ["plan", "step"]
        assert {"event": "step", "id": "resolve", "state": "done", "seconds": 0.9} in found
        assert found[-1]["event"] == "finished"
        assert found[-1]["state"] == "done"
        assert result.stdout.isascii()

    def test_text_is_one_line_for_each_step(self, run: Run) -> None:
        result = run("done", "install")
        assert result.returncode == 0
        assert result.stderr.splitlines() == [
            "147 MB will be downloaded. 900 MB of disk space will be needed at the peak.",
            "  – uv              not needed",
            "  ✓ Packages        done       0.9 s",
            "  ✓ Download        done       1 min 05 s",
        ]
        assert result.stdout.splitlines() == [
            "The end.",
            "  Python    /ws/.venv/bin/python",
            "  Packages  106",
            "  Time      1.5 s",
        ]

    @pytest.mark.parametrize(
        ("state", "code"),
        [("ready", 0), ("done", 0), ("failed", 1), ("refused", 2), ("not_ready", 3), ("busy", 4), ("cancelled", 130)],
    )
    @pytest.mark.parametrize("command", ["install", "rebuild", "verify"])
    def test_exit_code_is_that_of_the_state(
        self, state: str, code: int, command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr(cli, "build_engine", lambda _language: ScriptedEngine(state))
        assert cli.main([command, "--root", str(tmp_path / "w")]) == code

    def test_failure_shows_message_code_last_lines_and_hint_on_stderr(self, run: Run) -> None:
        result = run("failed", "install")
        assert (result.returncode, result.stdout) == (1, "")
        assert result.stderr.splitlines()[-3:] == ["The end. (AML_TEST)", "  | last words", "What to do."]

    def test_choices_reach_the_engine(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        engine = ScriptedEngine("ready")
        monkeypatch.setattr(cli, "build_engine", lambda _language: engine)
        links = tmp_path / "links"
        links.mkdir()
        monkeypatch.chdir(tmp_path)
        arguments = [
            "install",
            "--root",
            "w",
            "--profile",
            "minimal",
            "--find-links",
            str(links),
            "--offline",
            "--drop-added",
        ]
        extra = ["--extra-index-url", "https://index.example.org/a", "--extra-index-url", "https://index.example.org/b"]
        assert cli.main([*arguments, *extra]) == 0
        choices = engine.choices
        assert choices is not None
        assert choices.root == tmp_path / "w"
        assert (choices.profile, choices.offline, len(choices.find_links)) == ("minimal", True, 1)
        assert not choices.keep_added
        assert [url.rstrip("/")[-1] for url in choices.extra_index_urls] == ["a", "b"]

    def test_unexpected_exception_becomes_a_sentence_and_a_log_file(self, run: Run, tmp_path: Path) -> None:
        result = run("crash", "install", "--json", "--root", str(tmp_path / "w"))
        assert result.returncode == 1
        (event,) = events(result.stdout)
        assert (event["state"], event["code"]) == ("failed", "AML_INTERNAL")
        assert "Traceback" not in result.stderr
        (log,) = tmp_path.glob("crash-*.log")
        assert str(log) in event["hint"]
        content = log.read_text(encoding="utf-8")
        assert "ZeroDivisionError" in content
        assert "hunter2" not in content + result.stdout + result.stderr
        assert not (tmp_path / "w").exists()

    def test_log_file_of_an_unexpected_exception_lies_in_the_workspace(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "w" / "runtime").mkdir(parents=True)
        assert run("crash", "install", "--root", str(tmp_path / "w")).returncode == 1
        assert len(list((tmp_path / "w" / "runtime" / "logs").glob("crash-*.log"))) == 1


class TestLooking:
    def test_detect_lists_every_candidate(self, run: Run) -> None:
        result = run("ready", "detect")
        assert (result.returncode, result.stderr) == (0, "")
        words = [re.split(r" {2,}", line.strip()) for line in result.stdout.splitlines()]
        assert ["uv", "0.13.9", "yes", "PATH", "/usr/bin/uv"] in words
        assert ["Python", "3.12.1", "yes", "usual place", "/opt/python3.12"] in words
        assert ["Python", "-", "no", "PATH", "/usr/bin/python2"] in words
        assert ["Python", "none of those found is taken; one will be set up"] in words
        assert ["Environment", "not set up yet."] in words

    def test_what_is_listed_as_usable_is_not_called_not_found(self) -> None:
        bundled = Candidate("uv", Path("/opt/amlwizard/uv"), "bundled", "0.13.9", usable=True)
        for candidates, words in (
            ((bundled,), "none of those found is taken; one will be set up"),
            ((replace(bundled, usable=False),), "none found; one will be set up"),
            ((), "none found; one will be set up"),
        ):
            lines = facts_lines(replace(FACTS, candidates=candidates, uv=None), Path("/ws"), "en")
            assert re.split(r" {2,}", lines[2]) == ["uv", words]

    def test_detect_calls_a_newer_environment_by_one_name(self) -> None:
        newer = EnvironmentFacts("foreign", "environment.newer", {"path": "/ws/.venv/.aml-ok-1"})
        lines = facts_lines(replace(FACTS, environment=newer), Path("/ws"), "en")
        place = next(number for number, line in enumerate(lines) if "newer amlwizard" in line)
        assert re.split(r" {2,}", lines[place])[1] == "/ws/.venv/.aml-ok-1 was written by a newer amlwizard."
        assert lines[place + 1].strip() == "Install the newest amlwizard."

    def test_detect_json(self, run: Run) -> None:
        (event,) = events(run("ready", "detect", "--json").stdout)
        assert event["event"] == "detected"

    def test_plan_speaks_in_sentences(self, run: Run, tmp_path: Path) -> None:
        result = run("done", "plan", "--root", str(tmp_path / "w"))
        assert (result.returncode, result.stderr) == (0, "")
        assert result.stdout.splitlines() == [
            f"To be done in {tmp_path / 'w'}: uv, Packages, Download.",
            "147 MB will be downloaded.",
            "900 MB of disk space will be needed at the peak.",
            "Servers that will be contacted: files.example.org.",
            "Will be written:",
            "  /ws/.venv",
            "Will be replaced:",
            "  /ws/old",
        ]

    @pytest.mark.parametrize(
        ("step", "download", "disk", "said"),
        [
            ("resolve", None, None, ["How much is to be downloaded is known once the packages have been chosen."]),
            ("fetch", None, None, ["It is not known yet how much is to be downloaded."]),
            ("build", 0, 0, ["Nothing needs to be downloaded."]),
            (
                "build",
                0,
                2_000_000,
                [
                    "Nothing needs to be downloaded.",
                    "2.0 MB of disk space will be needed at the peak.",
                ],
            ),
        ],
    )
    def test_plan_says_of_sizes_what_can_be_said(
        self, step: str, download: int | None, disk: int | None, said: list[str]
    ) -> None:
        plan = PlanEvent((PlanStep(step, step),), download, disk, (), (), ())
        assert size_sentences(plan, "en") == said

    def test_plan_of_a_ready_workspace(self, run: Run) -> None:
        assert "There is nothing to do" in run("ready", "plan").stdout

    def test_plan_json_is_the_event(self, run: Run) -> None:
        (event,) = events(run("done", "plan", "--json").stdout)
        assert (event["event"], event["download_bytes"]) == ("plan", 147_000_000)

    @pytest.mark.parametrize("command", ["detect", "plan"])
    @pytest.mark.parametrize(("script", "code", "state"), [("refuse", 2, "refused"), ("fail", 1, "failed")])
    def test_refusal_is_told_by_text_and_event(self, run: Run, command: str, script: str, code: int, state: str) -> None:
        result = run(script, command, "--json")
        assert result.returncode == code
        (event,) = events(result.stdout)
        assert (event["event"], event["state"]) == ("finished", state)
        assert run(script, command).stdout == ""

    def test_the_code_stands_behind_the_first_line_of_a_message(self, capsys: pytest.CaptureFixture[str]) -> None:
        show_failure(Output(), FinishedEvent(RunState.REFUSED, "AML_X", "Line 1 is bad.\nLine 2 is bad.", "Mend them."))
        assert capsys.readouterr().err.splitlines() == ["Line 1 is bad. (AML_X)", "Line 2 is bad.", "Mend them."]


class TestWindow:
    def test_no_gui_says_what_to_type(self, run: Run) -> None:
        result = run("ready", "--no-gui")
        assert (result.returncode, result.stdout) == (2, "")
        assert "amlwizard install" in result.stderr

    @pytest.mark.parametrize(
        ("platform", "variables", "screen"),
        [
            ("linux", {}, False),
            ("linux", {"DISPLAY": ""}, False),
            ("linux", {"DISPLAY": ":0"}, True),
            ("linux", {"WAYLAND_DISPLAY": "wayland-0"}, True),
            ("linux", {"QT_QPA_PLATFORM": "offscreen"}, True),
            ("win32", {}, True),
            ("darwin", {}, True),
        ],
    )
    def test_knows_whether_there_is_a_screen(self, platform: str, variables: dict[str, str], screen: bool) -> None:
        assert cli.has_screen(platform, variables) is screen

    def test_missing_screen_is_told(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.setattr(cli, "has_screen", lambda _platform, _environ: False)
        assert cli.main([]) == 2
        assert "AML_NO_SCREEN" in capsys.readouterr().err

    def test_missing_qt_is_told(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.setattr(cli, "has_screen", lambda _platform, _environ: True)
        monkeypatch.setattr(cli, "load_window", _raise_import_error)
        assert cli.main(["gui"]) == 2
        assert "libEGL.so.1" in capsys.readouterr().err


def _raise_import_error() -> None:
    raise ImportError("libEGL.so.1: cannot open shared object file", name="PySide6.QtGui")


@posix
class TestStopping:
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP] if os.name == "posix" else [])
    def test_signal_cancels_properly(self, started: Callable[..., subprocess.Popen[str]], number: int) -> None:
        process = started("wait", "install", "--json")
        self._await_waiting(process)
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=30)
        assert process.returncode == 130
        assert events(stdout)[-1]["code"] == "AML_TEST_CANCELLED"
        assert "Traceback" not in stderr

    def test_more_signals_do_no_harm(self, started: Callable[..., subprocess.Popen[str]]) -> None:
        process = started("wait", "install", "--json")
        self._await_waiting(process)
        assert process.stderr is not None
        process.send_signal(signal.SIGINT)
        assert process.stderr.readline() == "Stopping...\n"
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGINT):
            process.send_signal(number)
        stdout, stderr = process.communicate(timeout=30)
        assert process.returncode == 130
        assert events(stdout)[-1]["message"] == "All children are stopped."
        assert stderr == "All children are stopped.\nWhat to do.\n"

    def test_signals_up_to_the_very_end_do_not_change_the_exit_code(
        self, started: Callable[..., subprocess.Popen[str]]
    ) -> None:
        for _ in range(5):
            process = started("wait", "install", "--json")
            self._await_waiting(process)
            while process.poll() is None:
                process.send_signal(signal.SIGTERM)
                time.sleep(0.0005)
            process.communicate()
            assert process.returncode == 130

    def test_ignored_signal_stays_ignored(self, environment: dict[str, str], tmp_path: Path) -> None:
        command = [sys.executable, "-m", "tests.support.scripted_engine", "wait", "install", "--json"]
        process = subprocess.Popen(
            ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *command],
            env=environment,
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            self._await_waiting(process)
            process.send_signal(signal.SIGHUP)
            process.send_signal(signal.SIGTERM)
            _, stderr = process.communicate(timeout=30)
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate()
        assert process.returncode == 130
        assert stderr.count("Stopping...") == 1

    def test_cancelled_detection_ends_with_the_event(self, started: Callable[..., subprocess.Popen[str]]) -> None:
        process = started("wait", "detect", "--json")
        self._await_waiting(process)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=30)
        assert process.returncode == 130
        (event,) = events(stdout)
        assert (event["state"], event["code"]) == ("cancelled", "AML_CANCELLED")
        assert "Traceback" not in stderr

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP] if os.name == "posix" else [])
    @pytest.mark.parametrize("module", ["amlwizard.core", "amlwizard.interrupts", "amlwizard.cli", "json"])
    def test_signal_during_an_import_of_the_start_is_quiet(
        self, environment: dict[str, str], tmp_path: Path, module: str, number: int
    ) -> None:
        assert self._stopped_at_import(environment, tmp_path, module, number) == (130, "")

    def test_ctrl_c_before_the_signals_are_in_hand_is_quiet(self, environment: dict[str, str], tmp_path: Path) -> None:
        assert self._stopped_at_import(environment, tmp_path, "amlwizard.stop_signals", signal.SIGINT) == (130, "")

    @staticmethod
    def _stopped_at_import(environment: dict[str, str], folder: Path, module: str, number: int) -> tuple[int, str]:
        """Run ``python -m amlwizard``, to which a signal comes when it begins to import a module."""
        program = (
            "import os, runpy, sys\n"
            "class Finder:\n"
            "    def find_spec(self, name, path=None, target=None):\n"
            f"        if name == {module!r}:\n"
            f"            os.kill(os.getpid(), {int(number)})\n"
            "sys.meta_path.insert(0, Finder())\n"
            "sys.argv[1:] = ['--version']\n"
            "runpy.run_module('amlwizard', run_name='__main__')\n"
        )
        command = [sys.executable, "-c", program]
        result = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=60)
        assert result.stdout == ""
        return result.returncode, result.stderr

    def test_signal_at_any_time_of_the_start_is_quiet(self, started: Callable[..., subprocess.Popen[str]]) -> None:
        outcomes = set()
        for step in range(8):
            process = started("done", "install", "--json")
            try:
                process.wait(timeout=0.03 + step * 0.02)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGTERM)
            _, stderr = process.communicate(timeout=30)
            outcomes.add(process.returncode)
            assert "Traceback" not in stderr
        assert outcomes <= {0, 130, -signal.SIGTERM}  # the last one: before the first line of ours ran

    def test_reader_that_goes_away_cancels_in_silence(self, started: Callable[..., subprocess.Popen[str]]) -> None:
        process = started("talk", "install", "--json")
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        process.stdout = None
        assert process.stderr.read() == ""
        assert process.wait(timeout=30) == cli.NO_READER

    @pytest.mark.parametrize("arguments", [["detect"], ["detect", "--json"], ["plan"], ["--help"], ["--version"]])
    def test_reader_that_has_gone_ends_a_look_in_silence(
        self, environment: dict[str, str], tmp_path: Path, arguments: list[str]
    ) -> None:
        read_end, write_end = os.pipe()
        os.close(read_end)
        command = [sys.executable, "-m", "tests.support.scripted_engine", "done", *arguments]
        try:
            result = subprocess.run(
                command, env=environment, cwd=tmp_path, stdout=write_end, stderr=subprocess.PIPE, timeout=60
            )
        finally:
            os.close(write_end)
        assert (result.returncode, result.stderr) == (cli.NO_READER, b"")

    @pytest.mark.linux
    @pytest.mark.parametrize("arguments", [["detect"], ["plan", "--json"], ["--help"], ["install"], ["install", "--json"]])
    def test_output_that_cannot_be_written_is_told(
        self, environment: dict[str, str], tmp_path: Path, arguments: list[str]
    ) -> None:
        command = [sys.executable, "-m", "tests.support.scripted_engine", "done", *arguments]
        with Path("/dev/full").open("wb") as full:
            result = subprocess.run(
                command, env=environment, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
            )
        assert result.returncode == 1
        told = result.stderr.splitlines()
        assert told[-2] == "The result cannot be written to standard output: No space left on device. (AML_OUTPUT)"
        assert ("Stopping..." in told) is (arguments == ["install", "--json"])

    def test_reader_of_errors_that_goes_away_changes_nothing(self, environment: dict[str, str], tmp_path: Path) -> None:
        read_end, write_end = os.pipe()
        os.close(read_end)
        command = [sys.executable, "-m", "tests.support.scripted_engine", "done", "install"]
        try:
            result = subprocess.run(
                command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, stderr=write_end, timeout=30
            )
        finally:
            os.close(write_end)
        assert result.returncode == 0
        assert result.stdout.startswith(b"The end.")

    def test_closed_streams_are_survived(self, environment: dict[str, str], tmp_path: Path) -> None:
        command = [sys.executable, "-m", "tests.support.scripted_engine", "done", "install"]
        result = subprocess.run(["sh", "-c", '"$@" >&- 2>&-', "sh", *command], env=environment, cwd=tmp_path, timeout=30)
        assert result.returncode == 0

    @staticmethod
    def _await_waiting(process: subprocess.Popen[str]) -> None:
        assert process.stderr is not None
        while (line := process.stderr.readline()) != "waiting\n":
            assert line


@posix
class TestTerminal:
    def test_line_that_moves_shows_bytes_speed_and_time_left(self, environment: dict[str, str], tmp_path: Path) -> None:
        code, shown = self._run_in_terminal({**environment, "COLUMNS": "100"}, tmp_path, "done", "install")
        assert code == 0
        moving = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
        assert re.search(r"Downloading scipy: \d+ of 100 MB in all, a few seconds left [━╺╸]+ 11 MB/s", moving)
        assert "Choosing package versions" in moving
        assert "$ uv pip compile" not in moving
        lines = moving.splitlines()
        for line in ("  – uv              not needed", "  ✓ Download        done       1 min 05 s", "The end."):
            assert line in lines
        assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h") == 2  # the cursor came back after each step

    def test_cancel_puts_the_terminal_right(self, environment: dict[str, str], tmp_path: Path) -> None:
        code, shown = self._run_in_terminal(environment, tmp_path, "wait", "install", stop_at="waiting")
        assert code == 130
        assert "Stopping..." in shown
        assert "All children are stopped." in shown
        assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h")
        assert "Traceback" not in shown

    def test_dumb_terminal_gets_plain_lines(self, environment: dict[str, str], tmp_path: Path) -> None:
        code, shown = self._run_in_terminal({**environment, "TERM": "dumb"}, tmp_path, "done", "install")
        assert code == 0
        assert "\x1b" not in shown

    @staticmethod
    def _run_in_terminal(
        environment: dict[str, str], folder: Path, script: str, command: str, stop_at: str | None = None
    ) -> tuple[int, str]:
        """Run in a terminal of its own; type Ctrl+C when a word appears. Return the exit code and what was shown."""
        import pty

        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(folder)
            arguments = [sys.executable, "-m", "tests.support.scripted_engine", script, command]
            os.execve(sys.executable, arguments, environment)
        shown = b""
        try:
            while True:
                try:
                    part = os.read(terminal, 65536)
                except OSError:  # Linux says so when the last process has left the terminal
                    break
                if not part:
                    break
                shown += part
                if stop_at is not None and stop_at.encode() in shown:
                    os.write(terminal, b"\x03")
                    stop_at = None
        finally:
            os.close(terminal)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode()


class TestStreams:
    @pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
    def test_narrow_encoding_is_no_obstacle(self, run: Run, encoding: str) -> None:
        result = run("failed", "install", LC_ALL="zh_CN.UTF-8", PYTHONIOENCODING=encoding)
        assert result.returncode == 1
        assert "\\u" in result.stderr
        assert "  x " not in result.stderr
        assert "Traceback" not in result.stderr

    def test_plain_locale(self, run: Run) -> None:
        result = run("done", "install", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
        assert result.returncode == 0
        assert "  + Packages        done" in result.stderr


class TestWithoutQt:
    """A Python whose only libraries are links to those of this one, except for Qt's."""

    @pytest.fixture
    def libraries(self, tmp_path: Path) -> Path:
        folder = tmp_path / "libraries"
        folder.mkdir()
        for place in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")):
            for entry in Path(place).iterdir():
                link = folder / entry.name
                if not link.exists() and not entry.name.lower().startswith(
                    ("pyside6", "shiboken6", "qasync", "__pycache__")
                ):
                    link.symlink_to(entry)
        return folder

    @pytest.mark.parametrize(
        ("arguments", "code"),
        [
            (["--version"], 0),
            (["--help"], 0),
            (["--no-gui"], 2),
            (["gui"], 2),
            (["detect"], 0),
            (["plan", "--json"], 0),
            (["install"], 0),
            (["run", "--", "absent.py"], 125),
        ],
    )
    def test_text_mode_works(
        self, environment: dict[str, str], tmp_path: Path, libraries: Path, arguments: list[str], code: int
    ) -> None:
        variables = {**environment, "PYTHONPATH": os.pathsep.join([str(PROJECT), str(libraries)])}
        variables["QT_QPA_PLATFORM"] = "offscreen"  # there is a screen, so that the library alone is missing
        variables.pop("PYTHONWARNINGS")
        without_qt = [sys.executable, "-S"]  # -S: no site-packages but those links
        probe = subprocess.run([*without_qt, "-c", "import PySide6"], env=variables, capture_output=True, timeout=60)
        assert b"ModuleNotFoundError" in probe.stderr
        command = [*without_qt, "-m", "tests.support.scripted_engine", "done", *arguments]
        result = subprocess.run(command, env=variables, cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert result.returncode == code, result.stderr
        assert "Traceback" not in result.stderr
        assert ("AML_NO_QT" in result.stderr) is (arguments == ["gui"])

    def test_text_mode_imports_neither_qt_nor_what_is_slow(self, environment: dict[str, str], tmp_path: Path) -> None:
        program = (
            "import sys\n"
            "from tests.support.scripted_engine import ScriptedEngine\n"
            "from amlwizard import cli\n"
            "cli.build_engine = lambda language: ScriptedEngine('ready')\n"
            "for line in (['--version'], ['install'], ['detect', '--json'], ['plan', '--json'], ['--no-gui']):\n"
            "    cli.main(line)\n"
            "print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)\n"
        )
        result = subprocess.run(
            [sys.executable, "-c", program], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60
        )
        assert result.returncode == 0, result.stderr
        loaded = set(result.stderr.splitlines()[-1].split())
        assert "asyncio" in loaded
        assert not loaded & {"PySide6", "shiboken6", "qasync", "rich", "urllib3"}
