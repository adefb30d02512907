"""What the journal keeps of a first installation until a lock tells it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.begun import begun_choices, forget_begun, note_begun
from amlwizard.core.choices import Choices, IndexStrategy
from amlwizard.core.environment.commit import recover
from amlwizard.core.journal import Action, Journal, read_journal, write_journal
from amlwizard.core.paths import Workspace
from amlwizard.core.records import write_record
from amlwizard.core.wish import Wish, make_wish

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    workspace = Workspace(tmp_path / "aml")
    workspace.runtime.mkdir(parents=True)
    return workspace


def wish_of(choices: Choices) -> Wish:
    """What is wished by these choices."""
    return make_wish(choices, Workspace(choices.root), {})


def test_what_was_wished_comes_back_and_nothing_else(workspace: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "requirements.txt"
    file.write_text("tinya\n")
    places = ("https://more.example.org/simple", "https://files.example.org/")
    wished = Choices(
        workspace.root,
        requirements=file,
        python="3.12",
        accelerator="cpu",
        index_url="https://index.example.org/simple",
        extra_index_urls=places[:1],
        index_strategy=IndexStrategy.UNSAFE_BEST_MATCH,
        find_links=places,
        offline=True,
    )
    note_begun(workspace, wished, wish_of(wished))
    assert recover(workspace) is None  # whatever run comes in between
    plain = Choices(workspace.root, profile="minimal", python="3.10", index_url="https://elsewhere.example.org/")
    assert begun_choices(workspace, plain) == replace(wished, offline=False)
    of_profile = Choices(workspace.root, profile="minimal")
    note_begun(workspace, of_profile, wish_of(of_profile))
    assert begun_choices(workspace, Choices(workspace.root)) == of_profile
    forget_begun(workspace)
    assert begun_choices(workspace, plain) is None


def test_a_lock_that_tells_another_wish_is_not_left_to_contradict(workspace: Workspace) -> None:
    choices = Choices(workspace.root, profile="minimal")
    about = '[tool.amlwizard]\nkind = "profile"\nname = "{}"\ndigest = "0"\npython = "3.11.7"\n'
    for name, stays in (("minimal", True), ("default", False)):
        workspace.next_lock.write_text(about.format(name))
        note_begun(workspace, choices, wish_of(choices))
        assert workspace.next_lock.exists() is stays


@pytest.mark.parametrize("wished", [[], "x", None])
def test_a_journal_that_cannot_be_read_tells_nothing(workspace: Workspace, wished: object) -> None:
    write_record(workspace.journal, {"action": "begin", "build": "", "had_old": False, "wished": wished})
    assert begun_choices(workspace, Choices(workspace.root)) is None


def test_what_is_being_built_is_not_forgotten(workspace: Workspace) -> None:
    write_journal(workspace, Journal(Action.STAGE, "build", had_old=False))
    forget_begun(workspace)
    assert read_journal(workspace) is not None
    assert begun_choices(workspace, Choices(workspace.root)) is None
