"""What all tests share."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support import namespaces as support_namespaces
from tests.support.interpreter_archives import InterpreterArchive, make_interpreter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.namespaces import Circumstances


@pytest.fixture(scope="session")
def interpreter_archive(tmp_path_factory: pytest.TempPathFactory) -> InterpreterArchive:
    """A relocatable interpreter for uv, made once a session from the Python that runs the tests."""
    if sys.platform != "linux":
        pytest.skip("the archive can be made on Linux only")
    return make_interpreter(tmp_path_factory.mktemp("interpreter"))


@pytest.fixture(scope="session")
def circumstances() -> type[Circumstances]:
    """``Circumstances``, where this user can have them; root that does not get namespaces is a failure."""
    reason = support_namespaces.why_not_here()
    if reason:
        pytest.skip(reason)
    support_namespaces.prove_namespaces()
    return support_namespaces.Circumstances


def pytest_collection_finish() -> None:
    """Let no collection of garbage look again at what lives as long as the tests do: themselves and all modules."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def qt_objects_are_freed_where_they_were_made(request: pytest.FixtureRequest) -> Iterator[None]:
    """Collect no garbage in other threads while a test has Qt objects, and all of it here when the test is over."""
    if "qapp" not in request.fixturenames:
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.collect()
        gc.enable()
