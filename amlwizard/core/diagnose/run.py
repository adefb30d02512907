"""From the request to the file: look, redact, pack."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from amlwizard.core.catalogue import error_texts
from amlwizard.core.detection.report import detected_content
from amlwizard.core.diagnose.known_secrets import files_with_secrets, known_secrets
from amlwizard.core.diagnose.limits import Part, limited_in_thread
from amlwizard.core.diagnose.log_files import crash_texts, log_texts
from amlwizard.core.diagnose.looking import DISK_SECONDS, look_at_all
from amlwizard.core.diagnose.packing import Packer
from amlwizard.core.diagnose.place import Place
from amlwizard.core.diagnose.records import lock_heads, record_contents, run_contents
from amlwizard.core.diagnose.redaction import Redactor
from amlwizard.core.diagnose.report import Ended, report_text
from amlwizard.core.diagnose.variables import variables_content
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.for_it import text_for_it
from amlwizard.core.outcome import done_event
from amlwizard.core.paths import Workspace
from amlwizard.core.settings import home_folder
from amlwizard.core.wish import make_wish, recorded_source
from amlwizard.core.wording import size_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from amlwizard.core.choices import Choices
    from amlwizard.core.diagnose.findings import Findings
    from amlwizard.core.diagnose.looking import MakeFetcher, OpenSession
    from amlwizard.core.diagnose.request import Request
    from amlwizard.core.events import FinishedEvent
    from amlwizard.core.fetching import Fetcher
    from amlwizard.core.index_urls import Credentials
    from amlwizard.core.settings import Setting


_READERS: Final[tuple[tuple[str, Callable[[Workspace], dict[str, Any]]], ...]] = (
    ("records", record_contents),
    ("runs", run_contents),
    ("locks", lock_heads),
    ("log_files", log_texts),
    ("crashes", crash_texts),
)


async def diagnose(
    request: Request, out: Path, open_session: OpenSession, make_fetcher: MakeFetcher, language: str
) -> FinishedEvent:
    """Write the report to ``out``, which is absolute, and return the end.

    Raises:
        RefusedError: it cannot be where it is wanted; nothing was looked at.
        AmlError: it cannot be written after all.
    """
    began = time.monotonic()
    workspace = Workspace(request.choices.root)
    with Place(out, workspace) as place:
        findings, secrets, kept = await _looked(request, out.parent, open_session, make_fetcher)
        files = await _read_files(workspace)
        findings = replace(findings, others=(secrets, *files.values()))
        content = await asyncio.to_thread(_packed, findings, files, secrets, kept, language)
        await asyncio.to_thread(place.put, content)
    arguments: dict[str, object] = {"path": str(out), "size": size_text(len(content), language)}
    seconds = time.monotonic() - began
    return done_event("AML_DIAGNOSED", arguments, language, seconds, root=workspace.root, path=out)


async def copied_report(
    request: Request,
    ended: Ended,
    more: Sequence[str],
    open_session: OpenSession,
    make_fetcher: MakeFetcher,
    language: str,
) -> str:
    """Return the short report for the clipboard of a window; no file is written.

    Args:
        request: what is asked for.
        ended: the run that the report is about.
        more: lines to be put below, such as the last ones of the log; left out where the passwords are not known.
        open_session: opens a session for choices.
        make_fetcher: makes a fetcher for choices.
        language: the user's.
    """
    findings, secrets, kept = await _looked(request, None, open_session, make_fetcher)

    def in_words() -> str:
        clean = _redactor(findings, secrets, kept).text
        below = map(clean, more) if not secrets.failed else ()
        return "\n".join([report_text(replace(findings, others=(secrets,)), language, clean, ended), *below, ""])

    return await asyncio.to_thread(in_words)


async def _looked(
    request: Request, folder: Path | None, open_session: OpenSession, make_fetcher: MakeFetcher
) -> tuple[Findings, Part[frozenset[str]], Credentials]:
    """Return what was found, what must not be shown, and what the system's keyring gave meanwhile."""
    refusals = list(request.refusals)

    def refuse(error: RefusedError) -> None:
        if error.code not in {known.code for known in refusals}:
            refusals.append(error)

    workspace = Workspace(request.choices.root)
    secrets = await limited_in_thread("secrets", DISK_SECONDS, lambda: _secrets(request, workspace))
    fetchers: list[Fetcher] = []

    def make(choices: Choices) -> Fetcher:
        fetchers.append(make_fetcher(choices))
        return fetchers[-1]

    findings = await look_at_all(request, folder, open_session, make, refuse)
    kept = {origin: login for fetcher in fetchers for origin, login in fetcher.kept_logins().items()}
    return replace(findings, request=replace(request, refusals=tuple(refusals))), secrets, kept


