"""Requirements files: bytes of any encoding, lines of every form, files that include each other."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from hypothesis import strategies as st

from amlwizard.core.choices import Choices
from amlwizard.core.digest import requirements_digest
from amlwizard.core.errors import AmlError
from amlwizard.core.requirements import (
    RequirementsClosure,
    closure_of_text,
    is_complete_hashed_lock,
    is_pylock,
    parse_closure,
)
from amlwizard.core.top_level import TopLevel
from amlwizard.core.wish import make_wish
from tests.fuzz.ingredients import encoded, mutated, texts, variables
from tests.fuzz.kind import Kind
from tests.fuzz.rules import BreachError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tests.fuzz.place import Place

_SHA: Final = "a" * 64
_FILES: Final = ("requirements.txt", "more.txt", "sub/deep.txt", "limits.txt")
_NAMES: Final = ("numpy", "Torch_Vision", "a.b-c", "typing_extensions", "x", "-x", "naïve", "numpy[fast]", "n[a,,b]", "n[")
_VERSIONS: Final = (
    *(
        "",
        "==1.0",
        "==1.*",
        "===any thing",
        ">=1,<2",
        "~=1.0",
        "~=1",
        "!=1",
        "<",
        "==1.0+local",
        "== 1.0",
        "==1.0.dev0",
        ">=1,==2",
    ),
    *(
        "==1e999",
        "==" + "9" * 5000,
        "==1.0,==2.0",
        "@1",
        " @ https://files.example.org/numpy-1.0-py3-none-any.whl",
        "==v1",
        "(>=1)",
    ),
)
_MARKERS: Final = (
    *(
        "",
        "; python_version < '3.12'",
        " ; sys_platform == 'win32' and extra == 'x'",
        ";",
        "; os_name",
        "; python_version < 'x'",
    ),
    *(
        "; " + "(" * 2000 + "os_name == 'x'" + ")" * 2000,
        "; platform_release >= '1.x'",
        "; 'a' in extras",
        "; python_version in '3.1'",
    ),
)
_TAILS: Final = (
    *(
        "",
        f" --hash=sha256:{_SHA}",
        f" --hash sha256:{_SHA}",
        " --hash=md5:abc",
        " --hash",
        " \\\n  --hash=sha256:" + _SHA,
        " # why",
    ),
    *(
        " --config-settings x=y",
        " --config-settings='x y'",
        ' --global-option="',
        " \\\n",
        " -",
        " --unknown",
        "#sha256=" + _SHA,
    ),
)
_LINES: Final = (
    *(
        "-r more.txt",
        "-rmore.txt",
        "-r requirements.txt",
        "--requirement=sub/deep.txt",
        "-c limits.txt",
        "-r ../requirements.txt",
    ),
    *(
        "-c requirements.txt",
        "-r absent.txt",
        "-r /dev/zero",
        "-r .",
        "-r pipe",
        "-r loop",
        "-r socket",
        "-r 'more.txt'",
        "-r",
        "-c ''",
    ),
    *(
        "-r https://files.example.org/more.txt",
        "-r more.txt -r more.txt",
        "-r ${HOME}/keep.txt",
        "-e .",
        "-e ./pkg",
        "-e pkg[extra]",
    ),
    *(
        "-e git+https://git.example.org/r.git@main#egg=r",
        "-e",
        "-e ./absent",
        "-e file:pkg",
        "./pkg",
        "pkg/",
        "./tiny-1.0-py3-none-any.whl",
    ),
    *(
        "tiny-1.0-py3-none-any.whl",
        "tiny @ ./tiny-1.0-py3-none-any.whl",
        "file:tiny-1.0-py3-none-any.whl",
        "file:///",
        "../files/pkg",
    ),
    *(
        "git+ssh://git@git.example.org/r",
        "hg+http://hg.example.org/r",
        "git+file:///x",
        "https://u:p@files.example.org/n-1.0.tar.gz",
    ),
    *(
        "https://[",
        "https://[::1]:x/n.whl",
        "n @ https://[x/n.whl",
        "https://files.example.org/%zz.whl",
        "ftp://x/y.zip",
        "a\\b.zip",
    ),
    *(
        "C:\\wheels\\n.whl",
        "~/n.whl",
        "${TOKEN}",
        "n==${VERSION}",
        "https://${TOKEN}@files.example.org/n.zip",
        "--find-links ${PLACE}",
    ),
    *(
        "-i https://index.example.org/simple",
        "--index-url",
        "--extra-index-url=https://u:p@index.example.org",
        "-f .",
        "-f absent",
    ),
    *(
        "--find-links=https://files.example.org/",
        "--no-index",
        "--pre",
        "--require-hashes",
        "--trusted-host x",
        "--no-binary :all:",
    ),
    *(
        "--only-binary=:none:",
        "--use-feature fast",
        "--prefer-binary",
        "--hash=sha256:" + _SHA,
        "--",
        "-",
        "--=",
        '-i"',
        "--x='",
        "-C a=b",
    ),
    *(
        "# a comment",
        "   ",
        "\\",
        "#\\",
        "n \\\n==1.0",
        "n==1 # c \\",
        "[project]",
        "dependencies:",
        'lock-version = "1.0"',
        "===",
        "@",
    ),
    *(
        "n" * 50_000,
        "n " * 20_000,
        "-" * 50_000,
        "./" * 20_000,
        "n" + "[" * 30_000,
        "'" * 30_000,
        "n;" * 20_000,
        "${A" * 20_000,
    ),
)
_USUAL: Final = (
    *(
        "-r more.txt",
        "-c limits.txt",
        "-r sub/deep.txt",
        "--pre",
        "--no-index",
        "-f .",
        "./pkg",
        "-e ./pkg[fast]",
        "# why",
        "",
    ),
    *(
        "numpy>=1,<2 ; python_version < '3.12'",
        "Torch_Vision[fast]~=1.0",
        "n @ https://files.example.org/n-1.0-py3-none-any.whl",
    ),
    *(
        "-i https://index.example.org/simple",
        "git+https://git.example.org/r.git@main#egg=r",
        "m==1.0 \\\n  # why",
        "k \\\n>=1",
    ),
    *("./tiny-1.0-py3-none-any.whl", "--extra-index-url https://u:p@index.example.org/simple", "--no-binary=k", "l!=2"),
)
_ENDS: Final = ("\n", "\n", "\n", "\r\n", "\r", "\n\n", "\x0b", "\x85", "\u2028", " \\\n", "")

_requirement = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(_NAMES) | texts,
    st.sampled_from(_VERSIONS) | texts,
    st.sampled_from(_MARKERS),
    st.sampled_from(_TAILS),
)
_plain = st.builds("{}=={}.0".format, st.sampled_from(("numpy", "pandas", "x", "y")), st.integers(0, 1))
_line = st.one_of(_plain, _plain, _requirement, st.sampled_from(_LINES), texts)


def _written(line: st.SearchStrategy[str], end: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(st.tuples(line, end), max_size=6).map(lambda lines: "".join(a + b for a, b in lines))


_usual = _written(_plain | st.sampled_from(_USUAL), st.just("\n"))
_file = _usual | _written(_line, st.sampled_from(_ENDS))
_bytes = st.one_of(encoded(_file), encoded(_usual), mutated(encoded(_file)), st.binary(max_size=30))
_environ = st.fixed_dictionaries({}, optional=dict.fromkeys(("TOKEN", "VERSION", "PLACE", "HOME"), variables))


@st.composite
def _inputs(draw: st.DrawFn) -> tuple[dict[str, bytes], dict[str, str]]:
    files = {name: draw(_bytes) for name in _FILES[: draw(st.integers(1, len(_FILES)))]}
    top = draw(st.sampled_from(("requirements.txt",) * 6 + ("environment.yml", "pyproject.toml", "pylock.toml", "x.toml")))
    files[top] = files.pop("requirements.txt")
    return files, draw(_environ)


def _lay(place: Place, value: tuple[dict[str, bytes], dict[str, str]]) -> None:
    for name, content in value[0].items():
        place.put(place.files / name, content)
    place.put(place.files / "pkg" / "setup.py", b"")
    place.put(place.files / "tiny-1.0-py3-none-any.whl", b"PK")
    if os.name != "nt":
        (place.files / "loop").symlink_to("loop")
        os.mkfifo(place.files / "pipe")
        with (
            suppress(OSError),
            socket.socket(socket.AF_UNIX) as listener,
        ):  # a long path of the temporary folder is too long
            listener.bind(str(place.files / "socket"))


def _probes(place: Place, value: tuple[dict[str, bytes], dict[str, str]]) -> Iterator[Callable[[], object]]:
    files, environ = value
    path = place.files / list(files)[-1]
    yield lambda: is_pylock(path)
    yield lambda: _read(path, environ)
    for name in files:
        if place.files / name != path:
            yield lambda name=name: parse_closure(place.files / name, environ)
    yield lambda: make_wish(Choices(root=place.root, requirements=path), place.workspace, environ).digest("3.11")


def _read(path: Any, environ: Mapping[str, str]) -> None:
    closure = parse_closure(path, environ)
    _use(closure, environ)
    again = closure_of_text(path, closure.requirements_text(), closure.constraints_text(), environ)
    if requirements_digest(again, "3.11") != requirements_digest(closure, "3.11"):
        raise BreachError(f"the text for uv means something else: {closure.requirements_text()[:300]!r}")
    with suppress(AmlError):
        travels = TopLevel.of(closure)
        travels.closure(path, environ)
        travels.with_added(["x", "-e .", "y @ https://u:p@h/y.whl"]).to_toml()


def _use(closure: RequirementsClosure, environ: Mapping[str, str]) -> None:
    for with_uv in (True, False):
        with suppress(AmlError):
            parse_closure(closure.path, environ, with_uv=with_uv)
    is_complete_hashed_lock(closure)
    _ = (
        closure.logins,
        closure.needs_git,
        closure.allowed_hashes,
        closure.unsupported,
        closure.passed_over,
        closure.option_lines,
    )
    repr(closure)
    for entry in closure.entries:
        _ = (entry.pinned_version, entry.is_folder, entry.is_vcs)


KIND: Final = Kind("requirements", _inputs(), _lay, _probes)
