"""The report for the help desk, from whatever state a computer and a workspace are in."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import zipfile
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from amlwizard.core.detection.probing import PROBE_SECONDS
from amlwizard.core.paths import Workspace
from amlwizard.core.workspace_lock import hold_run, hold_use
from tests.e2e.conftest import REPOSITORY
from tests.support import hurried
from tests.support.namespaces import SmallFileSystem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.e2e.conftest import Computer, Result
    from tests.support.namespaces import Circumstances

pytestmark = pytest.mark.e2e

PARTS = {"report.txt", "parts.json", "detect.json", "settings.json", "computer.json", "variables.json"}


class Report:
    """A report that was made."""

    def __init__(self, path: Path) -> None:
        with zipfile.ZipFile(path) as archive:
            self.entries = {name: archive.read(name) for name in archive.namelist()}
        self.text = self.entries["report.txt"].decode("utf-8")

    def json(self, name: str) -> Any:
        """The values of a part."""
        return json.loads(self.entries[name])

    def line(self, label: str) -> str:
        """The first line on a subject."""
        lines = (line.strip().partition(". ") for line in self.text.splitlines())
        return next(rest.removeprefix(f"{label}: ") for number, _, rest in lines if rest.startswith(f"{label}: "))

    def failed(self) -> set[str]:
        """The parts that failed."""
        return {part["part"] for part in self.json("parts.json") if part["state"] == "failed"}


def state_of(folder: Path) -> dict[str, tuple[Any, ...]]:
    """Everything in a folder: kind, mode, content and time."""
    found: dict[str, tuple[Any, ...]] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content: str | None = None
        if path.is_symlink():
            content = str(path.readlink())
        elif path.is_file():
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        found[str(path.relative_to(folder))] = (status.st_mode, status.st_mtime_ns, content)
    return found


def diagnose(computer: Computer, prefix: Sequence[str] = (), name: str = "report.zip") -> Report:
    """Make a report, in which nothing of the workspace may be changed."""
    out = computer.folder / name
    before = state_of(computer.root)
    result = computer.run("diagnose", "--out", out, prefix=prefix)
    assert (result.code, result.finished["code"]) == (0, "AML_DIAGNOSED"), (result.finished, result.stderr)
    assert result.finished["path"] == str(out)
    assert state_of(computer.root) == before
    assert out.stat().st_size < 1_000_000
    return Report(out)


def test_tells_a_ready_workspace_and_changes_nothing(installed: Computer) -> None:
    report = diagnose(installed)
    assert not PARTS - set(report.entries)
    assert report.failed() == set()
    assert report.line("Environment").startswith("ready.")
    assert report.line("Last run").startswith("install of 20")
    assert ": ready, AML_READY. " in report.line("Last run")
    assert report.line("In use by") == "nobody"
    assert report.line("uv").startswith(report.json("detect.json")["uv"]["version"])
    assert " free; on it: " in report.line("Disk")
    assert report.line("Setting").startswith("indexUrl = http://127.0.0.1")
    assert "What to do: " not in report.text
    assert report.json("records.json")["receipt"]["created"]
    assert report.json("store.json")["complete"] is True
    assert any(name.startswith("logs/") for name in report.entries)
    assert b"tinyb" in report.entries["locks/pylock.toml"]
    # every host is reached, and nothing fetched but the beginning of a page, which says where files come from
    assert {each.path.split("/")[1] for each in installed.index.requests() if each.method != "HEAD"} <= {"simple"}
    assert report.line("Host") == f"127.0.0.1:{installed.index.port} (reached directly): It answers."
    assert b"Result: It answers." in report.entries["network.txt"]
    numbers = [line.split(".")[0].strip() for line in report.text.splitlines()[2:] if line[:3].strip()[:1].isdigit()]
    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]


def test_tells_what_is_out_of_date_and_what_was_added_by_hand(installed: Computer) -> None:
    installed.requirements("tinyb\ntinya==1.0\n")
    report = diagnose(installed)
    assert report.line("Environment").startswith("out of date.")
    assert report.line("What to do") == "Run amlwizard install."
    (site,) = installed.root.glob(".venv/lib/python*/site-packages")
    (site / "byhand-1.0.dist-info").mkdir()
    (site / "byhand-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: byhand\nVersion: 1.0\n")
    assert "byhand 1.0" in diagnose(installed, name="second.zip").text


def test_the_users_own_sentence_stands_beside_the_english_one(computer: Computer) -> None:
    computer.extra["LANG"] = "zh_CN.UTF-8"
    failed = computer.run("install", "--requirements", computer.requirements("absent-package\n"))
    assert failed.code == 1
    report = diagnose(computer)
    lines = report.text.splitlines()
    place = next(number for number, line in enumerate(lines) if ". Last error (上次错误): " in line)
    assert f"failed, {failed.finished['code']}. " in lines[place]
    assert lines[place].partition(": ")[2].isascii()
    assert failed.finished["message"].splitlines()[0] in lines[place + 1]


SECRETS = {
    "index": "ix-of-Index-1",
    "extra": "xtra-of-Extra-2",
    "proxy": "prx-of-Proxy-3",
    "pip": "pp-of-pipConf-4",
    "uv": "uu-of-uvToml-5",
    "netrc": "nn of netRc 6",
    "token": "tk-of-Token-7",
    "requirements": "rq-of-Requirements-8",
    "settings": "st-of-Settings-9",
    "short": "sh0rt",
    "lock": "lk-of-Lock-10",
    "journal": "jn-of-Journal-11",
    "run": "rn-of-Run-12",
    "log": "lg-of-Log-13",
    "crash": "cr-of-Crash-14",
    "unnamed": "Zk83Zk83Zk83Zk83Zk83",
    "query": "qy-of-Query-15",
    "path": "ph000000000000000016",
}
"""None is a part of another, so that each has to be known or recognised by itself."""


def _basic(secret: str) -> str:
    return b64encode(f"bob:{secret}".encode()).decode()


def _plant(computer: Computer) -> None:
    """Put a secret into every place that a report reads, or that the run knows."""
    home = Path(computer.environ["HOME"])
    workspace = Workspace(computer.root)
    config = home / ".config"
    for name in ("pip", "uv", "amlwizard"):
        (config / name).mkdir(parents=True)
    host = "index.example.org"
    (config / "pip" / "pip.conf").write_text(f"[global]\nextra-index-url = https://bob:{SECRETS['pip']}@{host}/pip\n")
    (config / "uv" / "uv.toml").write_text(f'[[index]]\nname = "x"\nurl = "https://bob:{SECRETS["uv"]}@{host}/uv"\n')
    (home / ".netrc").write_text(f'machine {host} login bob password "{SECRETS["netrc"]}"\n')
    settings = {"proxy": f"http://bob:{SECRETS['settings']}@proxy.example.org", "password": SECRETS["settings"]}
    settings["findLinks"] = [f"https://{host}/links?token={SECRETS['query']}", f"https://{host}/{SECRETS['path']}/simple"]
    (config / "amlwizard" / "settings.json").write_text(json.dumps(settings))
    requirements = computer.folder / "requirements.txt"
    requirements.write_text(f"--extra-index-url https://bob:{SECRETS['requirements']}@{host}/simple\ntinyb\n")
    everywhere = "\n".join(
        [
            *(f"2026-01-01T10:00:00Z resolve: bare {secret} here" for name, secret in SECRETS.items() if name in BARE),
            f"GET https://bob:{SECRETS['log']}@{host}/simple/x?sig={SECRETS['log']}",
            f"Authorization: Basic {_basic(SECRETS['index'])} and then {_basic(SECRETS['extra'])}",
            f"see {SECRETS['netrc'].replace(' ', '%20')} and https://{host}/{SECRETS['path']}/simple",
            f"2026-01-01T10:00:00Z failed AML_NET_REFUSED https://bob:{SECRETS['log']}@{host} refused",
        ]
    )
    workspace.logs.mkdir(parents=True, exist_ok=True)
    (workspace.logs / "20990101T000000Z-install-7.log").write_text(everywhere)
    (workspace.logs / "crash-20990101T000000Z-7.log").write_text(f"amlwizard\npassword='{SECRETS['crash']}'\n{everywhere}")
    lock = workspace.lock
    about = lock.read_text() if lock.exists() else ""
    lock.write_text(f"# https://bob:{SECRETS['lock']}@{host}/a.whl\n{about}")
    workspace.journal.write_text(json.dumps({"format": 1, "action": f"https://bob:{SECRETS['journal']}@{host}"}))
    (workspace.runs / "tag").mkdir(parents=True, exist_ok=True)
    (workspace.runs / "tag" / "run.json").write_text(f"no JSON: token={SECRETS['run']}")
    computer.extra |= {
        "UV_DEFAULT_INDEX": f"https://bob:{SECRETS['index']}@{host}/simple",
        "PIP_EXTRA_INDEX_URL": f"https://bob:{SECRETS['extra']}@{host}/extra",
        "HTTPS_PROXY": f"http://bob:{SECRETS['proxy']}@proxy.example.org:3128",
        "HF_TOKEN": SECRETS["token"],
        "SOMETHING": SECRETS["unnamed"],
        "DB_PASSWORD": SECRETS["short"],
        "PIP_CONFIG_FILE": str(config / "pip" / "pip.conf"),
    }


BARE = {"index", "extra", "proxy", "pip", "uv", "netrc", "token", "requirements", "settings", "short", "unnamed"}
"""The secrets that are known from elsewhere, and so are found without any sign beside them."""


@pytest.mark.linux
@pytest.mark.parametrize("broken_settings", [False, True])
def test_no_secret_of_any_place_is_in_it(
    installed: Computer, circumstances: type[Circumstances], broken_settings: bool
) -> None:
    _plant(installed)
    settings = Path(installed.environ["HOME"]) / ".config" / "amlwizard" / "settings.json"
    if broken_settings:
        settings.write_text(settings.read_text()[:-1])
    report = diagnose(installed, prefix=circumstances(network=False).command([]))
    shown = "\n".join(f"{name}\n{content.decode()}" for name, content in report.entries.items())
    for name, secret in SECRETS.items():
        assert secret not in shown, name
        assert secret.replace(" ", "%20") not in shown, name
        assert _basic(secret) not in shown, name
    assert installed.environ["HOME"] not in shown
    # what helps is still there
    assert "index.example.org" in shown
    assert b"index.example.org, port 443" in report.entries["network.txt"]
    assert report.line("Last error").startswith("install of 2099-01-01T00:00:00Z: failed, AML_NET_REFUSED")
    assert report.json("variables.json")["UV_DEFAULT_INDEX"] == "(set)"
    assert report.line("Cannot be used").endswith("(AML_SETTINGS_UNREADABLE)" if broken_settings else "_CREDENTIALS)")
    assert report.failed() == set()


@pytest.mark.linux
@pytest.mark.parametrize("broken", [False, True])
def test_settings_that_cannot_be_read_do_not_lead_to_the_default_index(
    computer: Computer, circumstances: type[Circumstances], broken: bool
) -> None:
    settings = Path(computer.environ["HOME"]) / ".config" / "amlwizard" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text("{" if broken else "{}")
    computer.extra["AML_INDEX_URL"] = ""
    report = diagnose(computer, prefix=circumstances(network=False).command([]))
    hosts = [line for line in report.entries["network.txt"].decode().splitlines() if ", port 443" in line]
    assert (hosts == []) is broken


def test_tells_an_absent_workspace(computer: Computer) -> None:
    report = diagnose(computer)
    assert report.line("Environment").startswith("not set up yet.")
    assert report.line("What to do") == "Run amlwizard install."
    assert not computer.root.exists()


def test_tells_a_foreign_and_a_half_broken_workspace(computer: Computer) -> None:
    workspace = Workspace(computer.root)
    workspace.venv.mkdir(parents=True)
    (workspace.venv / "something").write_text("of others")
    assert diagnose(computer).line("Environment").startswith("made by another program.")
    workspace.runtime.mkdir()
    for path in (workspace.journal, workspace.lock, workspace.receipt, workspace.uv_record):
        path.mkdir()  # as nobody can read it, root included
    workspace.downloads.write_text("a file")
    workspace.holders.write_text("a file")
    workspace.logs.mkdir()
    (workspace.logs / "20260101T000000Z-install-7.log").write_bytes(b"\xff\xfe\0no text\x1b[0m" * 9)
    if os.name != "nt":
        os.mkfifo(workspace.logs / "20270101T000000Z-install-7.log")
        os.mkfifo(workspace.store_record)
    report = diagnose(computer, name="second.zip")
    assert report.json("records.json")["journal"] == {"unreadable": "Not a regular file"}
    assert report.entries["logs/20270101T000000Z-install-7.log"].startswith(b"[cannot be read")
    assert b"no text" in report.entries["logs/20260101T000000Z-install-7.log"]


def test_tells_a_workspace_of_a_newer_amlwizard(computer: Computer) -> None:
    marker = Workspace(computer.root).venv / ".aml-ok-0123456789ab"
    marker.parent.mkdir(parents=True)
    marker.write_text('{"format": 99}')
    report = diagnose(computer)
    assert report.line("Environment").endswith(f"{marker.name} was written by a newer amlwizard.")
    assert "another program" not in report.line("Environment")
    assert report.line("What to do") == "Install the newest amlwizard."


@pytest.mark.linux
@pytest.mark.parametrize(
    ("closed", "state", "failed"),
    [
        (".", "damaged.", {"store", "holders", "logs", "log_files"}),
        # without its lock nobody knows what the environment was made from, as detect says as well
        ("runtime", "damaged.", {"store", "holders", "logs", "log_files"}),
        (".venv", "damaged.", set()),
        ("runtime/logs", "ready.", {"logs", "log_files"}),
        ("runtime/pylock.toml", "damaged.", set()),
        ("runtime/receipt.json", "ready.", set()),
        ("downloads", "ready.", {"store"}),
    ],
)
def test_what_may_not_be_read_costs_only_itself(installed: Computer, closed: str, state: str, failed: set[str]) -> None:
    (installed.root / "runtime" / "logs" / "20990101T000000Z-install-7.log").touch(0)
    place = installed.root / closed
    mode, before = place.stat().st_mode, state_of(installed.root)
    without_rights = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    place.chmod(0)
    try:
        out = installed.folder / "report.zip"
        result = installed.run("diagnose", "--out", out, prefix=without_rights)
    finally:
        place.chmod(mode)
    assert result.code == 0, result.finished
    assert state_of(installed.root) == before
    report = Report(out)
    assert report.failed() == failed
    assert report.line("Environment").startswith(state)
    assert report.json("detect.json")["candidates"]
    if closed == ".venv":
        assert report.entries["logs/20990101T000000Z-install-7.log"] == b"[cannot be read: Permission denied]\n"


def test_tells_what_could_not_be_looked_at(computer: Computer) -> None:
    workspace = Workspace(computer.root)
    workspace.runtime.mkdir(parents=True)
    workspace.holders.mkdir()
    (workspace.holders / "lock.use-1-0.json").write_text('{"format": 99}')
    report = diagnose(computer)
    assert report.failed() == {"holders"}
    assert "who uses the workspace: " in report.line("Not known")


def test_a_note_of_a_dead_holder_stays_where_it_is(installed: Computer) -> None:
    holders = Workspace(installed.root).holders
    holders.mkdir(exist_ok=True)
    (holders / "lock-1-0.json").write_text(
        '{"format": 1, "pid": 999999999, "boot": "x", "born": 1.0, "command": "install"}'
    )
    assert diagnose(installed).line("In use by") == "nobody"


def test_works_while_another_run_and_a_job_hold_the_workspace(installed: Computer) -> None:
    workspace = Workspace(installed.root)
    with hold_run(workspace, "rebuild"), hold_use(workspace, "train.py"):
        report = diagnose(installed)
    assert f"rebuild (process {os.getpid()}) since 20" in report.line("In use by")
    assert f"train.py (process {os.getpid()}) since 20" in report.text


@pytest.mark.linux
def test_names_a_choice_that_cannot_be_used_and_looks_without_it(
    computer: Computer, circumstances: type[Circumstances]
) -> None:
    no_python = computer.folder / "python3"
    no_python.write_text("")
    for number, (variable, value, code, failed) in enumerate(
        (
            ("AML_PYTHON_BIN", f"{no_python}-gone", "AML_PYTHON_MISSING", set()),  # refused with the choices
            ("AML_PYTHON_BIN", str(no_python), "AML_PYTHON_MISSING", set()),  # refused by detection
            ("SSL_CERT_FILE", __file__, "AML_CA_FILE_INVALID", {"network", "reached"}),  # refused by the network
        )
    ):
        computer.extra = {variable: value}
        prefix = circumstances(network=False).command([])  # without choices uv's own index is reached
        report = diagnose(computer, prefix, f"{number}.zip")
        assert report.line("Cannot be used").endswith(f"({code})")
        assert report.failed() == failed
        assert report.json("detect.json")["candidates"]


@pytest.mark.linux
def test_works_on_a_read_only_disk_without_network(installed: Computer, circumstances: type[Circumstances]) -> None:
    prefix = circumstances(network=False, read_only=[installed.root]).command([])
    report = diagnose(installed, prefix=prefix)
    assert report.failed() == set()
    assert report.line("Environment").startswith("ready.")
    assert any(line.lstrip().partition(". ")[2].startswith("Disk: read-only") for line in report.text.splitlines())


@pytest.mark.linux
def test_a_full_disk_leaves_nothing_half(computer: Computer, circumstances: type[Circumstances]) -> None:
    out = computer.folder / "small"
    out.mkdir()
    fill = ["/bin/sh", "-c", 'cat /dev/zero > "$0/full" 2> /dev/null; exec "$@"', str(out)]
    prefix = circumstances(file_systems=[SmallFileSystem(out, 4096)]).command(fill)
    result = computer.run("diagnose", "--out", out / "report.zip", prefix=prefix)
    assert (result.code, result.finished["state"], result.finished["code"]) == (1, "failed", "AML_NO_SPACE")
    assert "No space left" in result.finished["message"]


@pytest.mark.linux
def test_works_without_uv_and_python(computer: Computer, own_python: Path, circumstances: type[Circumstances]) -> None:
    hidden = computer.leave_no_python(own_python)
    report = diagnose(computer, prefix=circumstances(hidden=hidden, network=False).command([]))
    assert report.failed() == set()
    assert report.line("Python") == "none found; one will be set up"
    assert report.json("detect.json")["uv"] is None


@pytest.mark.posix
def test_a_python_that_hangs_is_a_row_and_not_the_end(computer: Computer) -> None:
    hanging = computer.folder / "programs" / "python3"
    hanging.parent.mkdir()
    hanging.write_text("#!/bin/sh\nexec sleep 600\n")
    hanging.chmod(0o755)
    computer.extra["PATH"] = os.pathsep.join([str(hanging.parent), os.environ["PATH"]])
    computer.hurried = True
    computer.extra["SOMETHING_HANGS"] = "1"
    assert PROBE_SECONDS == 15  # for which a hurried run does not wait
    report = diagnose(computer)
    (row,) = (row for row in report.json("detect.json")["candidates"] if row["path"].endswith("programs/python3"))
    assert (row["usable"], f" {hurried.PROBE_SECONDS:g} s" in row["reason"]) == (False, True)
    assert report.failed() == set()


def refused(result: Result) -> str:
    assert (result.code, result.finished["state"]) == (2, "refused")
    assert [event["event"] for event in result.events if event["event"] == "detected"] == []
    code = result.finished["code"]
    assert isinstance(code, str)
    return code


def test_is_refused_where_it_cannot_be(computer: Computer) -> None:
    assert refused(computer.run("diagnose")) == "AML_USAGE_VALUE_MISSING"
    assert refused(computer.run("diagnose", "--out", computer.folder)) == "AML_DIAGNOSE_IS_FOLDER"
    (computer.folder / "there.zip").write_text("mine")
    assert refused(computer.run("diagnose", "--out", computer.folder / "there.zip")) == "AML_DIAGNOSE_EXISTS"
    assert (computer.folder / "there.zip").read_text() == "mine"


@pytest.mark.posix
def test_a_cancel_leaves_nothing(computer: Computer) -> None:
    hanging = computer.folder / "programs" / "python3"
    hanging.parent.mkdir()
    began = computer.folder / "began"
    os.mkfifo(began)
    hanging.write_text(f"#!/bin/sh\necho began > {began}\nexec sleep 600\n")
    hanging.chmod(0o755)
    computer.extra["PATH"] = os.pathsep.join([str(hanging.parent), os.environ["PATH"]])
    out = computer.folder / "out"
    out.mkdir()
    with computer.start("diagnose", "--out", out / "report.zip") as running:
        assert began.read_text() == "began\n"  # waits for it
        finished = running.cancel()
    assert (running.process.returncode, finished["state"]) == (130, "cancelled")
    assert not any(out.iterdir())


def test_says_in_text_where_it_is(computer: Computer) -> None:
    out = computer.folder / "report.zip"
    argv = computer.argv("diagnose", "--out", out)[:-1]
    done = subprocess.run(argv, cwd=REPOSITORY, env=computer.environ, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0
    assert done.stdout.startswith(f"The report is in {out} (")
    assert shutil.which("python3") is None or "Traceback" not in done.stderr
