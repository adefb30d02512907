"""What the steps of one run share: the wish, the findings, the tools, and the way to run and report."""

from __future__ import annotations

import os
from collections import deque
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from amlwizard.core import pip_cli
from amlwizard.core.catalogue import text
from amlwizard.core.child_env import tool_environment
from amlwizard.core.choices import Choices
from amlwizard.core.echo import EchoingRunner
from amlwizard.core.ended import exit_code
from amlwizard.core.environment.marker import marker_names
from amlwizard.core.environment.threads import run_whole
from amlwizard.core.errors import AmlError
from amlwizard.core.events import Emit, LogEvent, StepEvent, StepState
from amlwizard.core.git_logins import git_variables
from amlwizard.core.index_urls import split_url
from amlwizard.core.redact import redact
from amlwizard.core.running import IDLE_SECONDS, Command, OutputLine
from amlwizard.core.store.ledger import Noted, note_files, noted_files, store_place
from amlwizard.core.tool_output import TAIL_LINES, blame_proxy, failure_from_output
from amlwizard.core.uv_cli import Index, UvCli

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from packaging.pylock import Pylock

    from amlwizard.core.choices import Choices
    from amlwizard.core.environment.findings import VerifyReport
    from amlwizard.core.facts import Facts, PythonFacts
    from amlwizard.core.fetching import Download, Fetcher, FetchProgress
    from amlwizard.core.index_urls import Credentials
    from amlwizard.core.journal import Journal
    from amlwizard.core.lock import LockedFile, StoredWheel
    from amlwizard.core.paths import Workspace
    from amlwizard.core.running import Runner
    from amlwizard.core.storing import Wanted
    from amlwizard.core.wish import Wish


@dataclass(frozen=True)
class ToolResult:
    """How a tool ended that could be started and was not stopped."""

    code: int
    stdout: tuple[str, ...]
    tail: tuple[str, ...]
    """The last lines of both streams, redacted."""


