"""The ambient settings of pip and uv."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.company_settings import pip_config_files, read_company_settings, uv_config_files

if TYPE_CHECKING:
    from amlwizard.core.company_settings import Sourced

A, B, C = (f"https://{name}.example.org/simple" for name in "abc")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment in which this computer's own files play no part."""
    return {"PIP_CONFIG_FILE": os.devnull, "UV_CONFIG_FILE": str(tmp_path / "no.toml")}


def urls(*addresses: Sourced | None) -> list[str]:
    return [address.url for address in addresses if address is not None]


def test_nothing_is_set(environ: dict[str, str], tmp_path: Path) -> None:
    settings = read_company_settings(environ, tmp_path)
    assert (settings.index_url, settings.extra_index_urls, settings.find_links) == (None, (), ())


@pytest.mark.posix
def test_a_pip_file(environ: dict[str, str], tmp_path: Path) -> None:
    certificate = tmp_path / "ca.pem"
    certificate.touch()
    file = tmp_path / "pip.conf"
    file.write_text(
        f"\ufeff[global]\nindex_url = {A}\nextra-index-url =\n    {B}\n    {C}\nunknown = x\ncert = {certificate}\n"
        f"[install]\nindex-url = {B}\nfind-links = ~/wheels /srv/wheels\n[list]\nformat = columns\n",
        encoding="utf-8",
    )
    settings = read_company_settings(environ | {"PIP_CONFIG_FILE": str(file)}, tmp_path, "macos")
    assert urls(settings.index_url) == [B]
    assert urls(*settings.extra_index_urls) == [B, C]
    assert urls(*settings.find_links)[1] == "/srv/wheels"
    assert settings.cert == certificate
    assert settings.cert_place == str(file)


def test_later_files_and_variables_override(environ: dict[str, str], tmp_path: Path) -> None:
    user, active = tmp_path / ".config" / "pip" / "pip.conf", tmp_path / "env" / "pip.conf"
    for file, url in ((user, A), (active, B)):
        file.parent.mkdir(parents=True)
        file.write_text(f"[global]\nindex-url = {url}\n")
    del environ["PIP_CONFIG_FILE"]
    environ["XDG_CONFIG_DIRS"] = str(tmp_path / "xdg")
    assert urls(read_company_settings(environ, tmp_path, "linux").index_url) == [A]
    environ["VIRTUAL_ENV"] = str(tmp_path / "env")
    assert urls(read_company_settings(environ, tmp_path, "linux").index_url) == [B]
    environ["PIP_INDEX_URL"] = C
    found = read_company_settings(environ, tmp_path, "linux").index_url
    assert found is not None
    assert (found.url, found.place) == (C, "PIP_INDEX_URL")


