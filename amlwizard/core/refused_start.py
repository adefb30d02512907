"""What the system says where it does not start a program: a policy, a security product, or a file for other systems.

Numbers of Windows: AppLocker and software restriction 1260, App Control (WDAC) and Smart App Control 4551, a signature that
must be there and is not 577, a security product 225 and 226, a file for another machine 193 and 216
(learn.microsoft.com, "System Error Codes"). On POSIX a policy such as fapolicyd or an AppArmor profile answers EPERM, and a
program whose loader is not installed (glibc's on a system with musl) looks like a missing file; runners know.
"""

from __future__ import annotations

import errno
import re
import sys
from typing import TYPE_CHECKING, Final

from amlwizard.core.errors import AmlError
from amlwizard.core.host import system_name

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.running import NotStarted

POLICY: Final = "AML_BLOCKED_BY_POLICY"
VIRUS: Final = "AML_TAKEN_FOR_VIRUS"
BINARY: Final = "AML_WRONG_BINARY"

_ON_WINDOWS: Final = {
    **dict.fromkeys((577, 1260, 4551), POLICY),
    **dict.fromkeys((225, 226), VIRUS),
    **dict.fromkeys((193, 216), BINARY),
}
_ON_POSIX: Final = {errno.EPERM: POLICY, errno.ENOEXEC: BINARY, getattr(errno, "EBADARCH", errno.ENOEXEC): BINARY}

_WORDS: Final = (
    (re.compile(r"group policy|application control policy|组策略|应用程序控制策略", re.IGNORECASE), POLICY),
    (re.compile(r"contains a virus|potentially unwanted software|包含病毒", re.IGNORECASE), VIRUS),
    (re.compile(r"not a valid Win32 application|不是有效的 Win32 应用程序", re.IGNORECASE), BINARY),
)
"""Qt tells the system's sentence and no number."""


def refused_start(refused: NotStarted, system: str) -> str | None:
    """Return the code for why the system does not start a program, None where it is none of these.

    Args:
        refused: what the runner says.
        system: ``windows``, ``macos`` or ``linux``.
    """
    if system == "windows":
        by_number = _ON_WINDOWS.get(refused.error or 0)
        return by_number or next((code for words, code in _WORDS if words.search(refused.reason)), None)
    return _ON_POSIX.get(refused.error or 0)


def not_started(program: str | Path, refused: NotStarted) -> AmlError:
    """Return the error for a program that this computer did not start."""
    code = refused_start(refused, system_name(sys.platform)) or "AML_TOOL_NOT_STARTED"
    return AmlError(code, program=str(program), reason=refused.reason)