@dataclass
class RunContext:
    """The state of one run; steps read it and leave their results in it."""

    workspace: Workspace
    choices: Choices
    parent_environment: Mapping[str, str]
    runner: Runner
    fetcher: Fetcher
    emit: Emit
    language: str
    tmp: Path
    facts: Facts
    wish: Wish
    step: str = ""
    uv: Path | None = None
    python: PythonFacts | None = None
    lock: Pylock | None = None
    lock_path: Path | None = None
    expected: dict[str, str] = field(default_factory=dict)
    """Normalised names and versions that the environment will hold; the version is empty where it is not known."""
    missing: list[LockedFile] | None = None
    """What the store lacked of the lock when the plan was made; None where the packages are still to be chosen."""
    selected: tuple[Pylock, PythonFacts, Path, Wanted] | None = None
    """What the lock that was looked into last means for an interpreter, with that lock, the interpreter and its path."""
    stored: list[StoredWheel] = field(default_factory=list)
    told_sizes: dict[str, int] = field(default_factory=dict)
    """Sizes that servers told for addresses whose size the lock does not know."""
    places: dict[LockedFile, Path] = field(default_factory=dict)
    """Where what a lock names lies in the store, or is to be put."""
    sound: dict[Path, tuple[str, int, int]] = field(default_factory=dict)
    """Files of the store whose hash this run has found right, with that hash, their size and time of change."""
    private_pips: dict[Path, Path] = field(default_factory=dict)
    """For an interpreter without a fitting pip: that of the environment with pip which this run made from it."""
    built: dict[LockedFile, StoredWheel] = field(default_factory=dict)
    """The wheels of the store that were built from sources, whose hash this run has found right."""
    journal: Journal | None = None
    loose: list[Path] = field(default_factory=list)
    """Files of the user's in the old environment that the new one is not to have, or has others in the place of."""
    held: ExitStack = field(default_factory=ExitStack)
    """What the run holds to its end."""
    report: VerifyReport | None = None
    link_mode: str | None = None
    """``copy`` where the cache's hard links are refused, or do harm; None leaves it to uv."""
    private_cache: Path | None = None
    """uv's cache for a look that is to leave no trace; None for the workspace's."""
    default_index: str | None = None
    """The index that uv itself would use, where none is chosen."""
    not_passed_on: set[str] = field(default_factory=set)
    """Names of variables that were told to be kept from tools; a session tells each once."""

    def __post_init__(self) -> None:
        """Let every command be told before it runs."""
        inner = self.runner.inner if isinstance(self.runner, EchoingRunner) else self.runner  # a copy has a step of its own
        self.runner = EchoingRunner(inner, self.log)

    @property
    def digest(self) -> str:
        """The digest of the wish for the chosen interpreter."""
        return self.wish.digest(self.require_python().version_text)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Every password that this run knows, for redaction."""
        wish = self.wish
        known = (self.choices.credentials, wish.logins, wish.git_logins, self.fetcher.kept_logins())
        logins = [login for each in known for login in each.values()]
        return tuple(password or user for user, password in logins)  # a name without a password is a token

    def log(self, line: str) -> None:
        """Report one line, redacted."""
        self.emit(LogEvent(self.step, redact(line, self.secrets)))

    def tell_removal(self) -> None:
        """Say that what was built is removed now, which may take seconds; nothing where nothing of it is there."""
        place = self.workspace.staged if self.uv is not None else self.workspace.venv
        if os.path.lexists(place) and not marker_names(place):
            self.emit(LogEvent(self.step, text("build.removing", self.language, path=str(place)), remark=True))

    def progress(
        self, done: int, total: int | None, unit: str, *, rate: float | None = None, subject: str | None = None
    ) -> None:
        """Report how far the present step is."""
        self.emit(StepEvent(self.step, StepState.PROGRESS, done, total, unit, rate, subject))

    async def fetch(self, downloads: Sequence[Download]) -> None:
        """Fetch files and report how far they are.

        Raises:
            AmlError: as ``Fetcher.fetch``.
        """

        def show(made: FetchProgress) -> None:
            self.runner.touch()
            self.progress(made.done_bytes, made.total_bytes, "bytes", rate=made.bytes_per_second, subject=made.current)

        ours = {each.target: Noted(each.sha256, each.size) for each in downloads}
        await run_whole(note_files, self.workspace, ours)
        await self.fetcher.fetch(downloads, show)

    def place(self, file: LockedFile) -> Path:
        """Return where a file lies in the store, or is to be put; it is looked up once. Blocks for a moment."""
        if file not in self.places:
            self.places[file] = store_place(self.workspace, file.filename, file.sha256, self._listed)
        return self.places[file]

    @cached_property
    def _listed(self) -> dict[str, Noted]:
        return noted_files(self.workspace)

    def require_python(self) -> PythonFacts:
        """Return the chosen interpreter; it is there in every step after ``install_python``."""
        if self.python is None:
            raise AmlError("AML_PYTHON_MISSING", wanted=self.choices.python or "")
        return self.python

    def uv_cli(self) -> UvCli:
        """Return uv's command line; uv is there in every step after ``install_uv``, but for the fallback without uv."""
        if self.uv is None:
            raise AmlError("AML_UV_MISSING", path="", reason="")
        if not self.uv.is_file() or self.uv.stat().st_size == 0:
            raise AmlError("AML_UV_VANISHED", path=str(self.uv))
        return UvCli(self.uv, self.workspace)

    def uv_variables(self, *, downloads: bool = False, indexes: bool = True) -> dict[str, str]:
        """Return uv's own variables: cache, interpreters, and, unless none is to be asked, indexes and credentials."""
        default, extra = self._indexes() if indexes else (None, [])
        pages = self._pages_with_logins() if indexes else []
        variables = git_variables(self.wish.git_logins) if indexes else {}
        variables |= UvCli(self.uv or self.workspace.tools, self.workspace).environment(
            default_index=default, indexes=extra, python_downloads=downloads, offline=self.choices.offline or not indexes
        )
        if pages:
            variables["UV_FIND_LINKS"] = ",".join(pages)
        if self.choices.index_strategy is not None:
            variables["UV_INDEX_STRATEGY"] = self.choices.index_strategy.value
        if self.link_mode is not None:
            variables["UV_LINK_MODE"] = self.link_mode
        return variables | ({"UV_CACHE_DIR": str(self.private_cache)} if self.private_cache is not None else {})

    def pip_variables(self, *, indexes: bool = True) -> dict[str, str]:
        """Return pip's own variables, and, unless none is to be asked, indexes, pages and credentials."""
        default, extra = self._indexes() if indexes else (None, [])
        variables = pip_cli.environment(
            index=default,
            extra=extra,
            pages=self._pages_with_logins() if indexes else [],
            ca_file=self.choices.ca_file,
            offline=self.choices.offline or not indexes,
        )
        logins = git_variables(self.wish.git_logins) if indexes else {}
        # pip asks a compiler of Rust for its version, and rustup then makes a folder in the user's home
        return {**variables, **logins, "RUSTUP_HOME": str(self.tmp / "rustup")}

    def index_url(self) -> str:
        """Return the address of the index, without credentials: the chosen one, else uv's own.

        Raises:
            AmlError: there is none, and nothing on this computer knows a default.
        """
        url = self.choices.index_url or self.default_index
        if url is None:
            raise AmlError("AML_INDEX_UNKNOWN")
        return url

    def child_environment(self, variables: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the whole environment of a tool; what is kept from it is told once, by name."""
        parent = self.fetcher.child_environment(self.parent_environment)
        # what git says is recognised by its words
        made = tool_environment(parent, tmp=self.tmp, extra={"LANGUAGE": "en", **(variables or {})})
        names = [name for name in made.dropped if name not in self.not_passed_on]
        if names:
            self.not_passed_on.update(names)
            self.log(text("run.not_passed_on", self.language, names=", ".join(names)))
        return made.variables

    @property
    def find_links(self) -> tuple[str, ...]:
        """The chosen folders and pages with archives for a command line; where one needs a login, a variable names them."""
        return () if self._pages_with_logins() else self.choices.find_links

    def _given_logins(self) -> Credentials:
        """Return the logins that do not stand in the requirements."""
        return {**self.fetcher.kept_logins(), **self.choices.credentials}

    def _need_login(self, addresses: Sequence[str]) -> bool:
        given = self._given_logins()
        return any(split_url(url, "").origin in given for url in addresses)

    def _with_login(self, url: str) -> Index:
        logins = {**self.wish.logins, **self._given_logins()}
        return Index(url, *logins.get(split_url(url, "").origin, ("", "")))

    def _indexes(self) -> tuple[Index | None, list[Index]]:
        default = self._with_login(self.choices.index_url) if self.choices.index_url else None
        further, named = list(self.choices.extra_index_urls), self.wish.index_addresses
        if self._need_login(named):  # uv and pip read the file themselves, in which that login does not stand
            further += named
        return default, [self._with_login(url) for url in further]

    def _pages_with_logins(self) -> list[str]:
        """Return all pages and folders with archives, the logins in their addresses; none where none has one."""
        named = [link if "://" in link else Path(link).as_uri() for link in self.choices.find_links]
        named += self.wish.page_addresses
        return [pip_cli.with_credentials(self._with_login(url)) for url in named] if self._need_login(named) else []

    def failure(self, result: ToolResult, *, otherwise: str, tool: str = "uv", **arguments: object) -> AmlError:
        """Return the error that a tool's last lines speak of; see ``failure_from_output``."""
        error = failure_from_output(result.tail, otherwise=otherwise, tool=tool, **arguments)
        return blame_proxy(error, self.fetcher.proxy_for)

    async def run_tool(
        self,
        argv: Sequence[str],
        *,
        variables: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        total_seconds: float | None = None,
        quiet_stdout: bool = False,
    ) -> ToolResult:
        """Run a tool to its end, and report the command and its lines, all redacted.

        Raises:
            AmlError: the tool could not be started, was killed, or reached a limit.
        """
        stdout: list[str] = []
        tail: deque[str] = deque(maxlen=TAIL_LINES)

        def on_line(line: OutputLine) -> None:
            clean = redact(line.text, self.secrets)
            if line.stream == "stdout":
                stdout.append(line.text)
                if quiet_stdout:
                    return
            tail.append(clean)
            self.emit(LogEvent(self.step, clean))

        command = Command(
            argv=tuple(argv),
            env=self.child_environment(variables),
            cwd=cwd or self.tmp,
            total_seconds=total_seconds,
            idle_seconds=IDLE_SECONDS,
        )
        outcome = await self.runner.run(command, on_line)
        return ToolResult(exit_code(outcome, argv[0], "\n".join(tail)), tuple(stdout), tuple(tail))
