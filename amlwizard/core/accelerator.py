"""What is said where an accelerator was chosen and does nothing: a choice is not passed over in silence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amlwizard.core.catalogue import text
from amlwizard.core.wish import fixes_accelerator

if TYPE_CHECKING:
    from amlwizard.core.choices import Choices
    from amlwizard.core.wish import Wish


def accelerator_remark(choices: Choices, wish: Wish, language: str) -> str:
    """Return the sentence on an accelerator without effect, empty where it has one.

    Of a profile with several builds of PyTorch it is told which one is taken. A setting is for everything that the user
    installs, so it is told only where a package would have followed it.
    """
    chosen, fixes = choices.accelerator, fixes_accelerator(wish)
    if chosen in (None, wish.accelerator) or fixes is None or (wish.profile is not None and wish.profile.builds):
        return ""
    if fixes:
        return text("remark.accelerator_fixed", language, accelerator=chosen, name=wish.name)
    if choices.accelerator_from_setting:
        return ""
    return text("remark.accelerator_unused", language, accelerator=chosen, name=wish.name)