def test_a_uv_file(environ: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "uv.toml"
    file.write_text(
        f'native-tls = true\nfuture-key = 1\nextra-index-url = ["{B}"]\n'
        f'[[index]]\nname = "company"\nurl = "{A}"\ndefault = true\n'
        f'[[index]]\nname = "torch"\nurl = "https://torch.example.org"\nexplicit = true\n'
        f'[[index]]\nurl = "{C}"\n[pip]\nindex-url = "{C}"\n'
    )
    environ |= {"UV_CONFIG_FILE": str(file), "UV_INDEX_COMPANY_USERNAME": "mei", "UV_INDEX_COMPANY_PASSWORD": "secret"}
    settings = read_company_settings(environ, tmp_path)
    assert urls(settings.index_url, *settings.extra_index_urls) == [A, B, C]
    assert settings.logins == {A: ("mei", "secret")}
    assert "secret" not in repr(settings)


def test_hosts_that_are_not_checked_and_the_mirror_for_interpreters(environ: dict[str, str], tmp_path: Path) -> None:
    pip, uv = tmp_path / "pip.conf", tmp_path / "uv.toml"
    pip.write_text("[global]\ntrusted-host =\n    a.example.org\n    b.example.org:8443\n")
    uv.write_text(
        f'allow-insecure-host = ["c.example.org"]\npython-install-mirror = "{A}"\n'
        '[pip]\nallow-insecure-host = ["d.example.org"]\n'
    )
    environ |= {"PIP_CONFIG_FILE": str(pip), "UV_CONFIG_FILE": str(uv)}
    settings = read_company_settings(environ, tmp_path)
    assert urls(*settings.trusted_hosts) == ["c.example.org", "a.example.org", "b.example.org:8443"]
    assert urls(settings.python_mirror) == [A]
    environ |= {"UV_INSECURE_HOST": "e.example.org", "PIP_TRUSTED_HOST": "f.example.org", "UV_PYTHON_INSTALL_MIRROR": B}
    settings = read_company_settings(environ, tmp_path)
    assert [(host.url, host.place) for host in settings.trusted_hosts] == [
        ("e.example.org", "UV_INSECURE_HOST"),
        ("f.example.org", "PIP_TRUSTED_HOST"),
    ]
    assert urls(settings.python_mirror) == [B]


def test_uv_variables(environ: dict[str, str], tmp_path: Path) -> None:
    environ |= {"UV_INDEX_URL": A, "UV_DEFAULT_INDEX": f"my={B}", "UV_INDEX": f"x={C} {A}", "UV_FIND_LINKS": "/w1,/w2"}
    settings = read_company_settings(environ, tmp_path)
    assert urls(settings.index_url, *settings.extra_index_urls) == [B, C, A]
    assert urls(*settings.find_links) == ["/w1", "/w2"]


@pytest.mark.parametrize(
    "content", [b"[[[", b"\xff\xfe\x00", b"index-url = 5\n[[index]]\nurl = 3\n", b"no section\n", b"index = 4"]
)
def test_broken_files_are_passed_over(environ: dict[str, str], tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "broken"
    file.write_bytes(content)
    environ |= {"PIP_CONFIG_FILE": str(file), "UV_CONFIG_FILE": str(file), "HOME": str(tmp_path)}
    settings = read_company_settings(environ | {"PIP_EXTRA_INDEX_URL": C}, tmp_path, "macos")
    assert (settings.index_url, urls(*settings.extra_index_urls)) == (None, [C])


def test_a_folder_serves_as_an_index(environ: dict[str, str], tmp_path: Path) -> None:
    settings = read_company_settings(environ | {"PIP_INDEX_URL": str(tmp_path)}, tmp_path)
    assert urls(settings.index_url) == [tmp_path.as_uri()]


def test_places_on_each_system(tmp_path: Path) -> None:
    """Simulated: the real algorithm for systems that this one need not be."""
    windows = {"APPDATA": "/appdata", "PROGRAMDATA": "/programdata"}
    assert pip_config_files("windows", windows, tmp_path) == [
        Path("/programdata/pip/pip.ini"),
        tmp_path / "pip" / "pip.ini",
        Path("/appdata/pip/pip.ini"),
    ]
    assert uv_config_files("windows", windows, tmp_path) == [Path("/programdata/uv/uv.toml"), Path("/appdata/uv/uv.toml")]
    assert pip_config_files("macos", {}, tmp_path) == [
        Path("/Library/Application Support/pip/pip.conf"),
        tmp_path / ".pip" / "pip.conf",
        tmp_path / ".config" / "pip" / "pip.conf",
    ]
    assert pip_config_files("linux", {"XDG_CONFIG_DIRS": "/x:/y", "XDG_CONFIG_HOME": "/home-config"}, tmp_path) == [
        Path("/y/pip/pip.conf"),
        Path("/x/pip/pip.conf"),
        Path("/etc/pip.conf"),
        tmp_path / ".pip" / "pip.conf",
        Path("/home-config/pip/pip.conf"),
    ]
    assert pip_config_files("linux", {"PIP_CONFIG_FILE": os.devnull}, tmp_path) == []
    assert uv_config_files("linux", {"UV_NO_CONFIG": "1"}, tmp_path) == []


def test_what_no_system_could_mean_is_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "uv.toml"
    file.write_text("index-url = " + "[" * 100_000, encoding="utf-8")
    long = "x" * 5000
    environ = {"UV_CONFIG_FILE": str(file), "PIP_CONFIG_FILE": f"/{long}", "PIP_INDEX_URL": long, "PIP_CERT": f"/{long}"}
    settings = read_company_settings(environ, tmp_path)
    assert urls(settings.index_url) == [long]
    assert settings.cert is None


@pytest.mark.posix
@pytest.mark.parametrize("value", ["~nobody-of-this-name/x", "~\0/x", "a\0b"])
def test_a_home_that_nobody_has_is_no_folder(environ: dict[str, str], tmp_path: Path, value: str) -> None:
    file = tmp_path / "pip.conf"
    file.write_text(f"[global]\nindex-url = {value}\ncert = {value}\nfind-links = {value}\n", encoding="utf-8")
    settings = read_company_settings({**environ, "PIP_CONFIG_FILE": str(file)}, tmp_path)
    assert urls(settings.index_url) == [value]
    assert urls(*settings.find_links) == [str(tmp_path / value)]
    assert settings.cert is None


@pytest.mark.parametrize("content", [b"[global\nindex-url = x\n", "[global]\nindex-url = x\n".encode("utf-16")])
def test_a_file_that_cannot_be_read_is_named(environ: dict[str, str], tmp_path: Path, content: bytes) -> None:
    pip, uv = tmp_path / "pip.conf", tmp_path / "uv.toml"
    pip.write_bytes(content)
    uv.write_bytes(content)
    environ |= {"PIP_CONFIG_FILE": str(pip), "UV_CONFIG_FILE": str(uv)}
    assert read_company_settings(environ, tmp_path, "macos").broken == (str(pip), str(uv))


@pytest.mark.parametrize(
    "content",
    [
        *("index-url = 5", 'index = "x"', "index = [1]", '[[index]]\nname = "a"', "[[index]]\nurl = []", "pip = 1"),
        *('[[index]]\nurl = "https://a.example.org"\ndefault = "x"', 'find-links = "x"', '[pip]\nextra-index-url = "x"'),
    ],
)
def test_b27_a_file_that_uv_itself_would_refuse_is_named(environ: dict[str, str], tmp_path: Path, content: str) -> None:
    uv = tmp_path / "uv.toml"
    uv.write_text(content, encoding="utf-8")
    settings = read_company_settings({**environ, "UV_CONFIG_FILE": str(uv)}, tmp_path)
    assert settings.broken == (str(uv),)
    assert (settings.index_url, settings.extra_index_urls) == (None, ())


def test_b27_a_file_that_a_variable_names_and_that_is_not_there_is_named(environ: dict[str, str], tmp_path: Path) -> None:
    uv = tmp_path / "uv.toml"
    assert read_company_settings({**environ, "UV_CONFIG_FILE": str(uv)}, tmp_path).broken == (str(uv),)


def test_variables_that_are_not_used_are_named_for_uv_as_for_pip(environ: dict[str, str], tmp_path: Path) -> None:
    environ |= {"PIP_NO_INDEX": "1", "UV_NO_INDEX": "true", "UV_EXCLUDE_NEWER": "2024-01-01", "UV_OFFLINE": "0"}
    named = ("no-index (PIP_NO_INDEX)", "exclude-newer (UV_EXCLUDE_NEWER)", "no-index (UV_NO_INDEX)")
    assert read_company_settings(environ, tmp_path).unused == named


@pytest.mark.posix
def test_what_is_not_used_is_named_and_the_proxy_is_used(environ: dict[str, str], tmp_path: Path) -> None:
    pip, uv = tmp_path / "pip.conf", tmp_path / "uv.toml"
    pip.write_text(
        "[global]\nproxy = proxy.example.org:3128\nclient-cert = /c\ncert = /nope\nno-index = true\nconstraint = /x\n"
        "[install]\nno-index = false\n"
    )
    uv.write_text('exclude-newer = "2024-01-01"\noffline = false\n[pip]\nprerelease = "allow"\n')
    environ |= {"PIP_CONFIG_FILE": str(pip), "UV_CONFIG_FILE": str(uv), "SSL_CERT_FILE": "/nope.pem"}
    settings = read_company_settings(environ, tmp_path, "macos")
    of_pip = [f"{name} ({pip})" for name in ("client-cert", "constraint", "cert /nope")]
    of_uv = [f"{name} ({uv})" for name in ("prerelease", "exclude-newer")]
    assert settings.unused == (*of_pip, *of_uv, "SSL_CERT_FILE /nope.pem")
    assert urls(settings.proxy) == ["http://proxy.example.org:3128"]
    environ["https_proxy"] = "http://other.example.org:1"
    named = read_company_settings(environ, tmp_path, "macos")
    assert named.proxy is None
    assert f"proxy ({pip})" in named.unused
