"""Whether what there is will do for what is wanted; refused while nothing has been changed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from packaging.pylock import Pylock

from amlwizard.core.choices import UvMethod
from amlwizard.core.detection.bundled import uv_at_hand
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.host import host_facts
from amlwizard.core.locked_sources import refuse_other_sources
from amlwizard.core.python_install import find_archive, newest_patch, wanted_version
from amlwizard.core.storing import wanted_files

if TYPE_CHECKING:
    from amlwizard.core.choices import Choices
    from amlwizard.core.context import RunContext
    from amlwizard.core.wish import Wish


def check_organisation(wish: Wish, choices: Choices) -> None:
    """Refuse what the organisation does not allow; blocks for a moment.

    Raises:
        RefusedError: ``AML_ROOT_NOT_ALLOWED``, ``AML_BUNDLE_ONLY`` or ``AML_SETTING_LOCKED``.
    """
    if choices.organisation is not None:
        choices.organisation.refuse_root(choices.root)
        choices.organisation.refuse_without_bundle(wish)
        refuse_other_sources(wish, choices, choices.organisation)


def check_bundle(wish: Wish, choices: Choices) -> None:
    """Refuse a bundle that is not for this computer, or not for the Python that was named.

    Raises:
        RefusedError: as the bundle says.
    """
    if wish.bundle is None:
        return
    wish.bundle.check_fits(host_facts())
    if choices.python_version is not None:
        wish.bundle.check_python(choices.python_version)


def check_found(run: RunContext) -> None:
    """Refuse the interpreter that was found, or that none was, where nothing else can take its place.

    Raises:
        RefusedError: the bundle is for another Python, or ``AML_NO_PYTHON_WITHOUT_UV``: only uv could bring one.
    """
    facts, bundle = run.facts, run.wish.bundle
    if facts.python is not None:
        if bundle is not None and facts.python.python is not None:
            bundle.check_python(facts.python.python.version_text)
        return
    if run.choices.uv_method is not UvMethod.NONE:
        return
    incomplete = (
        candidate.python
        for candidate in facts.candidates
        if candidate.python is not None and candidate.reason.startswith("candidate.needs_uv")
    )
    minor = next((python.minor for python in incomplete), "3")
    raise RefusedError("AML_NO_PYTHON_WITHOUT_UV", package=f"python{minor}-venv")


def check_lock(run: RunContext) -> None:
    """Refuse a lock that was given and can be installed on no Python that is here or would be set up; blocks.

    Raises:
        RefusedError: ``AML_LOCK_PYTHON``, or what else a step would say of the lock.
    """
    wish = run.wish
    if wish.lock_file is None or wish.resolved is not None or not isinstance(wish.content, Pylock):
        return
    run.python = run.python or run.facts.interpreter
    if run.python is not None:
        try:
            wanted_files(run, wish.content)
        except AmlError as error:
            raise RefusedError(error.code, detail=error.detail, **error.arguments) from error
    elif run.choices.python is None:
        version, allowed = wanted_version(run), wish.python_range
        if allowed is not None and not allowed.contains(newest_patch(version)):
            raise RefusedError("AML_LOCK_PYTHON", wanted=str(allowed), python=version)


def check_range(run: RunContext) -> None:
    """Refuse a version that what is wanted cannot be used with.

    Raises:
        RefusedError: ``AML_PYTHON_NOT_IN_RANGE``.
    """
    wanted, allowed = run.choices.python_version, run.wish.python_range
    if wanted is None or run.wish.bundle is not None:
        return
    if allowed is not None and not allowed.contains(newest_patch(wanted)):
        raise RefusedError("AML_PYTHON_NOT_IN_RANGE", wanted=wanted, allowed=str(allowed))


async def check_version(run: RunContext) -> None:
    """Refuse a version that cannot be used or had; that of a bundle has been looked at with it.

    Raises:
        RefusedError: ``AML_PYTHON_NOT_IN_RANGE`` or ``AML_PYTHON_VERSION_UNAVAILABLE``.
    """
    check_range(run)
    wanted, facts = run.choices.python_version, run.facts
    if wanted is None or run.wish.bundle is not None:
        return
    uv = uv_at_hand(facts)
    if facts.python is not None or uv is None or run.choices.offline:
        return
    if await find_archive(replace(run, uv=uv), wanted) is None:
        raise RefusedError("AML_PYTHON_VERSION_UNAVAILABLE", wanted=wanted, platform=facts.host.platform)
