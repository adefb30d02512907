"""Why a system does not start a program: the real numbers and sentences of the systems, as facts."""

from __future__ import annotations

import errno
import os

import pytest

from amlwizard.core.catalogue import LANGUAGES, error_texts
from amlwizard.core.errors import AmlError
from amlwizard.core.refused_start import not_started, refused_start
from amlwizard.core.running import NotStarted


@pytest.mark.parametrize(
    ("system", "reason", "number", "code"),
    [
        ("windows", "", 1260, "AML_BLOCKED_BY_POLICY"),
        ("windows", "", 4551, "AML_BLOCKED_BY_POLICY"),
        ("windows", "", 577, "AML_BLOCKED_BY_POLICY"),
        ("windows", "", 225, "AML_TAKEN_FOR_VIRUS"),
        ("windows", "", 193, "AML_WRONG_BINARY"),
        ("windows", "", 216, "AML_WRONG_BINARY"),
        ("windows", "This program is blocked by group policy. For more information", None, "AML_BLOCKED_BY_POLICY"),
        ("windows", "此程序被组策略阻止。有关详细信息，请与系统管理员联系。", None, "AML_BLOCKED_BY_POLICY"),
        ("windows", "An Application Control policy has blocked this file.", None, "AML_BLOCKED_BY_POLICY"),
        ("windows", "the file contains a virus or potentially unwanted software.", None, "AML_TAKEN_FOR_VIRUS"),
        ("windows", "%1 is not a valid Win32 application.", None, "AML_WRONG_BINARY"),
        ("windows", "Access is denied.", 5, None),
        ("windows", "The system cannot find the file specified.", 2, None),
        ("linux", "", errno.EPERM, "AML_BLOCKED_BY_POLICY"),
        ("linux", "", errno.ENOEXEC, "AML_WRONG_BINARY"),
        ("linux", "", errno.EACCES, None),
        ("linux", "", errno.ENOENT, None),
        ("linux", "", 1260, None),
        ("macos", "", errno.ENOEXEC, "AML_WRONG_BINARY"),
        ("macos", "", None, None),
    ],
)
def test_b39_what_forbids_a_start_is_told_apart(system: str, reason: str, number: int | None, code: str | None) -> None:
    """Simulated: what Windows and macOS answer; the rule is the real one."""
    assert refused_start(NotStarted(reason, number), system) == code


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOEXEC, errno.ENOENT])
def test_the_error_names_the_program_and_what_the_system_said(number: int) -> None:
    error = not_started("/srv/aml/tools/uv", NotStarted(os.strerror(number), number))
    assert isinstance(error, AmlError)
    for language in LANGUAGES:
        message, hint = error_texts(error, language)
        assert "/srv/aml/tools/uv" in message
        assert os.strerror(number) in message
        assert hint
