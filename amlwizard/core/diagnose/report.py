"""The short report: numbered lines in English to be read aloud on the phone, the user's own sentence below each."""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from amlwizard import __version__
from amlwizard.core.catalogue import Phrase, code_texts, has_text, text
from amlwizard.core.wording import added_text, size_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amlwizard.core.choices import Choices
    from amlwizard.core.diagnose.computer import Disk, Network
    from amlwizard.core.diagnose.findings import Findings, Holders
    from amlwizard.core.diagnose.log_files import PastRun
    from amlwizard.core.errors import AmlError
    from amlwizard.core.events import FinishedEvent
    from amlwizard.core.facts import Candidate, EnvironmentFacts, Facts, Holder, Host
    from amlwizard.core.preflight import Reached
    from amlwizard.core.settings import Settings

_CANDIDATES: Final = 40
_LANGUAGE: Final = "en"
_PLACES: Final = 3


Clean = Callable[[str], str]


@dataclass(frozen=True)
class _Line:
    """A subject (a key of ``diagnose.label``), the English sentence, and the same in the user's language."""

    label: str
    english: str
    own: str


@dataclass(frozen=True)
class Ended:
    """A run that has just ended, and what was asked for, as ``rebuild``."""

    kind: str
    event: FinishedEvent


def report_text(findings: Findings, language: str, clean: Clean, ended: Ended | None = None) -> str:
    """Return the whole report.

    Args:
        findings: what was found.
        language: the user's.
        clean: redacts a text; also used before long values are cut, as half a secret is not recognised.
        ended: the run that the report is about, where there is one.
    """
    told = _Told(language, clean)
    return _numbered(told, told.lines(findings, ended), findings.taken)


def _numbered(told: _Told, subjects: Iterator[_Line], taken: str) -> str:
    lines = list(subjects)
    width = len(str(len(lines)))
    result = [*told.heading(taken), ""]
    for number, line in enumerate(lines, 1):
        result.append(f"{number:>{width}}. {told.label(line.label)}: {line.english}")
        if line.own and line.own != line.english:
            result.append(f"{' ' * width}  {line.own}")
    return told.clean("\n".join([*result, ""]))


