"""Requirements files: what is read, and what is refused with file and line."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from uv import find_uv_bin

from amlwizard.core.catalogue import error_texts
from amlwizard.core.errors import RefusedError
from amlwizard.core.requirements import (
    RequirementsClosure,
    is_complete_hashed_lock,
    is_pylock,
    parse_closure,
)
from tests.support.locked_out import locked_out
from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

HASH = "sha256:" + "a" * 64
OTHER_HASH = "sha256:" + "b" * 64


def write(folder: Path, text: str | bytes, name: str = "requirements.txt") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def parse(folder: Path, text: str | bytes, **environ: str) -> RequirementsClosure:
    return parse_closure(write(folder, text), environ)


def refusal(folder: Path, text: str | bytes, **environ: str) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        parse(folder, text, **environ)
    for language in ("en", "zh_CN"):
        message, hint = error_texts(caught.value, language)
        assert message
        assert hint
    return caught.value


def told_place(folder: Path) -> str:
    """Return how tools are told a folder: uv and pip take backslashes of a file's options for something else."""
    return folder.as_uri() if os.name == "nt" else str(folder)


def option_values(closure: RequirementsClosure, name: str) -> tuple[str, ...]:
    return tuple(option.value for option in closure.options if option.name == name)


def names(closure: RequirementsClosure) -> list[str | None]:
    return [entry.name for entry in closure.requirements]


def test_reads_names_specifiers_extras_and_markers(tmp_path: Path) -> None:
    closure = parse(tmp_path, "# head\nScikit_Learn[Plots, tests] >=1.0,<2 ; python_version>'3.8'  # why\n\nnumpy\n")
    first, second = closure.entries
    assert first.name == "scikit-learn"
    assert first.extras == ("plots", "tests")
    assert first.specifier == "<2,>=1.0"
    assert first.marker == 'python_version > "3.8"'
    assert (first.line, second.line) == (2, 4)
    assert second.name == "numpy"
    assert not closure.needs_transcoding


def test_joins_continued_lines_and_reads_hashes(tmp_path: Path) -> None:
    closure = parse(
        tmp_path, f"numpy==2.0 \\\n    --hash={OTHER_HASH} \\\n    --hash {HASH}\n    # via x\npandas==3.0 --hash={HASH}\n"
    )
    numpy, pandas = closure.entries
    assert numpy.hashes == (HASH, OTHER_HASH)
    assert pandas.line == 5
    assert is_complete_hashed_lock(closure)
    assert not closure.needs_transcoding


def test_a_comment_line_ends_a_continuation(tmp_path: Path) -> None:
    assert names(parse(tmp_path, "numpy \\\n# not this \\\npandas\n")) == ["numpy", "pandas"]


@pytest.mark.parametrize("ending", ["", f" \\\n --hash={HASH}"])
def test_a_continuation_inside_a_requirement_is_joined_for_uv(tmp_path: Path, ending: str) -> None:
    closure = parse(tmp_path, f"numpy \\\n==2.0{ending}\n")
    assert closure.entries[0].pinned_version == "2.0"
    assert closure.needs_transcoding
    assert closure.requirements_text().startswith("numpy ==2.0")
    assert closure.requirements_text().count("\n") == 1


HASHED = f"numpy==2.0 \\\n    --hash={HASH}"

READ_ALIKE = {
    "numpy \\\n==2.0\npandas\n": "numpy==2.0 pandas",
    "numpy \\\n\npandas\n": "numpy pandas",
    "numpy \\\n   \npandas\n": "numpy pandas",
    "numpy \\\r\n\r\npandas\r\n": "numpy pandas",
    "numpy \\\n# why\npandas\n": "numpy pandas",
    "numpy \\\n  # why \\\npandas\n": "numpy pandas",
    "numpy # why \\\nscipy\npandas\n": "numpy pandas",  # the comment goes on
    "numpy\npandas # why \\\n": "numpy pandas",
    "# why \\\nnumpy\n": "numpy",
    "\\\nnumpy\n": "numpy",
    "num\\\npy\n": "numpy",
    "--no-index \\\n\nnumpy\n": "numpy",
    "--find-links \\\n.\nnumpy\n": "numpy",
    "-r more.txt \\\n\nnumpy\n": "more numpy",
    f"{HASHED} \\\n\npandas==3.0 --hash={OTHER_HASH}\n": "numpy==2.0 pandas==3.0",
    f"{HASHED} \\\n    # via\npandas==3.0 --hash={OTHER_HASH}\n": "numpy==2.0 pandas==3.0",
    "\tnumpy\t==\t2.0\t\n": "numpy==2.0",
    "\fnumpy\n": "numpy",
    "numpy\u00a0\n\u3000pandas\n": "numpy pandas",
    "numpy\rpandas\r": "numpy pandas",
}
"""What pip and we read alike, and uv as well where it is given what we give it."""

