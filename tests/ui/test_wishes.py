"""How what is typed becomes a wish."""

from __future__ import annotations

import pytest

from amlwizard.ui.wishes import packages_named


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
