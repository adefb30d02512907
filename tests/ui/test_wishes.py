"""How a filled form becomes choices."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from amlwizard.core.choices import Choices
from amlwizard.core.organisation import Organisation
from amlwizard.ui.wishes import form_of

ROOT = Path("/aml").absolute()


@pytest.mark.parametrize(("bundle_only", "offline"), [(True, True), (False, False)])
def test_where_only_bundles_are_allowed_the_box_does_not_lead_online(bundle_only: bool, offline: bool) -> None:
    organisation = Organisation(ROOT / "settings.json", frozenset({"proxy"}), bundle_only, None)
    defaults = Choices(ROOT, offline=True, organisation=organisation)
    unticked = replace(form_of(defaults), offline=False)
    assert unticked.choices(defaults).offline is offline