REFUSED_LINES = {
    "numpy \\": 1,
    "numpy \\\n": 1,
    "numpy \\\r\n": 1,
    "numpy \\\n\n  \n": 1,
    "numpy \\ \n": 1,
    "numpy\\\n": 1,
    "numpy\n\\\n": 2,
    "numpy\n\\": 2,
    "numpy\n--no-index \\\n": 2,
    "numpy\n-e . \\\n": 2,
    "numpy\n-r more.txt \\\n": 2,
    f"{HASHED} \\\n": 1,
    "numpy \\ \npandas\n": 1,
    "numpy\n--no-index \\ \npandas\n": 2,
    "numpy\u00a0==2.0\n": 1,
    "numpy\u200b\n": 1,
    "numpy\n\ufeffpandas\n": 2,
    "numpy\fpandas\n": 1,  # pip alone splits these
    "numpy\u2028pandas\n": 1,
    "numpy pandas\n": 1,
    "numpy#why\n": 1,
}
"""What cannot be read, or is cut off, with its line."""

_PIP_READS = """
import sys
from pip._internal.network.session import PipSession
from pip._internal.req.constructors import install_req_from_parsed_requirement
from pip._internal.req.req_file import parse_requirements
for file in sys.argv[1:]:
    lines = parse_requirements(file, session=PipSession())
    print(*sorted(str(install_req_from_parsed_requirement(line).req) for line in lines))
"""


def _readable(closure: RequirementsClosure) -> str:
    return " ".join(sorted(f"{entry.name}{entry.specifier}" for entry in closure.entries))


