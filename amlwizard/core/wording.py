"""Sizes, rates, times and progress in words, the same in the window and on the command line.

Sizes are decimal (1 MB is 1,000,000 bytes), as data plans and file managers count them. Times that lie ahead are rounded,
because they are guesses; times that have passed are not.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from amlwizard.core.catalogue import has_text, text
from amlwizard.core.facts import APPLE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from amlwizard.core.choices import Choices
    from amlwizard.core.events import ChangesEvent, StepEvent
    from amlwizard.core.facts import AddedPackage, GraphicsCard

_SIZE_UNITS: Final = (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3), ("B", 1))
_FEW_SECONDS: Final = 4
_ROUND_FROM: Final = 20
_MINUTE: Final = 60
_HOUR: Final = 3600
_NAMES: Final = 10
"""How many packages a sentence names."""


def size_text(bytes_: float, language: str = "en") -> str:
    """Return a number of bytes as ``512 B``, ``1.4 MB`` or ``147 MB``."""
    number, unit = _scaled(bytes_)
    return text("wording.size", language, number=number, unit=unit)


def rate_text(bytes_per_second: float, language: str = "en") -> str:
    """Return a speed as ``11 MB/s``."""
    number, unit = _scaled(bytes_per_second)
    return text("wording.rate", language, number=number, unit=unit)


def number_text(number: int) -> str:
    """Return a whole number with its thousands set apart, as both languages write them: ``18,600``."""
    return f"{number:,}"


def remaining_text(seconds: float, language: str = "en") -> str:
    """Return the time that is left, rounded, as ``about 8 seconds left``."""
    if seconds < _FEW_SECONDS:
        return text("wording.remaining.moment", language)
    if seconds < _ROUND_FROM:
        return text("wording.remaining.seconds", language, number=round(seconds))
    if seconds < _MINUTE - 2:
        return text("wording.remaining.seconds", language, number=round(seconds / 5) * 5)
    minutes = round(seconds / _MINUTE)
    if minutes <= 1:
        return text("wording.remaining.minute", language)
    if seconds < 1.5 * _HOUR:
        return text("wording.remaining.minutes", language, number=minutes)
    return text("wording.remaining.hours", language, number=max(2, round(seconds / _HOUR)))


def duration_text(seconds: float, language: str = "en") -> str:
    """Return a time that has passed, as ``0.2 s``, ``12 s``, ``1 min 05 s`` or ``1 h 02 min``."""
    if seconds < 9.95:
        return text("wording.duration.seconds", language, number=f"{max(0.0, seconds):.1f}")
    whole = round(seconds)
    if whole < _MINUTE:
        return text("wording.duration.seconds", language, number=whole)
    if whole < _HOUR:
        return text("wording.duration.minutes", language, minutes=whole // _MINUTE, seconds=f"{whole % _MINUTE:02d}")
    return text("wording.duration.hours", language, hours=whole // _HOUR, minutes=f"{whole % _HOUR // _MINUTE:02d}")


def clock_text(seconds: float) -> str:
    """Return a running time as ``0:12`` or ``1:02:05``, the same in both languages."""
    whole = int(max(0.0, seconds))
    hours, minutes = whole // _HOUR, whole % _HOUR // _MINUTE
    if hours:
        return f"{hours}:{minutes:02d}:{whole % _MINUTE:02d}"
    return f"{minutes}:{whole % _MINUTE:02d}"


def moment_text(moment: str) -> str:
    """Return one of our UTC times as the clock of this place shows it: ``10:44``, with the date where it is not today.

    What is no time, as in a record that somebody edited, stays as it is.
    """
    try:
        here = datetime.fromisoformat(moment).astimezone()
    except ValueError:
        return moment
    today = here.date() == datetime.now(here.tzinfo).date()
    return here.strftime("%H:%M" if today else "%Y-%m-%d %H:%M")


def amount_text(done: int, total: int | None, unit: str | None, language: str = "en") -> str:
    """Return how far something is, as ``96 of 147 MB``, ``61 of 106 packages`` or, without a total, ``96 MB``.

    ``unit`` is that of a ``StepEvent``: ``bytes``, ``files``, ``packages`` or ``modules``.
    """
    if unit == "bytes":
        if total is None:
            return size_text(done, language)
        number, of_unit = _scaled(total)
        own_number, own_unit = _scaled(done)
        if own_unit != of_unit and done:
            own_number = f"{own_number} {own_unit}"
        return text("wording.amount.size", language, done=own_number, total=number, unit=of_unit)
    if unit not in {"files", "packages", "modules"}:
        unit = "parts"
    if total is None:
        return text(f"wording.amount.{unit}_so_far", language, done=number_text(done))
    return text(f"wording.amount.{unit}", language, done=number_text(done), total=number_text(total))


def step_title(step: str, fallback: str = "", language: str = "en") -> str:
    """Return the title of a step, or the fallback for a step that this version does not know."""
    key = f"step.{step}"
    return text(key, language) if has_text(key) else fallback or step


def progress_text(event: StepEvent, language: str = "en") -> str:
    """Return what a step is doing in one sentence: ``Downloading scipy: 96 of 147 MB in all, about 8 seconds left``."""
    doing = doing_text(event, language)
    if event.done is None:
        return doing
    amount = amount_text(event.done, event.total, event.unit, language)
    seconds = seconds_left(event)
    if seconds is None:
        return text("wording.progress", language, doing=doing, amount=amount)
    return text("wording.progress_left", language, doing=doing, amount=amount, remaining=remaining_text(seconds, language))


def doing_text(event: StepEvent, language: str = "en") -> str:
    """Return what a step does, as ``Downloading packages`` or ``Downloading scipy``."""
    plain = f"doing.{event.id}"
    if event.subject and has_text(f"{plain}.named"):
        return text(f"{plain}.named", language, subject=subject_text(event.subject))
    for key in (f"{plain}.{event.unit}", plain):
        if has_text(key):
            return text(key, language)
    return step_title(event.id, language=language)


def subject_text(subject: str) -> str:
    """Return the short name of what a step works on: a package's name for the file name of its wheel."""
    name = subject.replace("\\", "/").rsplit("/", 1)[-1]
    if name.endswith((".whl", ".whl.part")):
        return name.split("-", 1)[0].replace("_", "-")
    return name