class _Told:
    """Puts findings into words, in English and in the user's language."""

    def __init__(self, language: str, clean: Clean) -> None:
        self._language = language
        self.clean = clean

    def heading(self, taken: str) -> Iterator[str]:
        yield text("diagnose.heading", _LANGUAGE, taken=taken)
        if self._language != _LANGUAGE:
            yield text("diagnose.heading", self._language, taken=taken)

    def label(self, name: str) -> str:
        english, own = (text(f"diagnose.label.{name}", language) for language in (_LANGUAGE, self._language))
        return english if own == english else f"{english} ({own})"

    def lines(self, findings: Findings, ended: Ended | None) -> Iterator[_Line]:
        """Yield the lines, what is asked first on the phone first."""
        root = str(findings.request.choices.root)
        yield self._program()
        yield self._system(findings.system, findings.host.value)
        facts = findings.facts.value
        if facts is not None:
            yield self._tool("uv", facts.uv, facts)
            yield self._tool("python", facts.python, facts)
        yield _Line("root", root, "")
        # what was detected knows what is wanted as well, and so what is out of date
        environment = facts.environment if facts is not None else findings.environment.value
        if environment is not None:
            yield from self._environment(environment)
        if ended is not None:
            yield from self._ended(ended)
        if ended is None or not ended.event.log:  # else the last one is the same
            yield from self._runs(findings.runs.value)
        if findings.holders.value is not None:
            yield from self._holders(findings.holders.value)
        told = ended.event.code if ended is not None else ""
        yield from (self._refusal(error) for error in findings.request.refusals if error.code != told)
        yield from (self._disk(disk) for disk in findings.disks.value or ())
        if findings.network.value is not None:
            refused = bool(findings.request.refusals)
            yield from self._network(findings.network.value, findings.reached.value, refused=refused)
        yield from self._settings(findings.request.settings, findings.request.choices)
        if facts is not None:
            yield from self._candidates(facts)
        for part in findings.parts:
            if part.failed:
                yield self._say(
                    "unknown", "diagnose.unknown", part=Phrase(f"diagnose.part.{part.name}"), reason=part.reason
                )

    def _ended(self, ended: Ended) -> Iterator[_Line]:
        """Yield the lines on a run that has just ended; what it met is told with its arguments, which no log has."""
        event = ended.event
        (english, hint), (own, own_hint) = (
            code_texts(event.code, event.arguments, language) for language in (_LANGUAGE, self._language)
        )
        own = own if own != english else ""
        yield _Line("last_run", self.clean(f"{ended.kind}: {event.state.value}, {event.code}. {english}"), self.clean(own))
        if hint:
            yield _Line("hint", self.clean(hint), self.clean(own_hint))

    def _program(self) -> _Line:
        return self._say("program", "diagnose.program", version=__version__, python=platform.python_version())

    def _say(self, label: str, key: str, **arguments: object) -> _Line:
        clean = {name: self.clean(value) if isinstance(value, str) else value for name, value in arguments.items()}
        return _Line(label, text(key, _LANGUAGE, **clean), text(key, self._language, **clean))

    def _system(self, name: str, host: Host | None) -> _Line:
        if host is None:
            return _Line("system", name, "")
        return self._say(
            "system",
            "diagnose.system",
            name=name,
            host=Phrase(
                "cli.detect.host",
                {
                    "platform": host.platform,
                    "release": " ".join(part for part in (host.release, host.libc) if part),
                    "cpus": host.cpu_count,
                    "memory": size_text(host.memory_bytes),
                },
            ),
        )

    def _tool(self, kind: str, candidate: Candidate | None, facts: Facts) -> _Line:
        if candidate is None:
            others = any(other.kind == kind and other.usable for other in facts.candidates)
            return self._say(kind, "cli.detect.none_fits" if others else "cli.detect.none")
        source = _named("cli.source", candidate.source)
        return self._say(kind, "cli.detect.chosen", version=candidate.version, path=candidate.path, source=source)

    def _environment(self, environment: EnvironmentFacts) -> Iterator[_Line]:
        state = _named("cli.environment", environment.state)
        if environment.action == "upgrade":  # no other program made it
            yield self._say("state", "diagnose.only", sentence=Phrase(environment.reason, environment.arguments))
        elif environment.reason:
            reason = Phrase(environment.reason, environment.arguments)
            yield self._say("state", "diagnose.state", state=state, reason=reason)
        else:
            yield self._say("state", "diagnose.only", sentence=state)
        if environment.added:
            packages = added_text(environment.added, _LANGUAGE)
            yield self._say("state", "added.found", packages=packages)
        foreign = environment.state == "foreign"
        if environment.action != "none" or foreign:
            yield self._say("action", f"action.{environment.action}")

    def _runs(self, runs: tuple[PastRun, ...] | None) -> Iterator[_Line]:
        if runs == ():
            yield self._say("last_run", "diagnose.no_run")
        for number, run in enumerate(runs or ()):
            label = "last_run" if not number and (run.is_good or not run.state) else "last_error"
            if not run.state:
                yield self._say(label, "diagnose.run_open", kind=run.kind, began=run.began)
                continue
            about = {"kind": run.kind, "began": run.began, "state": run.state, "code": run.code or "-"}
            own = f"{run.kind} {run.began}: {run.message}" if run.english else ""
            said = run.english or run.message
            yield _Line(label, text("diagnose.run_ended", _LANGUAGE, **about, message=self.clean(said)), own)
            if run.code and not run.is_good:
                english, own = (code_texts(run.code, {}, language)[1] for language in (_LANGUAGE, self._language))
                if english:
                    yield _Line("hint", english, own)

    def _holders(self, holders: Holders) -> Iterator[_Line]:
        if holders.run is None and not holders.users:
            yield self._say("in_use", "diagnose.free")
        if holders.run is not None:
            yield self._say("in_use", "diagnose.held", holder=_holder(holders.run))
        for user in holders.users:
            yield self._say("in_use", "diagnose.used", holder=_holder(user))

    def _refusal(self, error: AmlError) -> _Line:
        english, own = (" ".join(code_texts(error.code, error.arguments, each)) for each in (_LANGUAGE, self._language))
        return _Line("refused", f"{english.strip()} ({error.code})", own.strip())

    def _disk(self, disk: Disk) -> _Line:
        shown = [*disk.places[:_PLACES], *(["..."] if len(disk.places) > _PLACES else [])]
        places = ", ".join(shown)
        if disk.free is None or disk.total is None:
            return self._say("disk", "diagnose.disk_unknown", places=places, reason=disk.reason)
        key = "diagnose.disk_read_only" if disk.read_only else "diagnose.disk_no_programs" if disk.no_programs else ""
        free, total = size_text(disk.free), size_text(disk.total)
        return self._say("disk", key or "diagnose.disk", places=places, free=free, total=total)

    def _network(self, network: Network, reached: list[Reached] | None, *, refused: bool) -> Iterator[_Line]:
        if network.proxies:
            hosts = ", ".join(dict.fromkeys(network.proxies.values()))
            yield self._say("proxy", "diagnose.proxy", hosts=hosts, exceptions=network.exceptions or "-")
        else:
            yield self._say("proxy", "diagnose.no_proxy")
        if network.certificates:
            yield _Line("certificates", network.certificates, "")
        else:
            yield self._say("certificates", "diagnose.certificates_system")
        if not network.own_index and not refused:
            yield self._say("index", "diagnose.index_default")
        for each in reached or ():
            yield _Line("host", self.clean(each.line(_LANGUAGE)), self.clean(each.line(self._language)))
        for host, proxy in network.routes.items() if reached is None else ():
            way = Phrase("diagnose.way_proxy", {"proxy": proxy}) if proxy else Phrase("diagnose.way_direct")
            yield self._say("host", "diagnose.host", host=host, way=way)

    def _settings(self, settings: Settings, choices: Choices) -> Iterator[_Line]:
        entries = sorted(settings.values.items())
        if choices.organisation is not None:
            fixed = choices.organisation
            yield self._say("setting", "organisation.locked", file=str(fixed.file), keys=", ".join(fixed.keys))
        elif not entries and not choices.ambient:
            yield self._say("setting", "diagnose.no_settings")
        for key, setting in entries:
            value = setting.value if isinstance(setting.value, str) else ", ".join(setting.value)
            locked = "diagnose.setting_locked" if settings.is_locked(key) else "diagnose.setting"
            yield self._say("setting", locked, name=key, value=value, place=setting.place)
        for line in choices.ambient:
            yield _Line("setting", line, "")
        if choices.trusted_hosts:
            yield self._say("setting", "remark.trusted_hosts", hosts=", ".join(choices.trusted_hosts))
        for phrase in choices.wrong_settings:
            yield self._say("setting", phrase.key, **phrase.arguments)
        for line in settings.unknown:
            yield self._say("setting", "diagnose.setting_unknown", setting=line)

    def _candidates(self, facts: Facts) -> Iterator[_Line]:
        for candidate in facts.candidates[:_CANDIDATES]:
            verdict = Phrase("cli.detect.yes" if candidate.usable else "cli.detect.no")
            about = {
                "kind": _named("cli.kind", candidate.kind),
                "version": candidate.version or "?",
                "path": candidate.path,
                "source": _named("cli.source", candidate.source),
                "usable": verdict,
            }
            if candidate.reason:
                reason = Phrase(candidate.reason, candidate.arguments)
                yield self._say("candidate", "diagnose.candidate_reason", reason=reason, **about)
            else:
                yield self._say("candidate", "diagnose.candidate", **about)
        more = len(facts.candidates) - _CANDIDATES
        if more > 0:
            yield self._say("candidate", "diagnose.more", number=more)


def _named(prefix: str, name: str) -> Phrase | str:
    key = f"{prefix}.{name}"
    return Phrase(key) if has_text(key) else name


def _holder(holder: Holder) -> Phrase | str:
    if holder.pid is None:
        return Phrase("diagnose.somebody")
    return Phrase("diagnose.holder", {"command": holder.command or "?", "pid": holder.pid, "since": holder.since or "?"})
