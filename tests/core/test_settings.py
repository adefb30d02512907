"""Settings files, variables and options, and how they become choices."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from amlwizard.core.catalogue import LANGUAGES, error_texts
from amlwizard.core.choices import Choices, IndexStrategy, UvMethod
from amlwizard.core.errors import RefusedError
from amlwizard.core.settings import Source, load_settings, machine_settings_file, resolve_choices, save_user_settings
from amlwizard.core.settings_files import chosen_language
from amlwizard.core.wording import settings_remarks
from tests.support.locked_out import locked_out

A, B, C = (f"https://{name}.example.org/simple" for name in "abc")
SECRET = "s3cr3t-word"
CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"
WITH_LOGIN = f"https://mei:{SECRET}@a.example.org/simple"


@dataclass
class Desk:
    """The user's and the machine's settings of one test."""

    folder: Path
    environ: dict[str, str]

    def write(self, who: str, **record: object) -> Path:
        file = self.folder / who / "settings.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps({"format": 1, **record}))
        return file

    def resolve(self, **options: Any) -> Choices:
        settings = load_settings(self.environ, self.folder / "user", self.folder / "machine")
        return resolve_choices(settings, self.environ, self.folder / "cwd", **options)

    def refusal(self, **options: Any) -> RefusedError:
        with pytest.raises(RefusedError) as caught:
            self.resolve(**options)
        for language in LANGUAGES:
            message, hint = error_texts(caught.value, language)
            assert message
            assert hint
            assert SECRET not in message + hint
        assert SECRET not in str(caught.value)
        return caught.value


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "cwd").mkdir()
    home = tmp_path / "home"
    home.mkdir()
    environ = {"HOME": str(home), "USERPROFILE": str(home), "PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1"}
    return Desk(tmp_path, environ)


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def test_defaults(desk: Desk) -> None:
    assert desk.resolve() == Choices(root=desk.folder / "home" / "aml")


def test_a_relative_home_gives_no_relative_root(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(desk.folder)
    for name in ("HOME", "USERPROFILE"):
        desk.environ[name] = "home"
        monkeypatch.setenv(name, "home")
    assert desk.resolve().root == desk.folder / "home" / "aml"


@pytest.mark.parametrize(("who", "language"), [("user", "zh_CN"), ("machine", "zh_CN"), ("user", "tlh"), ("user", 5)])
def test_the_language_of_the_settings_comes_before_the_systems(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, who: str, language: object
) -> None:
    monkeypatch.setenv("LC_ALL", "en_US.UTF-8")
    desk.write(who, language=language)
    expected = "zh_CN" if language == "zh_CN" else "en"
    assert chosen_language({}, desk.folder / "user", desk.folder / "machine") == expected


def test_a_language_that_there_is_not_is_told(desk: Desk) -> None:
    file = desk.write("user", language="tlh")
    choices = desk.resolve()
    assert choices.unknown_settings == ()
    assert settings_remarks(choices, "en") == [f"The language tlh in {file} is none that amlwizard has: en, zh_CN."]


def test_later_wins(desk: Desk) -> None:
    desk.write("machine", root="/srv/machine", indexUrl=A, proxy="http://proxy.example.org:3128")
    assert desk.resolve().index_url == A
    user = desk.write("user", indexUrl=B)
    settings = load_settings(desk.environ, desk.folder / "user", desk.folder / "machine")
    assert (settings.values["indexUrl"].source, settings.values["indexUrl"].place) == (Source.USER, str(user))
    assert settings.values["root"].source is Source.MACHINE
    assert desk.resolve().index_url == B
    desk.environ["AML_INDEX_URL"] = C
    assert desk.resolve().index_url == C
    choices = desk.resolve(index_url=A, root="here")
    assert (choices.index_url, choices.root) == (A, desk.folder / "cwd" / "here")
    assert choices.proxy == "http://proxy.example.org:3128"


def test_every_variable(desk: Desk) -> None:
    kit = touch(desk.folder / "kit" / "amlkit.py").parent
    uv, python = touch(desk.folder / "uv"), touch(desk.folder / "python3")
    desk.environ |= {"AML_UV_BIN": str(uv), "AML_PYHOME": str(kit), "AML_ROOT": "~/elsewhere", "AML_UV_PYTHON": "3.12"}
    choices = desk.resolve()
    assert (choices.uv, choices.kit, choices.root) == (uv, kit, desk.folder / "home" / "elsewhere")
    assert (choices.python, choices.python_from_setting) == ("3.12", True)
    desk.environ["AML_PYTHON_BIN"] = str(python)
    assert desk.resolve().python == str(python)
    assert (desk.resolve(python="3.13").python, desk.resolve(python="3.13").python_from_setting) == ("3.13", False)


def test_empty_variables_count_as_absent(desk: Desk) -> None:
    desk.environ |= dict.fromkeys(("AML_UV_BIN", "AML_PYTHON_BIN", "AML_INDEX_URL", "AML_ROOT", "AML_PYHOME"), "")
    assert desk.resolve() == Choices(root=desk.folder / "home" / "aml")


def test_paths_count_from_where_they_were_written(desk: Desk) -> None:
    desk.write("user", caFile="ca.pem")
    (desk.folder / "user" / "ca.pem").write_text(CERTIFICATE)
    (desk.folder / "cwd" / "wheels").mkdir()
    choices = desk.resolve(requirements="../r.txt", find_links=["wheels"])
    assert choices.ca_file == desk.folder / "user" / "ca.pem"
    assert choices.requirements == desk.folder / "r.txt"
    assert choices.find_links == (str(desk.folder / "cwd" / "wheels"),)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("indexUrl", 5),
        ("root", ["x"]),
        ("extraIndexUrls", "x"),
        ("findLinks", [1]),
        ("locked", "indexUrl"),
        ("python", None),
    ],
)
def test_a_wrong_type_is_named_with_file_and_key(desk: Desk, key: str, value: object) -> None:
    file = desk.write("machine" if key == "locked" else "user", **{key: value})
    error = desk.refusal()
    assert (error.code, error.arguments) == ("AML_SETTING_INVALID", {"name": key, "path": str(file)})


def test_a_certificate_file_without_a_certificate_is_refused_wherever_it_is_named(desk: Desk) -> None:
    empty = touch(desk.folder / "empty.pem")
    assert desk.refusal(ca_file=empty).arguments == {"path": str(empty), "place": "--ca-file"}
    config = desk.folder / "pip.conf"
    config.write_text(f"[global]\ncert = {empty}\n")
    desk.environ["PIP_CONFIG_FILE"] = str(config)
    assert desk.refusal().arguments == {"path": str(empty), "place": str(config)}
    file = desk.write("user", caFile=str(empty))
    assert (desk.refusal().code, desk.refusal().arguments["place"]) == ("AML_CA_FILE_INVALID", str(file))


def test_unknown_keys_do_no_harm_and_are_told(desk: Desk) -> None:
    user = desk.write("user", futureKey={"x": 1}, indexURL=A)
    machine = desk.write("machine", locked=["proxy", "indexURL"])
    choices = desk.resolve()
    assert choices.index_url is None
    assert choices.unknown_settings == (f"locked: indexURL ({machine})", f"futureKey ({user})", f"indexURL ({user})")


def test_the_format_may_be_left_out(desk: Desk) -> None:
    desk.write("user").write_text(json.dumps({"indexUrl": A}), encoding="utf-8-sig")
    assert desk.resolve().index_url == A
    assert desk.resolve().unknown_settings == ()


@pytest.mark.parametrize("who", ["user", "machine"])
@pytest.mark.parametrize(
    "content", [b"{", b"", b"[]", b"null", b'{"root": "\xff"}', b"[" * 100_000, b'{"format": ' + b"1" * 5_000 + b"}"]
)
def test_a_file_that_is_no_json_object_is_refused_and_named(desk: Desk, who: str, content: bytes) -> None:
    file = desk.write(who)
    file.write_bytes(content)
    error = desk.refusal()
    assert (error.code, error.arguments["path"]) == ("AML_SETTINGS_UNREADABLE", str(file))
    with pytest.raises(RefusedError):
        save_user_settings({"language": "en"}, file.parent)
    assert file.read_bytes() == content


@pytest.mark.parametrize("number", ["1", True, 0, None, 1.0])
def test_a_format_that_is_no_number_is_refused(desk: Desk, number: object) -> None:
    desk.write("user", format=number)
    assert (desk.refusal().code, desk.refusal().arguments["name"]) == ("AML_SETTING_INVALID", "format")


def test_a_settings_file_that_is_no_file_is_refused(desk: Desk) -> None:
    file = desk.write("user")
    file.unlink()
    file.mkdir()
    assert (desk.refusal().code, desk.refusal().arguments["path"]) == ("AML_SETTINGS_UNREADABLE", str(file))
    file.rmdir()
    file.symlink_to("nowhere")
    assert desk.refusal().code == "AML_SETTINGS_UNREADABLE"


@pytest.mark.skipif(os.name == "nt", reason="named pipes in folders")
def test_pipes_in_the_place_of_settings_are_not_waited_for(desk: Desk) -> None:
    for name in ("pip.conf", "uv.toml"):
        os.mkfifo(desk.folder / name)
    desk.environ |= {"PIP_CONFIG_FILE": str(desk.folder / "pip.conf"), "UV_CONFIG_FILE": str(desk.folder / "uv.toml")}
    del desk.environ["UV_NO_CONFIG"]
    assert desk.resolve().index_url is None
    file = desk.write("user")
    file.unlink()
    os.mkfifo(file)
    assert desk.refusal().code == "AML_SETTINGS_UNREADABLE"


def test_a_newer_file_is_refused(desk: Desk) -> None:
    desk.write("user").write_text('{"format": 99}')
    assert desk.refusal().code == "AML_FORMAT_TOO_NEW"
    with pytest.raises(RefusedError):
        save_user_settings({"language": "en"}, desk.folder / "user")


@pytest.mark.linux
def test_no_variable_moves_the_machine_wide_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("XDG_CONFIG_DIRS", "XDG_CONFIG_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    assert str(machine_settings_file()) == "/etc/xdg/amlwizard/settings.json"


def test_locked_keys(desk: Desk) -> None:
    file = desk.write("machine", indexUrl=A, extraIndexUrls=[B], locked=["indexUrl", "extraIndexUrls"])
    desk.write("user", indexUrl=C)
    assert desk.resolve().index_url == A
    assert desk.resolve(index_url=A, extra_index_urls=[B]).index_url == A
    error = desk.refusal(index_url=C)
    assert error.code == "AML_SETTING_LOCKED"
    told = {"name": "indexUrl", "place": "--index-url", "file": str(file)}
    assert error.arguments.items() >= told.items()
    assert f"set by your organisation in {file}" in error_texts(error, "en")[0]
    assert desk.refusal(extra_index_urls=[C]).arguments["place"] == "--extra-index-url"
    desk.environ["AML_INDEX_URL"] = C
    assert desk.refusal().arguments.items() >= {**told, "place": "AML_INDEX_URL"}.items()
    desk.environ["AML_INDEX_URL"] = A
    assert desk.resolve().index_url == A


LOCKABLE = (
    ("indexUrl", A, "index_url", C),
    ("extraIndexUrls", [A], "extra_index_urls", [C]),
    ("pythonMirror", A, "python_mirror", C),
    ("pythonDownloadsJson", A, "python_downloads_json", C),
    ("proxy", "http://proxy.example.org:3128", "proxy", "http://other.example.org:3128"),
    ("root", str(Path("/srv/aml").absolute()), "root", str(Path("/srv/other").absolute())),
)


@pytest.mark.parametrize(("key", "fixed", "option", "other"), LOCKABLE)
@pytest.mark.parametrize("given", [True, False])
def test_every_key_of_the_network_can_be_locked(
    desk: Desk, key: str, fixed: object, option: str, other: object, given: bool
) -> None:
    file = desk.write("machine", locked=[key], **({key: fixed} if given else {}))
    desk.write("user", **{key: other})
    choices = desk.resolve()
    assert choices.organisation is not None
    assert (choices.organisation.file, choices.organisation.keys) == (file, (key,))
    expected = fixed if given else getattr(Choices(desk.folder / "home" / "aml"), option)
    found = getattr(choices, option)
    assert str(list(found) if isinstance(found, tuple) else found) == str(list(expected) if expected == () else expected)
    error = desk.refusal(**{option: other})
    assert (error.code, error.arguments["file"]) == ("AML_SETTING_LOCKED", str(file))
    assert f"set by your organisation in {file}" in error_texts(error, "en")[0]
    assert f"由贵单位在 {file} 中固定" in error_texts(error, "zh_CN")[0]


def test_a_locked_certificate_file_takes_no_other(desk: Desk) -> None:
    for name in ("ours", "theirs"):
        (desk.folder / f"{name}.pem").write_text(CERTIFICATE)
    desk.write("machine", caFile="../ours.pem", locked=["caFile"])
    desk.environ["PIP_CERT"] = str(desk.folder / "theirs.pem")
    assert desk.resolve().ca_file == desk.folder / "ours.pem"
    assert desk.refusal(ca_file=desk.folder / "theirs.pem").code == "AML_SETTING_LOCKED"
    desk.write("machine", locked=["caFile"])
    assert desk.resolve().ca_file is None


def test_folders_of_the_organisation(desk: Desk) -> None:
    allowed = desk.folder / "allowed"
    (allowed / "inside").mkdir(parents=True)
    desk.environ["TEAM"] = str(allowed)
    file = desk.write("machine", allowedRoots=["~/work", "$TEAM/a", "${TEAM}/b", "%TEAM%/c", "$ABSENT/d", "relative"])
    home = desk.folder / "home"

    def refused(root: Path) -> RefusedError | None:
        choices = desk.resolve(root=root)
        assert choices.organisation is not None
        try:
            choices.organisation.refuse_root(choices.root)
        except RefusedError as error:
            return error
        return None

    for inside in (home / "work", *(allowed / name for name in ("a", "a/deep/er", "b", "c"))):
        assert refused(inside) is None
    outside = (home / "aml", allowed / "d", allowed / "ab", allowed / "a" / ".." / "x", desk.folder / "cwd" / "relative")
    for root in outside:
        error = refused(root)
        assert error is not None
        assert (error.code, error.exit_code, error.arguments["file"]) == ("AML_ROOT_NOT_ALLOWED", 2, str(file))
        assert f"set by your organisation in {file}" in error_texts(error, "en")[0]
    assert desk.resolve().root == home / "work" / "aml"  # as the usual place is not allowed
    desk.write("machine", allowedRoots=["~"])
    assert desk.resolve().root == home / "aml"
    desk.write("machine", allowedRoots=[])
    error = refused(home / "work")
    assert error is not None
    assert error.arguments["allowed"] == "-"


@pytest.mark.skipif(os.name == "nt", reason="links need a right of their own there")
def test_a_link_leads_out_of_no_allowed_folder(desk: Desk) -> None:
    allowed, elsewhere = desk.folder / "allowed", desk.folder / "elsewhere"
    allowed.mkdir()
    elsewhere.mkdir()
    (allowed / "link").symlink_to(elsewhere)
    (desk.folder / "way").symlink_to(allowed)
    desk.write("machine", allowedRoots=[str(desk.folder / "way")])
    organisation = desk.resolve().organisation
    assert organisation is not None
    assert not organisation.allows_root(allowed / "link" / "aml")
    assert organisation.allows_root(allowed / "aml")


def test_bundles_alone(desk: Desk) -> None:
    file = desk.write("machine", bundleOnly=True)
    choices = desk.resolve()
    assert choices.offline
    assert choices.organisation is not None
    assert (choices.organisation.bundle_only, choices.organisation.keys) == (True, ("bundleOnly",))
    assert choices.organisation.file == file
    assert desk.resolve(bundle="a.amlbundle").bundle is not None


@pytest.mark.parametrize(("key", "value"), [("bundleOnly", "yes"), ("bundleOnly", 1), ("allowedRoots", "~/x")])
def test_what_the_organisation_wrote_wrongly_is_refused(desk: Desk, key: str, value: object) -> None:
    file = desk.write("machine", **{key: value})
    error = desk.refusal()
    assert (error.code, error.arguments) == ("AML_SETTING_INVALID", {"name": key, "path": str(file)})


def test_what_only_an_organisation_can_say_means_nothing_in_the_users_file(desk: Desk) -> None:
    file = desk.write("user", bundleOnly=True, allowedRoots=["/srv"], locked=["proxy"], proxy="http://127.0.0.1:1")
    choices = desk.resolve(proxy="http://127.0.0.1:2")
    assert (choices.offline, choices.organisation, choices.proxy) == (False, None, "http://127.0.0.1:2")
    assert choices.unknown_settings == ()
    machine = desk.folder / "machine" / "settings.json"
    assert settings_remarks(choices, "en") == [
        f"The setting {key} in {file} has no effect: it counts only in the machine-wide file {machine}."
        for key in ("bundleOnly", "allowedRoots", "locked")
    ]


@pytest.mark.parametrize("who", ["user", "machine"])
def test_a_list_of_mirrors_that_cannot_be_used_is_named(desk: Desk, who: str) -> None:
    mirrors = desk.write(who).with_name("mirrors.json")
    mirrors.write_text('{"mirrors": [', encoding="utf-8")
    (told,) = settings_remarks(desk.resolve(), "en")
    assert str(mirrors) in told
    assert told.endswith("No mirrors are offered until that is mended.")
    assert str(mirrors) in settings_remarks(desk.resolve(), "zh_CN")[0]
    mirrors.write_text('{"mirrors": []}', encoding="utf-8")
    assert settings_remarks(desk.resolve(), "en") == []


def test_an_ambient_mirror_for_interpreters_is_the_default(desk: Desk) -> None:
    desk.environ["UV_PYTHON_INSTALL_MIRROR"] = f"https://mei:{SECRET}@files.example.org/python/"
    choices = desk.resolve()
    assert choices.python_mirror == "https://files.example.org/python/"
    assert choices.ambient == ("python-install-mirror https://files.example.org/python/ (UV_PYTHON_INSTALL_MIRROR)",)
    assert choices.credentials == {"https://files.example.org": ("mei", SECRET)}
    desk.write("user", pythonMirror=A)
    assert (desk.resolve().python_mirror, desk.resolve().ambient) == (A, ())
    desk.write("user", pythonMirror=WITH_LOGIN)
    assert desk.refusal().code == "AML_URL_HAS_CREDENTIALS"


def test_hosts_whose_certificates_are_not_to_be_checked_are_told_and_nothing_more(desk: Desk) -> None:
    desk.environ |= {"PIP_TRUSTED_HOST": "a.example.org b.example.org:8443", "UV_INSECURE_HOST": "c.example.org"}
    choices = desk.resolve()
    assert choices.trusted_hosts == (
        "c.example.org (UV_INSECURE_HOST)",
        "a.example.org (PIP_TRUSTED_HOST)",
        "b.example.org:8443 (PIP_TRUSTED_HOST)",
    )
    assert choices == Choices(root=choices.root)


def test_a_locked_index_keeps_ambient_ones_out(desk: Desk) -> None:
    desk.write("machine", indexUrl=A, locked=["indexUrl"])
    desk.environ |= {"UV_DEFAULT_INDEX": B, "PIP_EXTRA_INDEX_URL": C}
    choices = desk.resolve()
    assert (choices.index_url, choices.extra_index_urls) == (A, ())


def test_ambient_indexes_are_the_default(desk: Desk) -> None:
    file = desk.folder / "pip.conf"
    certificate = desk.folder / "ca.pem"
    certificate.write_text(CERTIFICATE)
    file.write_text(
        f"[global]\nindex-url = {A}\nextra-index-url = {B}\nfind-links = /nowhere/at/all\ncert = {certificate}\n"
    )
    desk.environ["PIP_CONFIG_FILE"] = str(file)
    choices = desk.resolve()
    assert (choices.index_url, choices.extra_index_urls, choices.find_links) == (A, (B,), ())
    cert = f"cert {certificate} ({file})"
    assert choices.ambient == (f"index-url {A} ({file})", f"extra-index-url {B} ({file})", cert)
    desk.environ["UV_DEFAULT_INDEX"] = C
    assert desk.resolve().index_url == C
    desk.environ["AML_INDEX_URL"] = "https://mine.example.org/simple"
    choices = desk.resolve()
    assert (choices.index_url, choices.extra_index_urls) == ("https://mine.example.org/simple", ())
    assert choices.ambient == (cert,)


@pytest.mark.parametrize("variable", ["AML_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"])
def test_credentials_of_variables_are_kept_apart(desk: Desk, variable: str) -> None:
    desk.environ[variable] = WITH_LOGIN
    choices = desk.resolve()
    assert choices.index_url == A
    assert choices.credentials == {"https://a.example.org": ("mei", SECRET)}
    assert SECRET not in repr(choices)


def test_credentials_reach_their_own_origin_only(desk: Desk) -> None:
    desk.environ["UV_DEFAULT_INDEX"] = WITH_LOGIN
    assert desk.resolve(index_url=A).credentials == {"https://a.example.org": ("mei", SECRET)}
    assert desk.resolve(index_url=B).credentials == {}
    assert desk.resolve(index_url="http://a.example.org/simple").credentials == {}


def test_credentials_of_a_named_index(desk: Desk) -> None:
    desk.environ |= {"UV_INDEX": f"corp={A}", "UV_INDEX_CORP_USERNAME": "mei", "UV_INDEX_CORP_PASSWORD": SECRET}
    choices = desk.resolve()
    assert (choices.extra_index_urls, choices.credentials) == ((A,), {"https://a.example.org": ("mei", SECRET)})


@pytest.mark.parametrize(
    ("options", "place", "variable"),
    [
        ({"index_url": WITH_LOGIN}, "--index-url", "UV_DEFAULT_INDEX"),
        ({"extra_index_urls": [B, WITH_LOGIN]}, "--extra-index-url", "UV_INDEX"),
        ({"proxy": f"http://mei:{SECRET}@proxy.example.org:3128"}, "--proxy", "HTTPS_PROXY"),
        ({"python_downloads_json": WITH_LOGIN}, "--python-downloads-json", "netrc"),
        ({"find_links": [WITH_LOGIN]}, "--find-links", "PIP_FIND_LINKS"),
    ],
)
def test_options_with_credentials_are_refused(desk: Desk, options: dict[str, Any], place: str, variable: str) -> None:
    error = desk.refusal(**options)
    assert (error.code, error.arguments) == ("AML_URL_HAS_CREDENTIALS", {"place": place, "variable": variable})
    assert variable in error_texts(error)[1]


def test_settings_files_with_credentials_are_refused(desk: Desk) -> None:
    file = desk.write("user", indexUrl=WITH_LOGIN)
    error = desk.refusal()
    assert (error.code, error.arguments["place"]) == ("AML_URL_HAS_CREDENTIALS", str(file))


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"requirements": "r.txt", "profile": "minimal"}, "AML_CHOICES_CONFLICT"),
        ({"index_url": "index.example.org"}, "AML_INDEX_URL_INVALID"),
        ({"extra_index_urls": ["https://x y"]}, "AML_INDEX_URL_INVALID"),
        ({"proxy": "ftp://proxy.example.org"}, "AML_PROXY_URL_INVALID"),
        ({"python": "3"}, "AML_PYTHON_VERSION_INVALID"),
        ({"python": "3.x"}, "AML_PYTHON_VERSION_INVALID"),
        ({"python": "3.12.1.1"}, "AML_PYTHON_VERSION_INVALID"),
        ({"python": "03.12"}, "AML_PYTHON_VERSION_INVALID"),
        ({"python": "4.1"}, "AML_PYTHON_VERSION_UNKNOWN"),
        ({"python": "9.9.9"}, "AML_PYTHON_VERSION_UNKNOWN"),
        ({"python": "3.100"}, "AML_PYTHON_VERSION_UNKNOWN"),
        ({"python": "3.12.100"}, "AML_PYTHON_VERSION_UNKNOWN"),
        ({"python": "2.7"}, "AML_PYTHON_VERSION_TOO_OLD"),
        ({"python": "2.7.18"}, "AML_PYTHON_VERSION_TOO_OLD"),
        ({"python": "python3.12"}, "AML_PYTHON_VERSION_INVALID"),
        ({"python": "３.12"}, "AML_PYTHON_VERSION_INVALID"),
        ({"python": "3.9"}, "AML_PYTHON_VERSION_TOO_OLD"),
        ({"python": "/nowhere/python3"}, "AML_PYTHON_MISSING"),
        ({"python": "./python3"}, "AML_PYTHON_MISSING"),
        ({"uv": "/nowhere/uv"}, "AML_UV_MISSING"),
        ({"uv_method": "magic"}, "AML_UV_METHOD_UNKNOWN"),
        ({"index_strategy": "magic"}, "AML_INDEX_STRATEGY_INVALID"),
        ({"accelerator": "gpu"}, "AML_ACCELERATOR_INVALID"),
        ({"accelerator": "cu128 "}, "AML_ACCELERATOR_INVALID"),
        ({"accelerator": "cu999"}, "AML_ACCELERATOR_INVALID"),
        ({"find_links": ["nowhere"]}, "AML_FIND_LINKS_MISSING"),
        ({"ca_file": "nowhere.pem"}, "AML_CA_FILE_MISSING"),
        ({"root": "a\0b"}, "AML_PATH_INVALID"),
    ],
)
def test_bad_options(desk: Desk, options: dict[str, Any], code: str) -> None:
    assert desk.refusal(**options).code == code


@pytest.mark.parametrize("option", ["python", "uv", "ca_file"])
def test_a_folder_in_the_place_of_a_file_is_called_one(desk: Desk, option: str) -> None:
    (desk.folder / "cwd" / "folder").mkdir()
    for named in (str(desk.folder), "folder"):
        assert "It is a folder" in error_texts(desk.refusal(**{option: named}))[0]
    assert "no such file" in error_texts(desk.refusal(**{option: "./absent"}))[0]


@pytest.mark.posix
@pytest.mark.parametrize("option", ["python", "uv", "ca_file", "find_links"])
def test_what_lies_in_a_folder_that_may_not_be_entered_is_not_called_missing(desk: Desk, option: str) -> None:
    place = desk.folder / "cwd" / "closed"
    (place / "inside").mkdir(parents=True)
    named = str(place / "inside")
    settings = load_settings(desk.environ, desk.folder / "user", desk.folder / "machine")
    with locked_out(place), pytest.raises(RefusedError) as caught:
        resolve_choices(
            settings, desk.environ, desk.folder / "cwd", **{option: [named] if option == "find_links" else named}
        )
    assert "cannot be reached (Permission denied)" in error_texts(caught.value)[0]


def test_a_folder_of_wheels_that_is_a_file_is_called_one(desk: Desk) -> None:
    (desk.folder / "cwd" / "file").write_text("")
    assert "It is a file, not a folder" in error_texts(desk.refusal(find_links=["file"]))[0]
    assert "no such folder" in error_texts(desk.refusal(find_links=["absent"]))[0]


@pytest.mark.parametrize(
    ("variable", "value", "code"),
    [
        ("AML_UV_BIN", "/nowhere/uv", "AML_UV_MISSING"),
        ("AML_PYTHON_BIN", "/nowhere/python", "AML_PYTHON_MISSING"),
        ("AML_PYHOME", "/nowhere", "AML_KIT_MISSING"),
        ("AML_UV_PYTHON", "snake", "AML_PYTHON_VERSION_INVALID"),
        ("AML_INDEX_URL", "nonsense", "AML_INDEX_URL_INVALID"),
        ("UV_DEFAULT_INDEX", "nonsense", "AML_INDEX_URL_INVALID"),
    ],
)
def test_bad_variables(desk: Desk, variable: str, value: str, code: str) -> None:
    desk.environ[variable] = value
    assert desk.refusal().code == code


@pytest.mark.parametrize("accelerator", ["auto", "cpu", "cu118", "cu128", "rocm6.3", "rocm6.2.4"])
def test_accelerators(desk: Desk, accelerator: str) -> None:
    assert desk.resolve().accelerator is None
    assert desk.resolve(accelerator=accelerator).accelerator == accelerator
    file = desk.write("user", accelerator=accelerator)
    assert desk.resolve().accelerator == accelerator
    assert desk.resolve(accelerator="cu126").accelerator == "cu126"
    desk.write("user", accelerator="gpu")
    refused = desk.refusal()
    assert refused.arguments["place"] == str(file)
    assert f" {accelerator}," in f" {refused.arguments['known']},"


def test_the_organisation_may_fix_the_accelerator(desk: Desk) -> None:
    desk.write("machine", accelerator="cpu", locked=["accelerator"])
    desk.write("user", accelerator="cu128")
    assert desk.resolve().accelerator == "cpu"
    assert desk.resolve(accelerator="cpu").accelerator == "cpu"
    assert desk.refusal(accelerator="cu128").code == "AML_SETTING_LOCKED"


@pytest.mark.parametrize("method", list(UvMethod))
def test_uv_methods(desk: Desk, method: UvMethod) -> None:
    assert desk.resolve(uv_method=method.value).uv_method is method
    desk.write("user", uvMethod=method.value)
    assert desk.resolve().uv_method is method


def test_a_folder_in_the_place_of_an_index_is_told_how_it_is_named(desk: Desk) -> None:
    refused = desk.refusal(index_url=str(desk.folder))
    assert refused.code == "AML_INDEX_URL_INVALID"
    for way in ("file:///path", "--find-links"):
        assert way in error_texts(refused)[1]


@pytest.mark.parametrize("strategy", list(IndexStrategy))
def test_index_strategies(desk: Desk, strategy: IndexStrategy) -> None:
    assert desk.resolve().index_strategy is None
    assert desk.resolve(index_strategy=strategy.value).index_strategy is strategy
    file = desk.write("user", indexStrategy=strategy.value)
    assert desk.resolve().index_strategy is strategy
    desk.write("user", indexStrategy="magic")
    assert desk.refusal().arguments["place"] == str(file)


def test_the_organisation_may_fix_that_the_first_index_counts(desk: Desk) -> None:
    desk.write("machine", indexStrategy="first-index", locked=["indexStrategy"])
    desk.write("user", indexStrategy="unsafe-best-match")
    assert desk.resolve().index_strategy is IndexStrategy.FIRST_INDEX
    assert desk.refusal(index_strategy="unsafe-best-match").code == "AML_SETTING_LOCKED"


def test_what_the_organisation_has_fixed_is_known_also_where_it_chose_nothing(desk: Desk) -> None:
    assert desk.resolve().fixed == frozenset()
    desk.write("machine", locked=["indexUrl", "findLinks"])
    assert desk.resolve().fixed == {"index_url", "find_links"}


def test_saving_keeps_what_else_is_there(desk: Desk) -> None:
    file = desk.write("user", indexUrl=A, futureKey=[1], language="en")
    save_user_settings({"language": "zh_CN", "root": "/srv/aml", "indexUrl": None}, desk.folder / "user")
    assert json.loads(file.read_text()) == {"format": 1, "futureKey": [1], "language": "zh_CN", "root": "/srv/aml"}
    assert [path.name for path in file.parent.iterdir()] == ["settings.json"]


def test_the_user_folder_is_made_when_something_is_saved(desk: Desk) -> None:
    save_user_settings({"language": "en"}, desk.folder / "new" / "deep")
    assert load_settings({}, desk.folder / "new" / "deep", desk.folder / "machine").text("language") == "en"


def test_a_machine_wide_digest_pins_every_bundle(desk: Desk) -> None:
    pinned = "AB" * 32
    desk.write("machine", bundleSha256=pinned, locked=["bundleSha256"])
    choices = desk.resolve(bundle="a.amlbundle")
    assert choices.bundle == desk.folder / "cwd" / "a.amlbundle"
    assert choices.bundle_sha256 == pinned.lower()
    assert desk.resolve(bundle="a.amlbundle", bundle_sha256=pinned).bundle_sha256 == pinned.lower()
    assert desk.refusal(bundle="a.amlbundle", bundle_sha256="cd" * 32).code == "AML_SETTING_LOCKED"


def test_a_digest_without_a_bundle_is_refused_and_one_of_the_settings_waits(desk: Desk) -> None:
    assert desk.refusal(bundle_sha256="ab" * 32).code == "AML_BUNDLE_SHA256_ALONE"
    desk.write("machine", bundleSha256="ab" * 32)
    assert desk.resolve().bundle_sha256 == "ab" * 32


@pytest.mark.parametrize("digest", ["", "ab" * 31, "xy" * 32, "ab" * 33])
def test_what_is_no_digest_is_refused(desk: Desk, digest: str) -> None:
    if digest:
        assert desk.refusal(bundle="a.amlbundle", bundle_sha256=digest).code == "AML_BUNDLE_SHA256_INVALID"
    else:
        assert desk.resolve(bundle="a.amlbundle", bundle_sha256=digest).bundle_sha256 is None


@pytest.mark.parametrize("other", [{"requirements": "r.txt"}, {"profile": "minimal"}, {"refresh": True}])
def test_a_bundle_stands_alone(desk: Desk, other: dict[str, Any]) -> None:
    assert desk.refusal(bundle="a.amlbundle", **other).code == "AML_CHOICES_CONFLICT"


@pytest.mark.parametrize(
    ("given", "example"),
    [
        ("proxy.example.org:3128", "http://proxy.example.org:3128"),
        ("socks5://s.example.org:1080", "http://proxy.example.org:8080"),
        ("http://proxy.example.org:99999", "http://proxy.example.org:8080"),
    ],
)
def test_how_a_proxy_is_to_be_written_is_told(desk: Desk, given: str, example: str) -> None:
    hint = error_texts(desk.refusal(proxy=given), "en")[1]
    assert f"Write it as {example}." in hint
    assert "file" not in hint


def test_where_a_login_stands_is_kept_with_it(desk: Desk) -> None:
    desk.environ |= {"PIP_INDEX_URL": WITH_LOGIN}
    assert desk.resolve().login_places == {"https://a.example.org": "PIP_INDEX_URL"}


def test_folders_of_the_organisation_that_name_none_here_are_quoted(desk: Desk) -> None:
    desk.write("machine", allowedRoots=["relative/folder", "$NOT_SET/aml"])
    choices = desk.resolve()
    assert choices.organisation is not None
    with pytest.raises(RefusedError) as caught:
        choices.organisation.refuse_root(choices.root)
    assert "(relative/folder, $NOT_SET/aml)" in error_texts(caught.value, "en")[0]


@pytest.mark.parametrize(
    ("proxy", "example"),
    [("proxy.example.org:3128", "http://proxy.example.org:3128"), ("8080", "http://proxy.example.org:8080")],
)
def test_how_a_proxy_is_written_is_shown_with_the_one_that_was_named(desk: Desk, proxy: str, example: str) -> None:
    error = desk.refusal(proxy=proxy)
    assert (error.code, error.arguments["example"]) == ("AML_PROXY_URL_INVALID", example)
