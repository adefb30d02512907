"""What the start of a frozen program changes among the variables, and who does not get to see it."""

from __future__ import annotations

from amlwizard.core.child_env import session_environment
from amlwizard.frozen_start import give_back_variables

PACKED = {
    "LD_LIBRARY_PATH": "/app/_internal",
    "QT_PLUGIN_PATH": "/app/_internal/PySide6/Qt/plugins",
    "QML2_IMPORT_PATH": "/app/_internal/PySide6/Qt/qml",
    "_PYI_ARCHIVE_FILE": "/app/amlwizard",
    "QT_SCALE_FACTOR": "2",
    "PATH": "/usr/bin",
}


def test_b29_what_qt_starts_gets_no_library_path_of_the_frozen_program() -> None:
    environ = dict(PACKED)
    give_back_variables(environ, frozen=True)
    assert environ == {"QT_SCALE_FACTOR": "2", "PATH": "/usr/bin"}


def test_b29_the_users_own_library_path_is_given_back_and_still_known_to_children() -> None:
    environ = PACKED | {"LD_LIBRARY_PATH_ORIG": "/opt/lib"}
    give_back_variables(environ, frozen=True)
    assert environ["LD_LIBRARY_PATH"] == "/opt/lib"
    assert session_environment(environ, frozen=True)["LD_LIBRARY_PATH"] == "/opt/lib"


def test_a_program_that_is_not_frozen_leaves_them_alone() -> None:
    environ = dict(PACKED)
    give_back_variables(environ)
    assert environ == PACKED