def _redactor(findings: Findings, secrets: Part[frozenset[str]], kept: Credentials) -> Redactor:
    known = known_secrets(os.environ, {**findings.request.choices.credentials, **kept}, []) | (secrets.value or set())
    return Redactor(known, home_folder(os.environ))


def _secrets(request: Request, workspace: Workspace) -> frozenset[str]:
    """Return what the report must not show; the requirements count as well, although they are not in it."""
    logins = dict(request.choices.credentials)
    with suppress(AmlError, OSError):  # what can be found in the file itself is found below
        wish = make_wish(replace(request.choices, accelerator=None), workspace, os.environ)
        logins |= wish.logins | wish.git_logins
    named = []
    with suppress(OSError):
        source = recorded_source(workspace)
        named = [workspace.root / source["name"]] if source.get("kind") == "file" else []
    return known_secrets(os.environ, logins, [*files_with_secrets(os.environ), *named])


async def _read_files(workspace: Workspace) -> Mapping[str, Part[dict[str, Any]]]:
    parts = await asyncio.gather(
        *(limited_in_thread(name, DISK_SECONDS, partial(read, workspace)) for name, read in _READERS)
    )
    return {part.name: part for part in parts}


def _packed(
    findings: Findings,
    files: Mapping[str, Part[dict[str, Any]]],
    secrets: Part[frozenset[str]],
    kept: Credentials,
    language: str,
) -> bytes:
    """Return the zip; what is worth most comes first. Where the passwords are not known, no text of others goes in.

    ``kept`` is what the system's keyring gave meanwhile.
    """
    redactor = _redactor(findings, secrets, kept)
    packer = Packer(redactor)
    facts = findings.facts.value
    contents: tuple[tuple[str, Callable[[], Any]], ...] = (
        ("report.txt", lambda: report_text(findings, language, redactor.text)),
        ("network.txt", lambda: _for_it(findings, language)),
        ("parts.json", lambda: [part.to_json() for part in findings.parts]),
        ("detect.json", lambda: detected_content(facts, "en") if facts is not None else None),
        ("settings.json", lambda: _settings_content(findings)),
        ("computer.json", lambda: _computer_content(findings)),
        ("variables.json", lambda: variables_content(os.environ)),
        ("records.json", lambda: files["records"].value),
        ("runs.json", lambda: files["runs"].value),
        ("store.json", lambda: findings.store.value),
    )
    for name, make in contents:
        try:
            packer.add(name, make())
        except Exception as error:  # noqa: BLE001 - whatever a broken record holds, the rest is still worth having
            packer.add(f"{name}.failed.txt", f"{type(error).__name__}: {error}\n")
    for name, newest_last in (("locks", False), ("crashes", False), ("log_files", True)):
        for entry, text in (files[name].value or {}).items() if not secrets.failed else ():
            packer.add(entry, text, newest_last=newest_last)
    return packer.finish()


def _for_it(findings: Findings, language: str) -> str:
    network, reached = findings.network.value, findings.reached.value
    trusted = network.certificates if network is not None else ""
    return text_for_it(reached or [], findings.taken, findings.system, trusted, language)


def _settings_content(findings: Findings) -> dict[str, Any]:
    request = findings.request
    settings = request.settings
    refused = [{"code": error.code, "message": error_texts(error)[0]} for error in request.refusals]
    return {
        "values": {key: _setting_content(setting) for key, setting in sorted(settings.values.items())},
        "locked": sorted(settings.locked),
        "overruled": {key: _setting_content(setting) for key, setting in settings.overruled.items()},
        "unknown": list(settings.unknown),
        "from_pip_and_uv": list(request.choices.ambient),
        "refused": refused,
    }


def _setting_content(setting: Setting) -> dict[str, Any]:
    value = setting.value if isinstance(setting.value, str) else list(setting.value)
    return {"value": value, "source": setting.source.value, "place": setting.place}


def _computer_content(findings: Findings) -> dict[str, Any]:
    host, network, holders = findings.host.value, findings.network.value, findings.holders.value
    return {
        "taken": findings.taken,
        "system": findings.system,
        "host": host and host.to_json(),
        "disks": [asdict(disk) for disk in findings.disks.value or ()],
        "network": network and network.to_json(),
        "reached": [each.to_json() for each in findings.reached.value or ()],
        "holders": holders and asdict(holders),
    }
