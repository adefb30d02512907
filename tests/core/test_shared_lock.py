"""The lock that is given away, for computers of every kind."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import tomli_w
from packaging.pylock import is_valid_pylock_path

from amlwizard.core.choices import Choices
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.facts import Host
from amlwizard.core.lock import StoredWheel, local_lock
from amlwizard.core.paths import Workspace
from amlwizard.core.share_names import file_name
from amlwizard.core.shared_lock import check_given, offering, shared_lock
from amlwizard.core.wish import Wish, make_wish

if TYPE_CHECKING:
    from collections.abc import Mapping

_HASHES = {"sha256": "a" * 64}
LINUX = Host("linux", "x86_64", "6.1", "glibc 2.36", 2, 8)


def write_lock(root: Path, *packages: dict[str, object], kind: str = "file") -> Workspace:
    """Write the lock of a workspace, which was made from ``numpy``."""
    workspace = Workspace(root)
    workspace.runtime.mkdir(parents=True)
    about = {"kind": kind, "name": str(root / "r.txt"), "digest": "1" * 12, "python": "3.12.9", "requirements": ["numpy"]}
    content = {"lock-version": "1.0", "created-by": "uv", "requires-python": ">=3.12.9", "packages": list(packages)}
    workspace.lock.write_text(tomli_w.dumps({**content, "tool": {"amlwizard": about}}), encoding="utf-8")
    return workspace


def wheel(name: str, **where: str) -> dict[str, object]:
    """Return a package with one wheel."""
    return {
        "name": name,
        "version": "1.0",
        "wheels": [{"name": f"{name}-1.0-py3-none-any.whl", "hashes": _HASHES, **where}],
    }


@pytest.mark.parametrize(
    ("system", "machine", "marker"),
    [
        ("linux", "aarch64", 'sys_platform == "linux" and platform_machine == "aarch64"'),
        ("windows", "x86_64", 'sys_platform == "win32" and platform_machine == "AMD64"'),
        ("windows", "arm64", 'sys_platform == "win32" and platform_machine == "ARM64"'),
        ("macos", "arm64", 'sys_platform == "darwin" and platform_machine == "arm64"'),
    ],
)
def test_a_lock_says_for_which_computer_it_is(tmp_path: Path, system: str, machine: str, marker: str) -> None:
    workspace = write_lock(tmp_path, wheel("numpy", url="https://files.example.org/numpy-1.0-py3-none-any.whl"))
    host = Host(system, machine, "", "", 1, 1)
    content = tomllib.loads(shared_lock(workspace, Choices(root=tmp_path), host, {}).text)
    assert content["environments"] == [marker]
    assert content["requires-python"] == "==3.12.*"
    assert content["tool"]["amlwizard"] == {
        "format": 1,
        "platform": f"{system}-{machine}",
        "python": "3.12.9",
        "requirements": ["numpy"],
    }
    assert content["packages"][0]["wheels"][0]["hashes"] == _HASHES


@pytest.mark.parametrize("same", [True, False])
def test_a_profile_travels_with_its_versions_while_it_is_the_same(tmp_path: Path, same: bool) -> None:
    workspace = write_lock(tmp_path, wheel("numpy", url="https://files.example.org/numpy-1.0-py3-none-any.whl"))
    content = tomllib.loads(workspace.lock.read_text(encoding="utf-8"))
    digest = make_wish(Choices(root=tmp_path, profile="minimal"), Workspace(tmp_path / "none"), {}).digest("3.12.9")
    about = {"kind": "profile", "name": "minimal", "digest": digest if same else "0" * 12, "python": "3.12.9"}
    workspace.lock.write_text(tomli_w.dumps({**content, "tool": {"amlwizard": about}}), encoding="utf-8")
    shared = tomllib.loads(shared_lock(workspace, Choices(root=tmp_path), LINUX, {}).text)["tool"]["amlwizard"]
    lines = [line for line in shared.get("requirements", ()) if line.startswith("numpy==")]
    assert bool(lines) == same
    assert "--hash" not in str(shared)
    if same:
        assert any("sys_platform ==" in line for line in shared["requirements"])


def test_only_the_files_of_this_platform_travel(tmp_path: Path) -> None:
    tags = {
        "cp312-cp312-manylinux_2_17_x86_64": "a",
        "cp312-cp312-manylinux_2_39_x86_64": "b",
        "cp312-cp312-musllinux_1_2_x86_64": "c",
        "cp312-cp312-manylinux_2_17_aarch64": "d",
        "cp312-cp312-win_amd64": "e",
        "cp311-cp311-manylinux_2_17_x86_64": "f",
        "cp310-abi3-manylinux_2_17_x86_64": "1",
    }

    def package(name: str, tags: Mapping[str, str], *, sdist: bool = True) -> dict[str, object]:
        url = f"https://files.example.org/{name}-1.0"
        wheels = [{"url": f"{url}-{tag}.whl", "hashes": {"sha256": sign * 64}} for tag, sign in tags.items()]
        source = {"sdist": {"url": f"{url}.tar.gz", "hashes": {"sha256": "9" * 64}}} if sdist else {}
        return {"name": name, "version": "1.0", "wheels": wheels, **source}

    elsewhere = {"cp312-cp312-win_amd64": "e"}
    workspace = write_lock(
        tmp_path, package("some", tags), package("built", elsewhere), package("odd", elsewhere, sdist=False)
    )
    installed = [StoredWheel("some", "1.0", tmp_path / "some-1.0-cp312-cp312-manylinux_2_39_x86_64.whl", 1, "b" * 64)]
    workspace.local_lock.write_text(local_lock(installed, [], lock=workspace.local_lock), encoding="utf-8")
    packages = tomllib.loads(shared_lock(workspace, Choices(root=tmp_path), LINUX, {}).text)["packages"]
    found = {each["name"]: {wheel["hashes"]["sha256"][0] for wheel in each.get("wheels", ())} for each in packages}
    assert found == {"some": {"a", "b", "1"}, "built": {"e"}, "odd": {"e"}}
    assert ["sdist" in each for each in packages] == [False, True, False]


def test_what_was_added_by_hand_travels_too(tmp_path: Path) -> None:
    workspace = write_lock(tmp_path, wheel("numpy", url="https://files.example.org/numpy-1.0-py3-none-any.whl"))
    content = tomllib.loads(workspace.lock.read_text(encoding="utf-8"))
    added = ["scipy==1.14.1", "-e /srv/mine", "here @ file:///srv/here", "x @ https://me:s3cr3t@files.example.org/x-1.zip"]
    content["tool"]["amlwizard"]["added"] = added
    workspace.lock.write_text(tomli_w.dumps(content), encoding="utf-8")
    shared = tomllib.loads(shared_lock(workspace, Choices(root=tmp_path), LINUX, {}).text)["tool"]["amlwizard"]
    assert shared["requirements"] == ["numpy", "scipy==1.14.1", "x @ https://files.example.org/x-1.zip"]


def test_the_accelerator_travels_and_holds_where_the_lock_is_resolved_anew(tmp_path: Path) -> None:
    workspace = write_lock(tmp_path / "aml", wheel("torch", url="https://files.example.org/torch-1.0-py3-none-any.whl"))
    content = tomllib.loads(workspace.lock.read_text(encoding="utf-8"))
    content["tool"]["amlwizard"]["accelerator"] = "cu128"
    workspace.lock.write_text(tomli_w.dumps(content), encoding="utf-8")
    file, other = tmp_path / "pylock.team.toml", Workspace(tmp_path / "other")
    file.write_text(shared_lock(workspace, Choices(root=workspace.root), LINUX, {}).text, encoding="utf-8")
    given = Choices(root=other.root, requirements=file)
    assert make_wish(given, other, {}).accelerator == "cu128"
    assert make_wish(replace(given, accelerator="cu128"), other, {}).accelerator == "cu128"
    with pytest.raises(RefusedError, match="AML_ACCELERATOR_FIXED"):
        make_wish(replace(given, accelerator="cpu"), other, {})
    assert make_wish(replace(given, refresh=True), other, {}).accelerator == "cu128"
    assert make_wish(replace(given, refresh=True, accelerator="cpu"), other, {}).accelerator == "cpu"


def test_what_has_no_address_is_left_out_by_name(tmp_path: Path) -> None:
    vcs = {"type": "git", "commit-id": "b" * 40}
    workspace = write_lock(
        tmp_path,
        wheel("remote", url="https://user:s3cr3t@files.example.org/remote-1.0-py3-none-any.whl"),
        wheel("path", path="../downloads/path-1.0-py3-none-any.whl"),
        wheel("uri", url="file:///srv/uri-1.0-py3-none-any.whl"),
        {"name": "folder", "directory": {"path": "../folder", "editable": True}},
        {"name": "here", "vcs": {**vcs, "url": "file:///srv/here"}},
        {"name": "there", "vcs": {**vcs, "url": "https://files.example.org/there.git"}},
    )
    shared = shared_lock(workspace, Choices(root=tmp_path), LINUX, {})
    assert shared.left_out == ("path", "uri", "folder", "here")
    assert shared.from_repositories == ("there",)
    assert shared.packages == 2
    for secret in ("s3cr3t", "/srv", "downloads", str(tmp_path)):
        assert secret not in shared.text


def test_a_workspace_out_of_a_bundle_has_no_addresses_to_share(tmp_path: Path) -> None:
    workspace = write_lock(tmp_path, wheel("numpy", path="../downloads/numpy-1.0-py3-none-any.whl"))
    with pytest.raises(RefusedError) as caught:
        shared_lock(workspace, Choices(root=tmp_path), LINUX, {})
    assert caught.value.code == "AML_SHARE_NO_ADDRESS"


@pytest.mark.parametrize("root", ["aml", "my project", "v1.2", "环境", "..", "a/b.c", "-"])
def test_the_name_that_is_offered_can_be_read_by_uv_and_pip(root: str) -> None:
    name = file_name(Path("/srv") / root)
    assert is_valid_pylock_path(Path(name))
    assert not set(name) & set(' /\\:*?"<>|')


@pytest.fixture
def given(tmp_path: Path) -> Wish:
    """The wish for a lock that was shared on a Linux computer with Python 3.12."""
    workspace = write_lock(tmp_path / "aml", wheel("numpy", url="https://files.example.org/numpy-1.0-py3-none-any.whl"))
    file = tmp_path / "pylock.team.toml"
    file.write_text(shared_lock(workspace, Choices(root=tmp_path), LINUX, {}).text, encoding="utf-8")
    return make_wish(Choices(root=tmp_path / "other", requirements=file), Workspace(tmp_path / "other"), {})


def test_a_given_lock_is_for_its_platform(given: Wish) -> None:
    check_given(given, LINUX)
    with pytest.raises(RefusedError) as caught:
        check_given(given, replace(LINUX, machine="aarch64"))
    assert caught.value.code == "AML_SHARED_PLATFORM"
    assert caught.value.arguments["platform"] == "linux-x86_64"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RefusedError("AML_PYTHON_NOT_IN_RANGE", wanted="3.13", allowed="==3.12.*"), "AML_SHARED_PYTHON"),
        (AmlError("AML_LOCK_PYTHON", wanted="==3.12.*", python="3.13.0"), "AML_SHARED_PYTHON"),
        (AmlError("AML_NO_WHEEL_HERE", name="a", version="1", python="3.12", platform="linux"), "AML_SHARED_NO_WHEEL"),
        (AmlError("AML_DISK_SPACE", root="/", needed=2, free=1), "AML_DISK_SPACE"),
    ],
)
def test_what_does_not_fit_ends_in_an_offer(given: Wish, error: AmlError, code: str) -> None:
    with pytest.raises(type(error)) as caught, offering(given):
        raise error
    assert caught.value.code == code
    anew = replace(given, lock_file=None)  # such as a requirements file: nothing to offer
    with pytest.raises(AmlError) as plain, offering(anew):
        raise error
    assert plain.value is error


def test_a_query_may_be_a_key_and_does_not_travel(tmp_path: Path) -> None:
    files = "https://files.example.org"
    archive = {"url": f"{files}/c.zip?key=s3cr3tTOK", "hashes": _HASHES}
    workspace = write_lock(
        tmp_path,
        {
            **wheel("a", url=f"{files}/a-1.0-py3-none-any.whl?jwt=s3cr3tTOK&x=1"),
            "index": "https://index.example.org/?s3cr3tTOK",
        },
        wheel("b", url=f"{files}/b-1.0-py3-none-any.whl"),
        {"name": "c", "archive": archive},
    )
    content = tomllib.loads(workspace.lock.read_text(encoding="utf-8"))
    content["tool"]["amlwizard"]["requirements"] = [
        "--index-url https://index.example.org/simple?code=s3cr3tTOK",
        f"a @ {files}/a-1.0-py3-none-any.whl?jwt=s3cr3tTOK&x=1 ; python_version > '3'",
    ]
    workspace.lock.write_text(tomli_w.dumps(content), encoding="utf-8")
    shared = shared_lock(workspace, Choices(root=tmp_path), LINUX, {})
    assert "s3cr3tTOK" not in shared.text
    assert shared.cut == ("a", "c")
    about = tomllib.loads(shared.text)["tool"]["amlwizard"]
    assert about["requirements"] == [
        "--index-url https://index.example.org/simple",
        f"a @ {files}/a-1.0-py3-none-any.whl ; python_version > '3'",
    ]