def test_lines_are_joined_as_pip_joins_them(tmp_path: Path) -> None:
    write(tmp_path, "more\n", "more.txt")
    files = [write(tmp_path, text, f"{number}.txt") for number, text in enumerate(READ_ALIKE)]
    pip = subprocess.run(
        [sys.executable, "-c", _PIP_READS, *files], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert pip.stdout.splitlines() == list(READ_ALIKE.values())


@pytest.mark.parametrize("text", READ_ALIKE)
def test_uv_gets_what_it_joins_alike(tmp_path: Path, text: str) -> None:
    write(tmp_path, "more\n", "more.txt")
    closure = parse(tmp_path, text)
    assert _readable(closure) == READ_ALIKE[text]
    if closure.needs_transcoding:
        write(tmp_path, closure.requirements_text())
    for name in READ_ALIKE[text].split():  # so that uv finds what it reads, and nothing else
        make_wheel(tmp_path / "links", name.partition("=")[0], name.partition("==")[2] or "1.0")
    uv = subprocess.run(
        [
            *(find_uv_bin(), "pip", "compile", "--no-config", "--offline", "--no-deps", "--no-index", "--no-header"),
            *("--no-annotate", "--no-cache", "--find-links", "links", "--python", sys.executable, closure.path.name),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert uv.returncode == 0, uv.stderr
    assert {line.partition("==")[0] for line in uv.stdout.splitlines()} == set(names(closure))


@pytest.mark.parametrize("text", REFUSED_LINES)
def test_lines_that_are_cut_off_or_hold_odd_space_are_named(tmp_path: Path, text: str) -> None:
    write(tmp_path, "more\n", "more.txt")
    error = refusal(tmp_path, text)
    assert (error.code, error.arguments["line"]) == ("AML_REQUIREMENTS_BAD_LINE", REFUSED_LINES[text])


def test_a_line_that_is_cut_off_is_shown_with_its_backslash(tmp_path: Path) -> None:
    message, _ = error_texts(refusal(tmp_path, "pandas\nnumpy \\\n"))
    assert "numpy \\ (the file ends in a backslash" in message


@pytest.mark.parametrize(
    ("encoding", "mark", "transcoded"),
    [
        ("utf-8", b"", False),
        ("utf-8", b"\xef\xbb\xbf", False),
        ("utf-16-le", b"\xff\xfe", True),
        ("utf-16-be", b"\xfe\xff", True),
        ("utf-16-le", b"", True),
        ("utf-16-be", b"", True),
        ("utf-32-le", b"\xff\xfe\x00\x00", True),
    ],
)
def test_b78_encodings_and_line_ends(tmp_path: Path, encoding: str, mark: bytes, transcoded: bool) -> None:
    data = mark + "# 依赖\r\ntinya==1.0\r\ntinyb\r\n".encode(encoding)
    closure = parse(tmp_path, data)
    assert names(closure) == ["tinya", "tinyb"]
    assert [entry.line for entry in closure.entries] == [2, 3]
    assert closure.needs_transcoding is transcoded
    assert closure.requirements_text() == "tinya==1.0\ntinyb\n"
    assert closure.path.read_bytes() == data


@pytest.mark.parametrize(("data", "line"), [(b"numpy\n\xff\xfe\xe9", 2), (b"numpy\npan\0das\n", 2), (b"\xff\xfea", 1)])
def test_undecodable_text_is_refused(tmp_path: Path, data: bytes, line: int) -> None:
    error = refusal(tmp_path, data)
    assert error.code == "AML_REQUIREMENTS_ENCODING"
    assert error.arguments["line"] == line


def test_includes_are_relative_to_the_including_file_and_cycles_end(tmp_path: Path) -> None:
    write(tmp_path, "numpy\n-r ../requirements.txt\n-c limits/c.txt\n", "sub/dev.txt")
    write(tmp_path, "pandas<3\n", "sub/limits/c.txt")
    closure = parse(tmp_path, "scipy\n-r sub/dev.txt\n--requirement=sub/dev.txt\n")
    assert names(closure) == ["scipy", "numpy"]
    assert [entry.name for entry in closure.constraints] == ["pandas"]
    assert [file.path.name for file in closure.files] == ["requirements.txt", "dev.txt", "c.txt"]
    assert closure.requirements_text() == "scipy\nnumpy\n"
    assert closure.constraints_text() == "pandas<3\n"


def test_files_may_include_each_other_as_deep_as_they_like(tmp_path: Path) -> None:
    for number in range(1500):
        write(tmp_path, f"before{number}\n-r {number + 1}.txt\nafter{number}\n", f"{number}.txt")
    write(tmp_path, "deepest\n", "1500.txt")
    closure = parse_closure(tmp_path / "0.txt", {})
    assert names(closure)[1498:1503] == ["before1498", "before1499", "deepest", "after1499", "after1498"]
    assert closure.needs_transcoding  # uv would run out of its stack


def test_a_missing_include_names_the_line_that_includes_it(tmp_path: Path) -> None:
    write(tmp_path, "numpy\n\n-r gone.txt\n", "sub/dev.txt")
    error = refusal(tmp_path, "-r sub/dev.txt\n")
    assert error.code == "AML_REQUIREMENTS_INCLUDE_MISSING"
    assert error.arguments["line"] == 3
    assert str(error.arguments["file"]).endswith("dev.txt")
    assert str(error.arguments["included"]).endswith("gone.txt")


def test_an_include_from_the_network_is_refused(tmp_path: Path) -> None:
    error = refusal(tmp_path, "-r https://me:secret@files.example.org/r.txt\n")
    assert error.code == "AML_REQUIREMENTS_REMOTE_INCLUDE"
    assert "secret" not in str(error)


def test_missing_folder_and_empty_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedError) as missing:
        parse_closure(tmp_path / "none.txt", {})
    assert missing.value.code == "AML_REQUIREMENTS_MISSING"
    with pytest.raises(RefusedError) as folder:
        parse_closure(tmp_path, {})
    assert folder.value.code == "AML_REQUIREMENTS_NOT_A_FILE"
    write(tmp_path, "numpy\n", "c.txt")
    for text in ("", "# nothing\n\n", "-c c.txt\n", "--pre\n"):
        assert refusal(tmp_path, text).code == "AML_REQUIREMENTS_EMPTY"


@pytest.mark.linux
def test_an_unreadable_file_is_refused() -> None:
    with pytest.raises(RefusedError) as caught:
        parse_closure(Path("/proc/self/mem"), {})  # a regular file whose first byte nobody can read, root included
    assert caught.value.code == "AML_REQUIREMENTS_UNREADABLE"


@pytest.mark.parametrize(
    "beginning",
    [
        "<!DOCTYPE html>",
        "\ufeff\r\n<!doctype HTML public>",
        "<html lang='en'>",
        "<!-- saved\n -->\n<HTML>",
        "<?xml version='1'?><html>",
    ],
)
def test_a_saved_web_page_is_called_one(tmp_path: Path, beginning: str) -> None:
    page = write(tmp_path, f"{beginning}\n<head><title>Sign in</title></head>\n<body>\n", "page.txt")
    for top in (page, write(tmp_path, "alpha\n-r page.txt\n")):
        with pytest.raises(RefusedError) as caught:
            parse_closure(top, {})
        assert (caught.value.code, caught.value.arguments["file"]) == ("AML_REQUIREMENTS_WEB_PAGE", str(page))
    assert all("web page" in each or "sign-in page" in each for each in error_texts(caught.value))


@pytest.mark.parametrize("long", ["a" * 256, "a" * 100_000 + ">=1", "alpha[" + "b" * 256 + "]", "alpha<" + "1" * 256])
def test_a_name_or_version_of_absurd_length_is_a_bad_line(tmp_path: Path, long: str) -> None:
    error = refusal(tmp_path, f"alpha\n{long}\n")
    assert (error.code, error.arguments["line"]) == ("AML_REQUIREMENTS_BAD_LINE", 2)
    assert "255 characters" in error_texts(error)[0]


@pytest.mark.parametrize(
    "text", ["alpha", "Alpha_B==1.0", "a==0", "a.b==1.2", "a-", "a==01.0", "a==1.*", "a.zip", "a==1.0.post1"]
)
def test_the_short_way_of_reading_says_what_the_parser_says(tmp_path: Path, text: str) -> None:
    """A blank before what follows leads by the parser."""
    readings = []
    for written in (text, f"{text} ; python_version > '3'"):
        try:
            entry = parse(tmp_path, written).entries[0]
            readings.append((entry.name, entry.specifier, entry.extras, entry.url, entry.pinned_version))
        except RefusedError as error:
            readings.append(error.code)
    assert readings[0] == readings[1]


def _work(what: Callable[[], object]) -> int:
    """Return how many lines of code of this package a call runs, which is the same on every machine."""
    count = 0

    def trace(frame: FrameType, _event: str, _argument: object) -> Callable[..., Any] | None:
        nonlocal count
        if "amlwizard" not in frame.f_code.co_filename:
            return None
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        what()
    finally:
        sys.settrace(before)
    return count


def test_the_work_grows_as_the_file_does(tmp_path: Path) -> None:
    def work(lines: int) -> int:
        path = write(tmp_path, "--pre\n" + "".join(f"package-{number}==1.{number}\n" for number in range(lines)))
        return _work(lambda: parse_closure(path, {}, with_uv=True).local_requirements_text())

    assert work(800) < 2.5 * work(400)


def test_very_many_blanks_in_a_line_are_read_at_once(tmp_path: Path) -> None:
    blanks = " " * 200_000
    assert names(parse(tmp_path, f"alpha{blanks}>=1{blanks}; python_version>'3'{blanks}# why\n")) == ["alpha"]


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "requirements.txt"
    with path.open("wb") as stream:
        stream.truncate(16 * 1024**2 + 1)
    with pytest.raises(RefusedError) as caught:
        parse_closure(path, {})
    assert caught.value.code == "AML_REQUIREMENTS_TOO_LARGE"
    assert all(error_texts(caught.value))


@pytest.mark.posix
@pytest.mark.parametrize(
    ("line", "code"),
    [
        (None, "AML_REQUIREMENTS_UNREADABLE"),
        ("-r closed/inside.txt", "AML_REQUIREMENTS_UNREADABLE"),
        ("./closed/inside.txt", "AML_REQUIREMENTS_BAD_LINE"),
        ("-f closed/inside.txt", "AML_REQUIREMENTS_BAD_LINE"),
    ],
)
def test_what_lies_in_a_folder_that_may_not_be_entered_is_not_called_missing(
    tmp_path: Path, line: str | None, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o755)
    monkeypatch.chdir(tmp_path)  # from where another user reaches what is beneath, wherever the tests put it
    place = tmp_path / "closed"
    write(place, "alpha\n", "inside.txt")
    given = place / "inside.txt" if line is None else write(tmp_path, f"{line}\n")
    with locked_out(place), pytest.raises(RefusedError) as caught:
        parse_closure(given.relative_to(tmp_path), {})
    assert caught.value.code == code
    assert "Permission denied" in error_texts(caught.value)[0]


@pytest.mark.posix
def test_a_link_to_itself_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "requirements.txt"
    path.symlink_to(path)
    with pytest.raises(RefusedError) as caught:
        parse_closure(path, {})
    assert caught.value.code in {"AML_REQUIREMENTS_MISSING", "AML_REQUIREMENTS_UNREADABLE"}


def test_a_path_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedError) as caught:
        parse_closure(tmp_path / ("x" * 5000), {})
    assert caught.value.code in {"AML_REQUIREMENTS_UNREADABLE", "AML_REQUIREMENTS_MISSING"}


@pytest.mark.parametrize("bad", ["numpy=1.0", "a b c", "==1.0", "numpy ; nonsense", "numpy>=", "[x]", '-r "x', "numpy @"])
def test_a_bad_line_is_named(tmp_path: Path, bad: str) -> None:
    error = refusal(tmp_path, f"pandas\n{bad}\n")
    assert error.code in {"AML_REQUIREMENTS_BAD_LINE", "AML_REQUIREMENTS_INCLUDE_MISSING"}
    assert error.arguments["line"] == 2


def test_a_bad_line_is_shown_without_secrets(tmp_path: Path) -> None:
    error = refusal(tmp_path, "x @ https://me:secret@files.example.org/${TOKEN} nonsense ; y\n", TOKEN="hidden")
    message, hint = error_texts(error)
    assert "files.example.org" in message
    assert "secret" not in message + hint
    assert "hidden" not in message + hint


def test_variables_are_filled_and_an_unset_one_is_refused(tmp_path: Path) -> None:
    closure = parse(tmp_path, "x @ https://${USER_1}:${PASS}@files.example.org/x-1.0.zip\n", USER_1="me", PASS="secret")
    entry = closure.entries[0]
    assert entry.url == "https://me:secret@files.example.org/x-1.0.zip"
    assert closure.logins == {"https://files.example.org": ("me", "secret")}
    assert closure.variables == {"USER_1", "PASS"}
    assert "secret" not in closure.requirements_text()
    assert "secret" not in repr(closure)
    error = refusal(tmp_path, "numpy\nx==${GONE}\n")
    assert error.code == "AML_REQUIREMENTS_VARIABLE"
    assert (error.arguments["name"], error.arguments["line"]) == ("GONE", 2)


def test_the_login_of_a_repository_stands_in_no_file_that_uv_or_pip_reads(tmp_path: Path) -> None:
    closure = parse(
        tmp_path,
        "x @ git+https://me:secret@git.example.org/x@v1\n-e git+https://${TOKEN}@git.example.org/y#egg=y\n",
        TOKEN="hidden" * 4,
    )
    assert closure.git_logins == {
        "https://git.example.org/x": ("me", "secret"),
        "https://git.example.org/y": ("hidden" * 4, ""),
    }
    assert closure.logins == {}
    assert closure.needs_transcoding
    assert closure.requirements_text() == ("x @ git+https://git.example.org/x@v1\n-e git+https://git.example.org/y#egg=y\n")


def test_a_variable_in_a_version_is_filled_for_uv(tmp_path: Path) -> None:
    closure = parse(tmp_path, "numpy==${VERSION}\n", VERSION="2.0")
    assert closure.needs_transcoding
    assert closure.requirements_text() == "numpy==2.0\n"


def test_options(tmp_path: Path) -> None:
    (tmp_path / "wheels").mkdir()
    closure = parse(
        tmp_path,
        "-i https://index.example.org/simple\n--extra-index-url=https://me:pw@index.example.org/more\n"
        "-f wheels --no-index\n--pre\n--trusted-host index.example.org\n--no-binary :all:\n--only-binary=numpy\nnumpy\n",
    )
    assert option_values(closure, "--index-url") == ("https://index.example.org/simple",)
    assert option_values(closure, "--extra-index-url") == ("https://me:pw@index.example.org/more",)
    assert option_values(closure, "--find-links") == (told_place(tmp_path / "wheels"),)
    assert closure.has_option("--no-index")
    assert closure.has_option("--pre")
    assert closure.logins == {"https://index.example.org": ("me", "pw")}
    assert [option.name for option in closure.passed_over] == ["--trusted-host"]
    assert closure.unsupported == ()
    parse_closure(closure.path, {}, with_uv=True)


@pytest.mark.parametrize(
    ("text", "option", "line"),
    [
        ('tinya\ntinyb --global-option="x y"\n', "--global-option", 2),
        ("tinya -C x=y\n", "--config-settings", 1),
    ],
)
def test_b81_options_that_uv_lacks_are_named(tmp_path: Path, text: str, option: str, line: int) -> None:
    closure = parse(tmp_path, text)
    with pytest.raises(RefusedError) as caught:
        parse_closure(closure.path, {}, with_uv=True)
    assert caught.value.code == "AML_REQUIREMENTS_OPTION"
    assert (caught.value.arguments["option"], caught.value.arguments["line"]) == (option, line)
    assert "--uv-method none" in error_texts(caught.value)[1]
    parse_closure(closure.path, {}, with_uv=False)


@pytest.mark.parametrize("option", ["--use-pep517", "--no-build-isolation", "--install-option=x", "-Z"])
@pytest.mark.parametrize("with_uv", [True, False])
def test_b81_options_that_pip_lacks_in_a_file_are_named_as_well(tmp_path: Path, option: str, *, with_uv: bool) -> None:
    (tmp_path / "requirements.txt").write_text(f"tinya\n{option}\n")
    with pytest.raises(RefusedError) as caught:
        parse_closure(tmp_path / "requirements.txt", {}, with_uv=with_uv)
    assert caught.value.code == "AML_REQUIREMENTS_OPTION_UNKNOWN"
    assert (caught.value.arguments["option"], caught.value.arguments["line"]) == (option.partition("=")[0], 2)


@pytest.mark.parametrize("with_uv", [True, False])
@pytest.mark.parametrize("text", ["tinya\n--frobnicate x\n", "tinya\ntinyb --progress-bar off\n"])
def test_options_that_nobody_knows_are_refused(tmp_path: Path, text: str, *, with_uv: bool) -> None:
    closure = parse(tmp_path, text)
    with pytest.raises(RefusedError) as caught:
        parse_closure(closure.path, {}, with_uv=with_uv)
    assert caught.value.code == "AML_REQUIREMENTS_OPTION_UNKNOWN"
    assert caught.value.arguments["line"] == 2


@pytest.mark.parametrize("text", ["-i\nnumpy\n", "--hash=\n", "-r\n", "-e\n", "numpy --hash\n"])
def test_an_option_without_its_value_is_refused(tmp_path: Path, text: str) -> None:
    assert refusal(tmp_path, text).code == "AML_REQUIREMENTS_OPTION_VALUE"


@pytest.mark.parametrize("value", ["sha256:12", "md5:" + "a" * 32, "sha256=" + "a" * 64, "nonsense"])
def test_a_weak_or_broken_hash_is_refused(tmp_path: Path, value: str) -> None:
    assert refusal(tmp_path, f"numpy==1.0 --hash={value}\n").code == "AML_REQUIREMENTS_HASH"


def test_b90_partial_hashes_name_the_line_without(tmp_path: Path) -> None:
    error = refusal(tmp_path, f"tinya==2.0 --hash={HASH}\ntinyb\n")
    assert error.code == "AML_REQUIREMENTS_PARTIAL_HASHES"
    assert error.arguments["line"] == 2
    assert refusal(tmp_path, "--require-hashes\ntinyb\n").code == "AML_REQUIREMENTS_PARTIAL_HASHES"


def test_hashes_may_stand_in_constraints_and_in_addresses(tmp_path: Path) -> None:
    write(tmp_path, f"tinya==2.0 --hash={HASH}\n", "c.txt")
    closure = parse(tmp_path, f"--require-hashes\n-c c.txt\ntinya\nhttps://files.example.org/b-1.0.zip#sha256={'b' * 64}\n")
    assert closure.allowed_hashes == {"tinya": {HASH}, "b": {OTHER_HASH}}


def test_local_folders_need_no_hash_beside_hashed_lines(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    closure = parse(tmp_path, f"tinya==2.0 --hash={HASH}\n-e ./mine\n")
    assert not is_complete_hashed_lock(closure)


def test_conflicting_pins_are_refused_and_universal_ones_are_not(tmp_path: Path) -> None:
    error = refusal(tmp_path, "Numpy==1.0\npandas\nnumpy==2.0\n")
    assert error.code == "AML_REQUIREMENTS_CONFLICT"
    assert (error.arguments["first_line"], error.arguments["second_line"]) == (1, 3)
    write(tmp_path, "numpy==1.0\n", "c.txt")
    assert refusal(tmp_path, "-c c.txt\nnumpy==2.0\n").code == "AML_REQUIREMENTS_CONFLICT"
    parse(tmp_path, "numpy==1.0 ; python_version < '3.12'\nnumpy==2.0 ; python_version >= '3.12'\n")
    parse(tmp_path, "numpy==1.0\nnumpy==1.0.0\n")
    parse(tmp_path, "numpy==1.*\nnumpy==1.0\n")


def test_direct_references(tmp_path: Path) -> None:
    wheel = tmp_path / "my wheels" / "tiny_a-1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    wheel.write_bytes(b"x")
    (tmp_path / "mine").mkdir()
    closure = parse(
        tmp_path,
        "git+https://git.example.org/x/y@v1#egg=Y_z\n"
        "z @ git+ssh://git@git.example.org/x/z\n"
        "https://files.example.org/a_b-1.0.tar.gz ; python_version > '3'\n"
        "./my wheels/tiny_a-1.0-py3-none-any.whl\n"
        f"{wheel.as_uri()}\n"
        "./mine[extra]\n"
        "-e mine[dev,docs] ; os_name == 'posix'\n"
        "named@https://files.example.org/named-1.0.zip\n",
    )
    vcs, ssh, archive, wheel_path, wheel_uri, folder, editable, named = closure.entries
    assert vcs.needs_git
    assert vcs.name == "y-z"
    assert ssh.needs_git
    assert closure.logins == {}
    assert (archive.name, archive.marker) == ("a-b", 'python_version > "3"')
    assert wheel_path.path == wheel
    assert wheel_path.name == "tiny-a"
    assert wheel_uri.path == wheel
    assert folder.is_folder
    assert folder.extras == ("extra",)
    assert editable.editable
    assert editable.extras == ("dev", "docs")
    assert editable.marker == 'os_name == "posix"'
    assert (named.name, named.url) == ("named", "https://files.example.org/named-1.0.zip")
    assert closure.needs_git == (vcs, ssh)


def test_a_line_of_any_length_is_judged_at_once(tmp_path: Path) -> None:
    name = "a" * 1_000_000  # where the work grows with the square of the length, this does not end within hours
    assert refusal(tmp_path, f"{name}\n").code == "AML_REQUIREMENTS_BAD_LINE"


def test_other_version_control_systems_are_refused_for_uv(tmp_path: Path) -> None:
    closure = parse(tmp_path, "hg+https://hg.example.org/x#egg=x\n")
    with pytest.raises(RefusedError) as caught:
        parse_closure(closure.path, {}, with_uv=True)
    assert caught.value.code == "AML_REQUIREMENTS_VCS"


def test_a_missing_local_file_is_named_with_its_line(tmp_path: Path) -> None:
    error = refusal(tmp_path, "numpy\n-e ./gone\n")
    assert error.code == "AML_REQUIREMENTS_LOCAL_MISSING"
    assert error.arguments["line"] == 2


def test_find_links_beside_an_included_file_or_in_the_working_folder(tmp_path: Path) -> None:
    (tmp_path / "sub" / "wheels").mkdir(parents=True)
    (tmp_path / "more").mkdir()
    write(tmp_path, "--find-links wheels\nnumpy\n", "sub/dev.txt")
    closure = parse(tmp_path, "-r sub/dev.txt\n")
    assert option_values(closure, "--find-links") == (told_place(tmp_path / "sub" / "wheels"),)
    assert not closure.needs_transcoding
    write(tmp_path, "--find-links more\nnumpy\n", "sub/dev.txt")
    closure = parse(tmp_path, "-r sub/dev.txt\n")
    assert option_values(closure, "--find-links") == (told_place(tmp_path / "more"),)
    assert closure.needs_transcoding
    write(tmp_path, "numpy\n--find-links gone\n", "sub/dev.txt")
    error = refusal(tmp_path, "-r sub/dev.txt\n")
    assert (error.code, error.arguments["line"]) == ("AML_REQUIREMENTS_LOCAL_MISSING", 2)


@pytest.mark.parametrize("name", ["environment.yml", "environment.yaml", "list.txt"])
def test_a_conda_environment_gets_one_sentence(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, "name: x\nchannels:\n  - defaults\ndependencies:\n  - numpy=1.0\n", name)
    with pytest.raises(RefusedError) as caught:
        parse_closure(path, {})
    assert caught.value.code == "AML_REQUIREMENTS_ENVIRONMENT_YML"


def test_a_project_file_gets_one_sentence(tmp_path: Path) -> None:
    path = write(tmp_path, "[project]\nname = 'x'\n", "pyproject.toml")
    with pytest.raises(RefusedError) as caught:
        parse_closure(path, {})
    assert caught.value.code == "AML_REQUIREMENTS_PYPROJECT"


def test_locks_are_recognised_by_name_and_content(tmp_path: Path) -> None:
    assert is_pylock(tmp_path / "pylock.toml")
    assert is_pylock(tmp_path / "pylock.dev.toml")
    assert is_pylock(write(tmp_path, 'lock-version = "1.0"\n', "my lock.toml"))
    assert not is_pylock(write(tmp_path, "[project]\n", "pyproject.toml"))
    assert not is_pylock(write(tmp_path, "numpy\n"))


def test_files_are_never_changed(tmp_path: Path) -> None:
    paths = [write(tmp_path, "numpy\r\n-r b.txt\r\n"), write(tmp_path, "pandas".encode("utf-16"), "b.txt")]
    before = [(hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns) for path in paths]
    parse_closure(paths[0], {})
    assert before == [(hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns) for path in paths]


@pytest.mark.parametrize(
    "data",
    [
        b"-",
        b"--",
        b"--=",
        b"\\",
        b"\\\n\\",
        b"[",
        b"@",
        b"#",
        b"file:",
        b"file://",
        b"-e file:///\x01",
        b"${",
        b"'",
        b"a @ '\n",
    ],
)
def test_odd_bytes_end_in_a_refusal(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(RefusedError) as caught:
        parse_closure(write(tmp_path, data), {})
    assert caught.value.code.startswith("AML_REQUIREMENTS_")


@pytest.mark.parametrize(
    "bad",
    [
        "--index-urlhttps://me:hunter2@index.example.org/",
        "x https://me:hunter2@files.example.org/x",
        "!git+https://me:hunter2@git.example.org/x",
        "file://x/https://me:hunter2@files.example.org",
        "https://me:hunter2@[bad/x",
        "./${TOKEN}/x.whl",
        "x==${TOKEN}",
        "x @ https://me:hunter2@files.example.org/x.zip ; nonsense",
        "-e https://me:hunter2@[bad/x",
        "-r https://me:hunter2@files.example.org/r.txt",
        "-c ./gone/https://me:hunter2@files.example.org/r.txt",
        "--https://me:hunter2@index.example.org/ x",
    ],
)
def test_no_refusal_shows_a_secret(tmp_path: Path, bad: str) -> None:
    error = refusal(tmp_path, f"numpy\n{bad}\n", TOKEN="/hunter2 x")
    assert error.arguments["line"] == 2
    assert "hunter2" not in str(error) + "".join(error_texts(error))


PIECES = [
    *("numpy", "==1.0", "[a]", " ; os_name == 'x'", "-r ", "-c ", "more.txt", f"--hash={HASH}", "\\\n", "\n", "#", "${X}"),
    *("git+https://me:hunter2@h/x#egg=q", "file:///", "./", "-e ", "--pre", "'", '"', "\0", "\ufeff", "é", "=", "@", " "),
    *("-i https://me:hunter2@h/s", "--find-links", "C:\\x", "[", "]", ".whl", "-", "--", "\f", "\u2028", "http://[::1"),
]


@settings(derandomize=True, deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.binary(max_size=40)
    | st.builds(
        lambda pieces, encoding: "".join(pieces).encode(encoding),
        st.lists(st.sampled_from(PIECES), max_size=10),
        st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"]),
    )
)
def test_any_content_ends_in_a_closure_or_in_a_refusal_without_secrets(tmp_path: Path, data: bytes) -> None:
    write(tmp_path, "pandas\n", "more.txt")
    shown = ""
    try:
        closure = parse(tmp_path, data, X="secret")
        shown = repr(closure.options)
        assert closure.requirements_text()
        parse_closure(closure.path, {"X": "secret"}, with_uv=True)
    except RefusedError as error:
        shown += str(error) + "".join(error_texts(error, "en") + error_texts(error, "zh_CN"))
    assert "me:hunter2" not in shown


def test_a_package_that_is_pinned_over_and_over_is_read_in_time(tmp_path: Path) -> None:
    line = f"x==1.0 --hash=sha256:{'a' * 64}\n"
    assert len(parse(tmp_path, line * 5000).entries) == 5000


def test_arbitrary_versions_of_one_spelling_are_the_same(tmp_path: Path) -> None:
    assert parse(tmp_path, "x===a-b\nx===a-b; python_version > '3'\n").entries[0].pinned_version == "a-b"
    assert refusal(tmp_path, "x===a-b\nx===a-c; python_version > '3'\n").code == "AML_REQUIREMENTS_CONFLICT"


def test_files_that_only_include_each_other_are_told_as_that(tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("# none\n-r requirements.txt\n")
    error = refusal(tmp_path, "-r other.txt\n")
    assert error.code == "AML_REQUIREMENTS_CYCLE"
    assert (error.arguments["by"], error.arguments["line"]) == (str(tmp_path / "other.txt"), 2)


@pytest.mark.parametrize("name", ["Pipfile", "setup.py", "setup.cfg", "study.ipynb", "poetry.lock"])
def test_other_kinds_of_files_are_named_as_such(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text("import tinya\n")
    with pytest.raises(RefusedError, match="AML_REQUIREMENTS_OTHER_FILE"):
        parse_closure(file, {})


def test_an_address_that_is_none_is_refused_with_its_line(tmp_path: Path) -> None:
    error = refusal(tmp_path, "tinya\n--index-url https://u:p4ssw@[bad/\n")
    assert (error.code, error.arguments["line"]) == ("AML_REQUIREMENTS_BAD_LINE", 2)
    assert "p4ssw" not in str(error)
