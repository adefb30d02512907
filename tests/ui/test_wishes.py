"""How what is typed and filled in becomes a wish."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from amlwizard.core.choices import Choices
from amlwizard.core.organisation import Organisation
from amlwizard.ui.wishes import form_of, packages_named

ROOT = Path("/aml").absolute()


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("", ()),
        ("  ,  ", ()),
        ("polars", ("polars",)),
        ("polars altair", ("polars", "altair")),
        ("polars, altair,seaborn", ("polars", "altair", "seaborn")),
        ("polars，altair、seaborn", ("polars", "altair", "seaborn")),
        ("polars,", ("polars",)),
        ("numpy == 2.1 pandas>=2,<3", ("numpy==2.1", "pandas>=2,<3")),
        ("numpy >= 2, < 3, pandas", ("numpy>=2,<3", "pandas")),
        ("dask[array,dataframe] dask[array, complete]", ("dask[array,dataframe]", "dask[array,complete]")),
        ("\"scikit-learn>=1.5\" 'polars'", ("scikit-learn>=1.5", "polars")),
        ("mine @ https://files.example.org/mine-1.0.whl", ("mine@https://files.example.org/mine-1.0.whl",)),
    ],
)
def test_packages_are_named_in_one_line_in_whatever_way(line: str, names: tuple[str, ...]) -> None:
    assert packages_named(line) == names


@pytest.mark.parametrize(("bundle_only", "offline"), [(True, True), (False, False)])
def test_where_only_bundles_are_allowed_the_box_does_not_lead_online(bundle_only: bool, offline: bool) -> None:
    organisation = Organisation(ROOT / "settings.json", frozenset({"proxy"}), bundle_only, None)
    defaults = Choices(ROOT, offline=True, organisation=organisation)
    unticked = replace(form_of(defaults), offline=False)
    assert unticked.choices(defaults).offline is offline