def seconds_left(event: StepEvent) -> float | None:
    """Return the guess of how long a step still needs, or None where nothing tells."""
    if event.done is None or event.total is None or not event.rate or event.done >= event.total:
        return None
    return (event.total - event.done) / event.rate


def _scaled(number: float) -> tuple[str, str]:
    for unit, factor in _SIZE_UNITS:
        # what rounds up to 1000 of a unit is 1.0 of the next
        if number >= factor * (0.9995 if factor > 1 else 1):
            value = number / factor
            return (f"{value:.1f}" if value < 9.95 and factor > 10**3 else f"{value:.0f}"), unit
    return "0", "B"


def changes_lines(event: ChangesEvent, language: str) -> list[str]:
    """Return what changes, one line for each package."""
    lines = [changes_summary(event, language)]
    if not _changes_packages(event):
        return lines
    lines += [f"  {line}" for line in changed_programs(event, language)]
    lines += ["  + " + f"{name} {version}".rstrip() for name, version in event.added]
    lines += ["  - " + f"{name} {version}".rstrip() for name, version in event.removed]
    for name, before, after in event.changed:
        key = "changes.version" if before != after else "changes.content"
        lines.append("  " + text(key, language, name=name, before=before, after=after))
    return lines


def changes_summary(event: ChangesEvent, language: str) -> str:
    """Return one sentence on how much changes."""
    if event.is_empty:
        return text("changes.none", language)
    programs = changed_programs(event, language)
    if not _changes_packages(event):
        return text("changes.programs", language, programs=text("cli.separator", language).join(programs))
    numbers = {
        "added": len(event.added),
        "removed": len(event.removed),
        "changed": len(event.changed) + len(programs),
    }
    parts = [text(f"changes.{kind}", language, number=number) for kind, number in numbers.items() if number]
    return text("changes.summary", language, parts=text("cli.separator", language).join(parts))


def _changes_packages(event: ChangesEvent) -> bool:
    return bool(event.added or event.removed or event.changed)


def changed_programs(event: ChangesEvent, language: str) -> list[str]:
    """Return which of Python and uv change, each with its versions."""
    return [
        text("changes.version", language, name=name, before=versions[0], after=versions[1])
        for name, versions in (("Python", event.python), ("uv", event.uv))
        if versions is not None
    ]


def added_text(added: Iterable[AddedPackage], language: str) -> str:
    """Return what was added by hand, with the version of the lock where another one was put in its place."""
    names = [
        f"{package.name} {package.version}".rstrip()
        if package.locked is None
        else text("added.changed", language, name=package.name, version=package.version, locked=package.locked)
        for package in added
    ]
    more = [text("added.more", language, count=len(names) - _NAMES)] if len(names) > _NAMES else []
    return text("cli.separator", language).join(names[:_NAMES] + more)


def settings_remarks(choices: Choices, language: str) -> list[str]:
    """Return a sentence each on what in the files of settings has no effect."""
    told = [text(phrase.key, language, **phrase.arguments) for phrase in choices.wrong_settings]
    if choices.unknown_settings:
        unknown = text("cli.separator", language).join(choices.unknown_settings)
        told.append(text("remark.unknown", language, settings=unknown))
    return told


def card_text(card: GraphicsCard, language: str) -> str:
    """Return a graphics card with its driver, of which nothing is said where there is none."""
    if card.vendor == APPLE:
        return card.name
    if not card.driver:
        return text("graphics.card.no_driver", language, name=card.name)
    key = "graphics.card.amd" if card.architecture else "graphics.card"
    return text(key, language, name=card.name, driver=card.driver, architecture=card.architecture)
