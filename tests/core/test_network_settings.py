"""The settings of the network as a person sees and changes them."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.catalogue import Phrase, error_texts
from amlwizard.core.errors import RefusedError
from amlwizard.core.network_settings import (
    KEYS,
    Found,
    NetworkSettings,
    changed_settings,
    login_places,
    read_network_settings,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NOTHING = NetworkSettings(dict.fromkeys(KEYS, ""))
PEM = "-----BEGIN CERTIFICATE-----\nMAAB\n-----END CERTIFICATE-----\n"


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """The folders of the user's and of the machine-wide settings."""
    user, site = tmp_path / "user", tmp_path / "site"
    user.mkdir()
    site.mkdir()
    return user, site


def read(places: tuple[Path, Path], home: Path, environ: Mapping[str, str]) -> NetworkSettings:
    user, site = places
    quiet = {"PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1"}
    return read_network_settings({**quiet, **environ}, home, user_dir=user, site_dir=site)


def test_values_and_who_fixed_them(places: tuple[Path, Path], tmp_path: Path) -> None:
    user, site = places
    (user / "settings.json").write_text(
        json.dumps(
            {
                "proxy": "http://own.example.org:1",
                "extraIndexUrls": ["https://li:hunter2@a.example.org", "https://b.example.org"],
            }
        )
    )
    (site / "settings.json").write_text(json.dumps({"proxy": "http://all.example.org:2", "locked": ["proxy"]}))
    settings = read(places, tmp_path, {"AML_INDEX_URL": "https://mei:hunter2@index.example.org/simple"})
    assert settings.values == {
        "indexUrl": "https://index.example.org/simple",
        "extraIndexUrls": "https://a.example.org https://b.example.org",
        "pythonMirror": "",
        "proxy": "http://all.example.org:2",
        "caFile": "",
    }
    assert settings.fixed == {
        "indexUrl": Phrase("network.variable", {"name": "AML_INDEX_URL"}),
        "proxy": Phrase("network.organisation"),
    }


def test_what_a_company_set_is_found_without_its_logins(places: tuple[Path, Path], tmp_path: Path) -> None:
    certificate = tmp_path / "ca.pem"
    certificate.write_text(PEM)
    variables = {
        "PIP_INDEX_URL": "https://mei:hunter2@index.example.org/simple",
        "PIP_EXTRA_INDEX_URL": "https://a.example.org no-address",
        "PIP_CERT": str(certificate),
        "UV_PYTHON_INSTALL_MIRROR": "https://python.example.org",
    }
    settings = read(places, tmp_path, variables)
    assert settings.found == (
        Found("indexUrl", "https://index.example.org/simple", "PIP_INDEX_URL"),
        Found("extraIndexUrls", "https://a.example.org", "PIP_EXTRA_INDEX_URL"),
        Found("pythonMirror", "https://python.example.org", "UV_PYTHON_INSTALL_MIRROR"),
        Found("caFile", str(certificate), "PIP_CERT"),
    )
    assert settings.found_values()["extraIndexUrls"] == "https://a.example.org"
    assert "hunter2" not in repr(settings)


def test_a_list_of_mirrors_that_cannot_be_read_is_told_and_all_else_is_there(
    places: tuple[Path, Path], tmp_path: Path
) -> None:
    assert read(places, tmp_path, {}).mirrors
    (places[0] / "mirrors.json").write_text("{")
    settings = read(places, tmp_path, {})
    assert settings.problem is not None
    assert settings.problem.code == "AML_SETTINGS_UNREADABLE"
    assert settings.mirrors == ()


def test_only_what_was_changed_is_written_and_logins_are_taken_out(tmp_path: Path) -> None:
    certificate = tmp_path / "ca.pem"
    certificate.write_text(PEM)
    before = NetworkSettings(
        {**NOTHING.values, "pythonMirror": "https://old.example.org", "proxy": "http://p.example.org:1"},
        fixed={"proxy": Phrase("network.organisation")},
    )
    changes, logins = changed_settings(
        before,
        {
            "indexUrl": " https://mei:hunter2@index.example.org/simple ",
            "extraIndexUrls": "https://a.example.org/simple  https://b.example.org/simple",
            "pythonMirror": "",
            "proxy": "http://other.example.org",
            "caFile": str(certificate),
        },
    )
    assert changes == {
        "indexUrl": "https://index.example.org/simple",
        "extraIndexUrls": ["https://a.example.org/simple", "https://b.example.org/simple"],
        "pythonMirror": None,
        "caFile": str(certificate),
    }
    assert logins == {"https://index.example.org": ("mei", "hunter2")}
    assert changed_settings(before, before.values) == ({}, {})
    assert changed_settings(NOTHING, {"proxy": "proxy.example.org:8080"})[0] == {"proxy": "http://proxy.example.org:8080"}


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        ("indexUrl", "index.example.org", "AML_INDEX_URL_INVALID"),
        ("extraIndexUrls", "https://a.example.org ftp://b.example.org", "AML_INDEX_URL_INVALID"),
        ("indexUrl", "https://a.example.org https://b.example.org", "AML_INDEX_URL_INVALID"),
        ("pythonMirror", "python.example.org", "AML_URL_INVALID"),
        ("proxy", "socks5://proxy.example.org:1", "AML_URL_INVALID"),
        ("caFile", "company.pem", "AML_CA_FILE_MISSING"),
        ("caFile", "/no/such/file.pem", "AML_CA_FILE_MISSING"),
        ("caFile", __file__, "AML_CA_FILE_INVALID"),
    ],
)
def test_what_cannot_be_used_is_refused_by_the_name_of_its_field(key: str, value: str, code: str) -> None:
    with pytest.raises(RefusedError) as refusal:
        changed_settings(NOTHING, {key: value})
    assert refusal.value.code == code
    field = {"indexUrl": "软件包索引", "extraIndexUrls": "其他索引", "pythonMirror": "Python 来源", "proxy": "代理"}
    assert field.get(key, "公司证书") in error_texts(refusal.value, "zh_CN")[0]


def test_sign_ins_are_for_hosts() -> None:
    values = {
        "indexUrl": "https://index.example.org/simple",
        "extraIndexUrls": "https://index.example.org/other file:///srv/wheels nothing http://127.0.0.1:8000/simple",
        "proxy": "proxy.example.org:8080",
    }
    assert login_places(values) == ["https://index.example.org", "http://127.0.0.1:8000", "http://proxy.example.org:8080"]
