"""Reading locks, choosing from them, and installing from the local one with a real uv."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import tomli_w
from packaging.pylock import Pylock

from amlwizard.core.catalogue import error_texts
from amlwizard.core.digest import requirements_digest
from amlwizard.core.errors import AmlError
from amlwizard.core.lock import (
    FileKind,
    StoredWheel,
    alternatives,
    local_lock,
    lock_digest,
    lock_text,
    read_lock,
    restrict_to_hashes,
    scrub,
    select,
)
from amlwizard.core.records import write_text_atomically
from amlwizard.core.requirements import parse_closure
from tests.support.interpreters import probe
from tests.support.wheels import make_wheel, sha256_of

if TYPE_CHECKING:
    from amlwizard.core.facts import PythonFacts

SHA = "a" * 64


def python() -> PythonFacts:
    return probe(Path(sys.executable))[0]


def linux_python(minor: int = 11) -> PythonFacts:
    facts = python()
    environment = {
        **facts.marker_environment,
        "python_version": f"3.{minor}",
        "python_full_version": f"3.{minor}.2",
        "sys_platform": "linux",
        "os_name": "posix",
        "platform_system": "Linux",
        "platform_machine": "riscv64",
    }
    return replace(
        facts,
        version=(3, minor, 2),
        platform_tag="linux-riscv64",
        machine="riscv64",
        libc=("glibc", "2.40"),
        abi_flags="",
        free_threaded=False,
        marker_environment=environment,
    )


def wheel(name: str, tag: str = "py3-none-any", version: str = "1.0", **more: Any) -> dict[str, Any]:
    filename = f"{name}-{version}-{tag}.whl"
    return {"url": f"https://files.example.org/{filename}", "size": 10, "hashes": {"sha256": SHA}, **more}


def package(name: str, version: str | None = "1.0", **more: Any) -> dict[str, Any]:
    return {"name": name, **({"version": version} if version else {}), **more}


def content(*packages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"lock-version": "1.0", "created-by": "tests", "packages": list(packages), **more}


def write(folder: Path, *packages: dict[str, Any], **more: Any) -> Path:
    path = folder / "pylock.toml"
    path.write_text(tomli_w.dumps(content(*packages, **more)), encoding="utf-8")
    return path


def failure(path: Path, facts: PythonFacts | None = None) -> AmlError:
    with pytest.raises(AmlError) as caught:
        select(read_lock(path), facts or linux_python(), lock=path)
    for language in ("en", "zh_CN"):
        message, hint = error_texts(caught.value, language)
        assert message
        assert hint
    return caught.value


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (b"", "lock-version"),
        (b"x = \n", "line 1"),
        (b"\xff\xfe\x00", "decode"),
        (b'lock-version = "1.0"\ncreated-by = "x"\n', "packages"),
        (b'lock-version = "1.0"\ncreated-by = "x"\n[[packages]]\nname = "A_b"\n', "packages[0]"),
        (
            b'lock-version = "1.0"\ncreated-by = "x"\n[[packages]]\nname = "a"\nwheels = [{url = "https://files.example.org/a.whl"}]',
            "hashes",
        ),
        (b"x = " + b"[" * 5000, ""),
    ],
)
def test_an_invalid_lock_is_refused_with_its_reason(tmp_path: Path, data: bytes, named: str) -> None:
    path = tmp_path / "pylock.toml"
    path.write_bytes(data)
    error = failure(path)
    assert error.code == "AML_LOCK_INVALID"
    assert named in str(error.arguments["reason"])


def test_a_missing_lock_is_refused(tmp_path: Path) -> None:
    assert failure(tmp_path / "pylock.toml").code == "AML_LOCK_INVALID"


def test_a_newer_lock_is_refused_by_its_version(tmp_path: Path) -> None:
    path = tmp_path / "pylock.toml"
    path.write_text('lock-version = "2.0"\ncreated-by = "x"\npackages = []\n', encoding="utf-8")
    error = failure(path)
    assert (error.code, error.arguments["version"]) == ("AML_LOCK_TOO_NEW", "2.0")


@pytest.mark.parametrize(
    "entry",
    [
        package("a", archive={"url": "https://files.example.org/x/..%2Fa-1.0.zip", "hashes": {"sha256": SHA}}),
        package("a", archive={"path": "folder/..", "hashes": {"sha256": SHA}}),
        package("a", archive={"url": "https://files.example.org/c:a-1.0.zip", "hashes": {"sha256": SHA}}),
    ],
)
def test_unsafe_file_names_are_refused(tmp_path: Path, entry: dict[str, Any]) -> None:
    assert failure(write(tmp_path, entry)).code == "AML_LOCK_UNSAFE_NAME"


@pytest.mark.parametrize("name", ["../a-1.0-py3-none-any.whl", "a/../a-1.0-py3-none-any.whl", "..\\a-1.0-py3-none-any.whl"])
def test_unsafe_wheel_names_are_refused(tmp_path: Path, name: str) -> None:
    entry = package("a", wheels=[{"name": name, "url": "https://files.example.org/a.whl", "hashes": {"sha256": SHA}}])
    assert failure(write(tmp_path, entry)).code in {"AML_LOCK_UNSAFE_NAME", "AML_LOCK_INVALID"}


def test_the_best_wheel_is_chosen(tmp_path: Path) -> None:
    tags = [
        "py3-none-any",
        "cp311-abi3-manylinux_2_31_riscv64",
        "cp311-cp311-manylinux_2_39_riscv64",
        "cp312-cp312-linux_riscv64",
    ]
    path = write(tmp_path, package("a", wheels=[wheel("a", tag) for tag in tags]))
    chosen = select(read_lock(path), linux_python(), lock=path)
    assert [file.filename for file in chosen] == ["a-1.0-cp311-cp311-manylinux_2_39_riscv64.whl"]
    assert (chosen[0].kind, chosen[0].size, chosen[0].sha256, chosen[0].version) == (FileKind.WHEEL, 10, SHA, "1.0")
    assert not chosen[0].needs_build


def test_markers_choose_between_versions(tmp_path: Path) -> None:
    older = package("a", "1.0", marker="python_full_version < '3.12'", wheels=[wheel("a")])
    newer = package("a", "2.0", marker="python_full_version >= '3.12'", wheels=[wheel("a", version="2.0")])
    windows = package("b", marker="sys_platform == 'win32'", wheels=[wheel("b")])
    path = write(tmp_path, older, newer, windows)
    assert [file.version for file in select(read_lock(path), linux_python(11), lock=path)] == ["1.0"]
    assert [file.version for file in select(read_lock(path), linux_python(13), lock=path)] == ["2.0"]


def test_every_other_kind(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        package(
            "a",
            sdist={"url": "https://files.example.org/a-1.0.tar.gz", "hashes": {"sha256": SHA}},
            wheels=[wheel("a", "cp310-cp310-win32")],
        ),
        package(
            "b", None, vcs={"type": "git", "url": "https://git.example.org/b", "commit-id": "c" * 40, "subdirectory": "sub"}
        ),
        package("c", None, directory={"path": "../c", "editable": True}),
        package("d", None, directory={"path": "d"}),
        package("e", None, archive={"url": "https://files.example.org/e-1.0.zip", "hashes": {"sha256": SHA}}),
        package("f", None, archive={"path": "../f-2.0-py3-none-any.whl", "hashes": {"sha256": SHA}}),
    )
    a, b, c, d, e, f = select(read_lock(path), linux_python(), lock=path)
    assert (a.kind, a.filename, a.size, a.needs_build) == (FileKind.SDIST, "a-1.0.tar.gz", None, True)
    assert (b.kind, b.url, b.commit, b.subdirectory, b.needs_build) == (
        FileKind.VCS,
        "https://git.example.org/b",
        "c" * 40,
        "sub",
        True,
    )
    assert (c.kind, c.path, c.editable, c.needs_build) == (FileKind.DIRECTORY, tmp_path.parent / "c", True, False)
    assert (d.path, d.editable, d.needs_build) == (tmp_path / "d", False, True)
    assert (e.kind, e.filename, e.needs_build) == (FileKind.ARCHIVE, "e-1.0.zip", True)
    assert (f.kind, f.version, f.path, f.needs_build) == (
        FileKind.WHEEL,
        "2.0",
        tmp_path.parent / "f-2.0-py3-none-any.whl",
        False,
    )


def test_b88_without_a_wheel_the_pythons_that_have_one_are_named(tmp_path: Path) -> None:
    tags = ["cp311-cp311-linux_riscv64", "cp312-cp312-linux_riscv64", "cp313-cp313-win_amd64"]
    path = write(tmp_path, package("b", wheels=[wheel("b")]), package("a", wheels=[wheel("a", tag) for tag in tags]))
    error = failure(path, linux_python(14))
    assert error.code == "AML_NO_WHEEL"
    assert error.arguments == {
        "name": "a",
        "version": "1.0",
        "python": "3.14.2",
        "platform": "linux-riscv64",
        "pythons": "3.11, 3.12",
    }


def test_without_a_wheel_for_any_python_that_is_said(tmp_path: Path) -> None:
    path = write(tmp_path, package("a", wheels=[wheel("a", "cp313-cp313-win_amd64")]))
    assert failure(path).code == "AML_NO_WHEEL_HERE"
    direct = package(
        "a", None, archive={"url": "https://files.example.org/a-1.0-cp313-cp313-win_amd64.whl", "hashes": {"sha256": SHA}}
    )
    assert failure(write(tmp_path, direct)).code == "AML_NO_WHEEL_HERE"


def test_a_lock_for_another_python_or_platform_is_refused(tmp_path: Path) -> None:
    error = failure(write(tmp_path, package("a", wheels=[wheel("a")]), **{"requires-python": ">=3.12"}))
    assert (error.code, error.arguments["wanted"], error.arguments["python"]) == ("AML_LOCK_PYTHON", ">=3.12", "3.11.2")
    error = failure(write(tmp_path, package("a", **{"requires-python": "<3.11"}, wheels=[wheel("a")])))
    assert error.code == "AML_LOCK_PYTHON"
    error = failure(write(tmp_path, package("a", wheels=[wheel("a")]), environments=["sys_platform == 'win32'"]))
    assert (error.code, error.arguments["platform"]) == ("AML_LOCK_PLATFORM", "linux-riscv64")


@pytest.mark.parametrize("hashes", [{"md5": "0" * 32}, {"sha256": "12"}, {"sha512": "0" * 128}])
def test_a_file_without_sha256_is_refused(tmp_path: Path, hashes: dict[str, str]) -> None:
    assert failure(write(tmp_path, package("a", wheels=[wheel("a", hashes=hashes)]))).code == "AML_LOCK_NO_SHA256"


def test_two_candidates_for_one_name_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, package("a", wheels=[wheel("a")]), package("a", "2.0", wheels=[wheel("a", version="2.0")]))
    assert failure(path).code == "AML_LOCK_INVALID"


def test_b90_only_files_with_the_wanted_hashes_are_kept() -> None:
    other = "b" * 64
    wheels = [wheel("a"), wheel("a", "cp311-cp311-linux_riscv64", hashes={"sha256": other})]
    sdist = {"url": "https://files.example.org/a-1.0.tar.gz", "hashes": {"sha256": SHA}}
    free = package("b", wheels=[wheel("b")])
    lock = Pylock.from_dict(content(package("a", wheels=wheels, sdist=sdist), free))
    kept = restrict_to_hashes(lock, {"a": frozenset({f"sha256:{other}"})})
    assert [file.filename for file in kept.packages[0].wheels or ()] == ["a-1.0-cp311-cp311-linux_riscv64.whl"]
    assert kept.packages[0].sdist is None
    assert kept.packages[1] == lock.packages[1]
    kept.validate()
    with pytest.raises(AmlError) as caught:
        restrict_to_hashes(lock, {"a": frozenset({"sha256:" + "c" * 64})})
    assert caught.value.code == "AML_REQUIREMENTS_HASH_MISMATCH"
    message, hint = error_texts(caught.value)
    assert "files.example.org" in message
    assert f"a-1.0-py3-none-any.whl sha256:{SHA}" in message
    assert "Allowed: sha256:" + "c" * 64 in message
    assert hint
    many = frozenset(f"sha256:{number:064x}" for number in range(100))
    with pytest.raises(AmlError) as caught:
        restrict_to_hashes(lock, {"a": many})
    assert error_texts(caught.value)[0].endswith(f"sha256:{2:064x}, ….")


def test_scrub_takes_credentials_out_of_every_address() -> None:
    secret = "https://me:s3cret@files.example.org"
    lock = Pylock.from_dict(
        content(
            package(
                "a",
                index=f"{secret}/simple",
                wheels=[
                    wheel("a", url=f"{secret}/a-1.0-py3-none-any.whl", **{"upload-time": datetime(2026, 1, 1, tzinfo=UTC)})
                ],
                sdist={"url": f"{secret}/a-1.0.tar.gz", "hashes": {"sha256": SHA}},
            ),
            package("b", None, vcs={"type": "git", "url": "ssh://git:s3cret@git.example.org/b", "commit-id": "c"}),
            package("c", None, archive={"url": "https://s3cret@files.example.org/c-1.0.zip", "hashes": {"sha256": SHA}}),
            package("d", None, vcs={"type": "git", "url": "ssh://git@git.example.org/d", "commit-id": "c"}),
            tool={"x": {"urls": [f"{secret}/x"]}},
        )
    )
    text = lock_text(scrub(lock))
    assert "s3cret" not in text
    assert "me@" not in text
    assert "https://files.example.org/a-1.0-py3-none-any.whl" in text
    assert "ssh://git@git.example.org/b" in text
    assert "ssh://git@git.example.org/d" in text
    assert scrub(scrub(lock)) == scrub(lock)


def test_the_text_of_a_lock_can_be_read_again(tmp_path: Path) -> None:
    path = write(
        tmp_path, package("a", marker="python_version > '3'", wheels=[wheel("a")]), **{"requires-python": ">=3.11"}
    )
    lock = read_lock(path)
    path.write_text(lock_text(lock), encoding="utf-8")
    assert read_lock(path) == lock


def test_the_digest_of_a_lock_is_that_of_its_file(tmp_path: Path) -> None:
    text = "lock\nünïcode\n"
    path = tmp_path / "pylock.toml"
    write_text_atomically(path, text)
    assert lock_digest(text) == sha256_of(path)
    assert lock_digest(text.replace("\n", "\r\n")) == lock_digest(text)
    assert lock_digest(text + "x") != lock_digest(text)


def stored(folder: Path, name: str) -> StoredWheel:
    path = make_wheel(folder, name)
    return StoredWheel(name, "1.0", path, path.stat().st_size, sha256_of(path))


def uv(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    from uv import find_uv_bin

    command = [find_uv_bin(), "--no-config", "--offline", "--cache-dir", cwd / "cache", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120)


def sync(root: Path) -> subprocess.CompletedProcess[str]:
    environment = root / "venv"
    if not environment.exists():
        uv("venv", "--python", sys.executable, environment, cwd=root).check_returncode()
    return uv("pip", "sync", "--python", environment, root / "runtime" / "pylock.local.toml", cwd=root)


def installed(root: Path) -> dict[str, str]:
    listed = uv("pip", "list", "--python", root / "venv", "--format", "json", cwd=root)
    return {entry["name"]: entry["version"] for entry in json.loads(listed.stdout)}


@pytest.mark.e2e
def test_uv_installs_the_local_lock_and_refuses_a_wrong_hash(tmp_path: Path) -> None:
    root = tmp_path / "wörk space"
    lock = root / "runtime" / "pylock.local.toml"
    lock.parent.mkdir(parents=True)
    wheels = [stored(root / "downloads", "tinyb"), stored(root / "downloads", "tinya")]
    text = local_lock(wheels, [], lock=lock)
    assert 'path = "../downloads/tinya-1.0-py3-none-any.whl"' in text
    assert str(root) not in text
    write_text_atomically(lock, text)
    assert [file.path for file in select(read_lock(lock), python(), lock=lock)] == [
        root / "downloads/tinya-1.0-py3-none-any.whl",
        root / "downloads/tinyb-1.0-py3-none-any.whl",
    ]
    sync(root).check_returncode()
    assert installed(root) == {"tinya": "1.0", "tinyb": "1.0"}

    wrong = replace(stored(root / "downloads", "tinyc"), sha256=SHA)
    write_text_atomically(lock, local_lock([*wheels, wrong], [], lock=lock))
    result = sync(root)
    assert result.returncode != 0
    assert "mismatch" in result.stderr.lower()
    assert "tinyc" not in installed(root)


@pytest.mark.e2e
def test_uv_keeps_editables_of_the_local_lock(tmp_path: Path) -> None:
    project = tmp_path / "mine"
    project.mkdir()
    (project / "pyproject.toml").write_text(
        '[project]\nname = "mine"\nversion = "0.1"\n'
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
        encoding="utf-8",
    )
    (project / "backend.py").write_text(
        "import zipfile\n"
        "def build_editable(folder, config_settings=None, metadata_directory=None):\n"
        "    name = 'mine-0.1-py3-none-any.whl'\n"
        "    with zipfile.ZipFile(folder + '/' + name, 'w') as z:\n"
        "        z.writestr('mine.pth', '')\n"
        "        z.writestr('mine-0.1.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: mine\\nVersion: 0.1\\n')\n"
        "        z.writestr('mine-0.1.dist-info/WHEEL', 'Wheel-Version: 1.0\\nTag: py3-none-any\\n')\n"
        "        z.writestr('mine-0.1.dist-info/RECORD', '')\n"
        "    return name\n",
        encoding="utf-8",
    )
    source = write(tmp_path, package("mine", None, directory={"path": "mine", "editable": True}))
    editables = [file for file in select(read_lock(source), python(), lock=source) if file.editable]
    lock = tmp_path / "runtime" / "pylock.local.toml"
    write_text_atomically(lock, local_lock([stored(tmp_path / "downloads", "tinya")], editables, lock=lock))
    assert 'path = "../mine"' in lock.read_text(encoding="utf-8")
    sync(tmp_path).check_returncode()
    assert installed(tmp_path) == {"tinya": "1.0", "mine": "0.1"}


@pytest.mark.e2e
def test_a_lock_that_uv_resolved_can_be_chosen_from(tmp_path: Path) -> None:
    store = tmp_path / "store"
    make_wheel(store, "tinya", requires=["tinyb"])
    make_wheel(store, "tinyb")
    (tmp_path / "requirements.txt").write_text("tinya\n", encoding="utf-8")
    output = tmp_path / "pylock.toml"
    options = [
        "--no-index",
        "--find-links",
        store,
        "--format",
        "pylock.toml",
        "--python",
        sys.executable,
        "--output-file",
        output,
    ]
    uv("pip", "compile", *options, "requirements.txt", cwd=tmp_path).check_returncode()
    chosen = select(read_lock(output), python(), lock=output)
    assert [(file.name, file.kind) for file in chosen] == [("tinya", FileKind.WHEEL), ("tinyb", FileKind.WHEEL)]
    assert [file.sha256 for file in chosen] == [sha256_of(store / file.filename) for file in chosen]


@pytest.mark.e2e
def test_b90_a_wrong_hash_in_the_requirements_is_found_after_resolving(tmp_path: Path) -> None:
    store = tmp_path / "store"
    right = sha256_of(make_wheel(store, "tinya"))
    source, output = tmp_path / "requirements.txt", tmp_path / "pylock.toml"
    options = ["--no-deps", "--no-index", "--find-links", store, "--format", "pylock.toml", "--python", sys.executable]
    for wanted in (right, SHA):
        source.write_text(f"tinya==1.0 --hash=sha256:{wanted}\n", encoding="utf-8")
        uv("pip", "compile", *options, "--output-file", output, source, cwd=tmp_path).check_returncode()
        allowed = parse_closure(source, {}).allowed_hashes
        if wanted == right:
            assert select(restrict_to_hashes(read_lock(output), allowed), python(), lock=output)[0].sha256 == right
        else:
            with pytest.raises(AmlError) as caught:
                restrict_to_hashes(read_lock(output), allowed)
            assert caught.value.code == "AML_REQUIREMENTS_HASH_MISMATCH"


@pytest.mark.e2e
def test_b78_uv_resolves_the_transcoded_text(tmp_path: Path) -> None:
    store = tmp_path / "store"
    make_wheel(store, "tinya")
    make_wheel(store, "tinya", "2.0")
    (tmp_path / "limits.txt").write_bytes("tinya<2\r\n".encode("utf-16-le"))
    source = tmp_path / "requirements.txt"
    source.write_bytes("-c limits.txt\r\n--find-links store\r\ntinya \\\r\n>=1.0\r\n".encode("utf-16-le"))
    closure = parse_closure(source, {})
    assert closure.needs_transcoding
    private, output = tmp_path / "private", tmp_path / "pylock.toml"
    private.mkdir()
    (private / "r.txt").write_text(closure.requirements_text(), encoding="utf-8")
    (private / "c.txt").write_text(closure.constraints_text(), encoding="utf-8")
    options = ["--no-index", "--constraints", private / "c.txt", "--format", "pylock.toml", "--python", sys.executable]
    uv("pip", "compile", *options, "--output-file", output, private / "r.txt", cwd=closure.folder).check_returncode()
    assert [file.version for file in select(read_lock(output), python(), lock=output)] == ["1.0"]


def test_without_an_interpreter_every_file_that_may_be_needed_is_named(tmp_path: Path) -> None:
    hashes = {"sha256": SHA}
    lock = Pylock.from_dict(
        {
            "lock-version": "1.0",
            "created-by": "tests",
            "packages": [
                {
                    "name": "a",
                    "version": "1.0",
                    "wheels": [
                        {"url": f"https://files.example.org/a-1.0-{tag}.whl", "size": 5, "hashes": hashes}
                        for tag in ("py3-none-any", "cp39-cp39-win32")
                    ],
                    "sdist": {"url": "https://files.example.org/a-1.0.tar.gz", "hashes": hashes},
                },
                {"name": "b", "sdist": {"url": "https://files.example.org/b-1.0.tar.gz", "hashes": hashes}},
                {"name": "c", "archive": {"url": "https://files.example.org/c-2.0-cp39-cp39-win32.whl", "hashes": hashes}},
                {"name": "d", "directory": {"path": "../d", "editable": True}},
            ],
        }
    )
    found = alternatives(lock, lock=tmp_path / "runtime" / "pylock.toml")
    assert [[file.filename for file in files] for files in found] == [
        ["a-1.0-py3-none-any.whl", "a-1.0-cp39-cp39-win32.whl"],
        ["b-1.0.tar.gz"],
        ["c-2.0-cp39-cp39-win32.whl"],
        [""],
    ]
    assert [files[0].kind for files in found] == [FileKind.WHEEL, FileKind.SDIST, FileKind.WHEEL, FileKind.DIRECTORY]
    assert (found[2][0].version, found[3][0].editable) == ("2.0", True)


@pytest.mark.parametrize("url", ["https://[::1/tinya-1.0-py3-none-any.whl", "https://h:port/tinya-1.0-py3-none-any.whl"])
def test_an_address_that_is_none_is_refused(tmp_path: Path, url: str) -> None:
    named = {"name": "tinya-1.0-py3-none-any.whl", "url": url, "hashes": {"sha256": SHA}}
    path = write(tmp_path, package("tinya", wheels=[named]))
    with pytest.raises(AmlError, match="AML_LOCK_INVALID"):
        read_lock(path)


def test_a_marker_that_compares_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    assert (
        failure(write(tmp_path, package("tinya", marker="os_name ~= 'x'", wheels=[wheel("tinya")]))).code
        == "AML_LOCK_INVALID"
    )


def test_a_folder_whose_name_none_can_have_is_not_at_hand(tmp_path: Path) -> None:
    path = write(tmp_path, package("tinya", None, directory={"path": "x" * 5000}))
    (found,) = select(read_lock(path), linux_python(), lock=path)
    assert not found.is_at_hand
    assert len(requirements_digest(read_lock(path), "3.11", folder=tmp_path)) == 12
