"""What a report must not show is taken out, in every form; what helps stays."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path

import pytest

from amlwizard.core.diagnose.known_secrets import known_secrets
from amlwizard.core.diagnose.redaction import Redactor, host_of

PASSWORD = 'p"w d/密码9'
HOME = Path("/home/mei.li")


@pytest.fixture
def redactor() -> Redactor:
    return Redactor({PASSWORD, "correct-horse"}, HOME)


def test_a_password_goes_in_every_form(redactor: Redactor) -> None:
    for form in (PASSWORD, json.dumps(PASSWORD), repr(PASSWORD)):
        assert "密码9" not in redactor.text(f"said {form}.")
        assert "\\u5bc6" not in redactor.text(f"said {form}.")


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("https://user:pw@index.example.org/simple/", "https://****@index.example.org/simple/"),
        ("https://files.example.org/a.whl?X-Amz=abc#sha256=1", "https://files.example.org/a.whl?****#sha256=1"),
        ("https://index.example.org/k3Yk3Yk3Yk3Yk3Y0/simple", "https://index.example.org/****/simple"),
        ("https://files.example.org/numpy-2.1.0-cp311-cp311-manylinux_2_17_x86_64.whl", None),
    ],
)
def test_of_an_address_stays_what_helps(redactor: Redactor, address: str, kept: str | None) -> None:
    assert redactor.text(f"GET {address}") == f"GET {kept or address}"


def test_a_short_secret_goes_as_a_word_alone() -> None:
    redactor = Redactor({"file", "a/b"}, HOME)
    assert redactor.text("file is not files, a%2Fb nor a/b") == "**** is not files, **** nor ****"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/mei.li/aml/.venv", "~/aml/.venv"),
        ("file:///home/mei.li/wheels", "file://~/wheels"),
        ("/home/mei.lin/aml", "/home/mei.lin/aml"),
        ("/mnt/mei.li/data", "/mnt/****/data"),
        ("C:\\Users\\mei.li\\aml", "C:\\Users\\****\\aml"),
    ],
)
def test_the_home_folder_is_a_tilde(redactor: Redactor, text: str, shown: str) -> None:
    assert redactor.text(text) == shown


def test_windows_paths_are_found_in_json_as_well() -> None:
    home = Path("/h").with_name("Users") / "mei"
    redactor = Redactor((), home)
    assert redactor.text(json.dumps(str(home / "aml"))) == f'"{Path("~") / "aml"}"'.replace("\\", "\\\\")


def test_a_home_at_the_root_of_the_disk_takes_nothing_out() -> None:
    assert Redactor((), Path("/")).text("/usr/bin/python3") == "/usr/bin/python3"


def test_values_are_redacted_by_their_keys_too(redactor: Redactor) -> None:
    value = {"password": "x", "correct-horse": [{"path": HOME / "a"}, True, None, 3], "indexPassword": "", "tokens": 4}
    assert redactor.value(value) == {
        "password": "****",
        "****": [{"path": str(Path("~") / "a")}, True, None, 3],
        "indexPassword": "",
        "tokens": 4,
    }


def test_a_private_key_goes_although_its_end_is_missing(redactor: Redactor) -> None:
    text = redactor.text("-----BEGIN RSA PRIVATE KEY-----\nMIIabc\nMIIdef\n")
    assert "MII" not in text


class TestKnownSecrets:
    def test_come_from_variables_logins_and_files(self, tmp_path: Path) -> None:
        netrc = tmp_path / "netrc"
        netrc.write_text("machine index.example.org login bob password in-netrc\n", encoding="utf-8")
        settings = tmp_path / "uv.toml"
        settings.write_text('[[index]]\nurl = "https://u:in%20toml@index.example.org/simple"\n', encoding="utf-8")
        environ = {
            "HF_TOKEN": "in-token",
            "UV_INDEX_CORP_PASSWORD": "in-variable",
            "HTTPS_PROXY": "http://bob:in-proxy@proxy.example.org:3128",
            "ANYTHING": "k3Yk3Yk3Yk3Yk3Y0",
            "PASSWORD_FILE": str(tmp_path / "db"),
            "PWD": str(tmp_path),
            "MY_PASSWORD": "true",
        }
        found = known_secrets(environ, {"https://x": ("bob", "of-run")}, [netrc, settings, tmp_path / "absent", tmp_path])
        for secret in ("in-netrc", "in toml", "in-token", "in-variable", "in-proxy", "of-run", "k3Yk3Yk3Yk3Yk3Y0"):
            assert secret in found
        assert b64encode(b"bob:of-run").decode() in found
        assert not found & {str(tmp_path / "db"), str(tmp_path), "true", "bob"}

    def test_what_only_looks_like_a_password_does_not(self, tmp_path: Path) -> None:
        file = tmp_path / "requirements.txt"
        file.write_text("# the token from the portal\ntokenizers==0.15.2\nsecretstorage>=3.3\n", encoding="utf-8")
        assert known_secrets({"TERM": "xterm-256color", "OLDPWD": "/home/mei"}, {}, [file]) == frozenset()

    def test_a_netrc_that_is_broken_elsewhere_is_read(self, tmp_path: Path) -> None:
        netrc = tmp_path / ".netrc"
        netrc.write_text(
            'machine x login y password "with \\"blanks\\" in"\nnonsense here password plain-one', encoding="utf-8"
        )
        assert {'with "blanks" in', "plain-one"} <= known_secrets({}, {}, [netrc])

    def test_a_token_in_the_place_of_the_name_counts(self) -> None:
        assert "t0ken-alone" in known_secrets({"UV_DEFAULT_INDEX": "https://t0ken-alone@index.example.org"}, {}, [])


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("http://bob:pw@proxy.example.org:3128/x", "proxy.example.org:3128"),
        ("proxy.example.org:3128", "proxy.example.org:3128"),
        ("https://index.example.org/simple", "index.example.org"),
        ("http://bob:pw@proxy.example.org:port", "?"),
    ],
)
def test_of_a_proxy_only_the_host_is_shown(address: str, host: str) -> None:
    assert host_of(address) == host
