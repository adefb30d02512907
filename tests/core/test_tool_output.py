"""What uv 0.13 really printed, with a placeholder for the host, and what it is taken for."""

from __future__ import annotations

import pytest

from amlwizard.core.catalogue import LANGUAGES, error_texts
from amlwizard.core.tool_output import blame_proxy, failure_from_output, sought_elsewhere, yanked_packages

MISSING = """error: No solution found when resolving dependencies
  cause: Because no-such-thing was not found in the package registry and you require no-such-thing, we can conclude that \
your requirements are unsatisfiable."""
UNAUTHORIZED = MISSING + (
    "\n\nhint: An index URL (http://index.example.org/simple) could not be queried due to a lack of valid authentication "
    "credentials (401 Unauthorized)"
)
FORBIDDEN = MISSING + (
    "\n\nhint: An index (http://index.example.org/simple) returned a 403 Forbidden error. "
    "Check that the index URL is correct and the credentials are valid."
)
NO_VERSION = """error: No solution found when resolving dependencies
  cause: Because there is no version of numpy==99.0 and you require numpy==99.0, we can conclude that your requirements \
are unsatisfiable."""
CONFLICT = """error: No solution found when resolving dependencies
  cause: Because you require numpy==1.0 and numpy>=2, we can conclude that your requirements are unsatisfiable."""
REFUSED = """error: Failed to fetch: http://127.0.0.1:9/simple/numpy/
  cause: error sending request for url (http://127.0.0.1:9/simple/numpy/)
  cause: client error (Connect)
  cause: tcp connect error
  cause: Connection refused (os error 111)"""
NO_NAME = """error: Failed to fetch: http://files.example.org/simple/numpy/
  cause: error sending request for url (http://files.example.org/simple/numpy/)
  cause: client error (Connect)
  cause: dns error
  cause: error resolving DNS
  cause: failed to lookup address information: Name or service not known"""
NO_COMMIT = """error: Failed to download and build `tinyd @ git+file:///srv/tinyd@00000001`
  cause: Git operation failed
  cause: failed to clone into: cache/git-v2/db/030b5736a97fd4a1
  cause: failed to fetch commit `00000001`
  cause: process didn't exit successfully: `/usr/bin/git fetch --force --update-head-ok 'file:///srv/tinyd' \
'+00000001:refs/commit/00000001'` (exit status: 128)
         --- stderr
         fatal: remote error: upload-pack: not our ref 00000001
         fatal: git upload-pack: not our ref 00000001"""
NO_GIT = """error: Failed to download and build `tinyd @ git+file:///srv/tinyd`
  cause: Git operation failed
  cause: Git executable not found. Ensure that Git is installed and available."""
_PIP_CLONES = """Collecting tinyc@ git+https://git.example.org/tinyc (from -r requirements.txt (line 1))
  Cloning https://git.example.org/tinyc to ./tinyc_1
Collecting tinyd[more]@ git+https://git.example.org/tinyd (from -r requirements.txt (line 2))
  Running command git clone --filter=blob:none --quiet https://git.example.org/tinyd ./tinyd_2
  """
GIT_LOGINS = [
    f"{_PIP_CLONES}{said}\n  error: subprocess-exited-with-error"
    for said in (
        "fatal: could not read Username for 'https://git.example.org': terminal prompts disabled",
        "fatal: could not read Password for 'https://bob@git.example.org': terminal prompts disabled",
        "remote: Invalid token\n  fatal: Authentication failed for 'https://git.example.org/tinyd/'",
        "fatal: unable to access 'https://git.example.org/tinyd/': The requested URL returned error: 403",
        "git@git.example.org: Permission denied (publickey).\n  fatal: Could not read from remote repository.",
    )
]
FULL = """error: Failed to install: tinya-1.0-py3-none-any.whl (tinya==1.0)
  cause: failed to write to file: No space left on device (os error 28)"""


SIGN_IN_PAGE = """error: No solution found when resolving dependencies
  cause: Because tinya==1.0 has an invalid package format and only tinya==1.0 is available, we can conclude that all \
versions of tinya cannot be used.
         And because you require tinya, we can conclude that your requirements are unsatisfiable.

hint: The structure of `tinya` (v1.0) was invalid:
  Failed to read from zip file"""
NO_ZIP = """error: Failed to unzip wheel: tinya-1.0-py3-none-any.whl
  cause: unable to locate the end of central directory record"""
NO_ARCHIVE = """error: Failed to download `tinya==2.0`
  cause: Failed to extract archive: tinya-2.0-py3-none-any.whl
  cause: Invalid zip file structure
  cause: Encountered an unexpected header (actual: 0x4f44213c, expected: 0x4034b50)."""
CUT_OFF = """error: Failed to download `tinya==2.0`
  cause: Failed to write to the distribution cache
  cause: error decoding response body
  cause: request or response body error
  cause: error reading a body from connection
  cause: end of file before message length reached"""
INVALID_FOR_PIP = """Collecting tinya (from -r /srv/requirements.txt (line 1))
  Downloading http://index.example.org/packages/tinya-2.0-py3-none-any.whl (1.2 kB)
ERROR: Wheel 'tinya' located at /srv/aml/runtime/tmp/9322/pip-unpack-d7dg4gd4/tinya-2.0-py3-none-any.whl is invalid."""
NO_SOURCE = """error: No solution found when resolving dependencies
  cause: Because all versions of tinya have no source distribution and all versions of tinyb depend on tinya, we can \
conclude that all versions of tinyb cannot be used.
         And because you require tinyb, we can conclude that your requirements are unsatisfiable.

hint: A source distribution is required for `tinya` because using pre-built wheels is disabled for `tinya` (i.e., with \
`--no-binary-package tinya`)"""
NO_SOURCE_OF_ONE = """error: No solution found when resolving dependencies
  cause: Because tinya==1.0 has no source distribution and you require tinya==1.0, we can conclude that your requirements \
are unsatisfiable."""
TOO_OLD = """error: No solution found when resolving dependencies
  cause: Because only tinya>=1.0 is available and you require tinya<1, we can conclude that your requirements are \
unsatisfiable."""
BETWEEN = """error: No solution found when resolving dependencies
  cause: Because only the following versions of tinya are available:
             tinya<=1.0
             tinya>=2.0
         and you require tinya>1.0,<2.0, we can conclude that your requirements are unsatisfiable."""
ONE_OF = """error: No solution found when resolving dependencies
  cause: Because only the following versions of tinya are available:
             tinya<=2.0
             tinya==3.0
         and you require one of:
             tinya>2.0,<3.0
             tinya>3.0
         we can conclude that your requirements are unsatisfiable."""
TOO_OLD_FOR_PIP = """ERROR: Could not find a version that satisfies the requirement tinya<1 (from versions: 1.0, 2.0)
ERROR: No matching distribution found for tinya<1"""
BOTH_BY_OTHERS = """error: No solution found when resolving dependencies
  cause: Because all versions of tinyc depend on tinya<1 and you require tinyc, we can conclude that you require tinya<1.
         And because you require tinya==2.0, we can conclude that your requirements are unsatisfiable."""
NO_SETUPTOOLS = """error: Failed to build `proj @ file:///srv/proj`
  cause: Failed to resolve requirements from `build-system.requires`
  cause: No solution found when resolving: `setuptools>=61`
  cause: Because setuptools was not found in the package registry and you require setuptools>=61, we can conclude that \
your requirements are unsatisfiable."""
NO_SETUPTOOLS_FOR_SETUP_PY = """error: Failed to build `proj @ file:///srv/proj`
  cause: Failed to resolve requirements from `setup.py` build
  cause: No solution found when resolving: `setuptools>=40.8.0`
  cause: Because setuptools was not found in the package registry and you require setuptools>=40.8.0, we can conclude that \
your requirements are unsatisfiable."""
NO_SETUPTOOLS_FOR_PIP = """  × pip subprocess to install build dependencies did not run successfully.
  │ exit code: 1
  ╰─> [3 lines of output]
      Looking in indexes: http://index.example.org/simple/
      ERROR: Could not find a version that satisfies the requirement setuptools>=61 (from versions: none)
      ERROR: No matching distribution found for setuptools>=61
      [end of output]

  note: This error originates from a subprocess, and is likely not a problem with pip.
error: subprocess-exited-with-error"""


DEAD_PROXY = """error: Failed to fetch: https://index.example.org/simple/idna/
  cause: error sending request for url (https://index.example.org/simple/idna/)
  cause: client error (Connect)
  cause: tunnel error: failed to create underlying connection
  cause: tcp connect error
  cause: Connection refused (os error 111)"""
NAMELESS_PROXY = """error: Failed to fetch: https://index.example.org/simple/idna/
  cause: error sending request for url (https://index.example.org/simple/idna/)
  cause: client error (Connect)
  cause: tunnel error: failed to create underlying connection
  cause: dns error
  cause: error resolving DNS
  cause: failed to lookup address information: Name or service not known"""
DEAD_PROXY_OF_PIP = """Looking in indexes: https://index.example.org/simple
WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection broken by \
'ProxyError('Cannot connect to proxy.', NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection object>: \
Failed to establish a new connection: [Errno 111] Connection refused'))': /simple/idna/
ERROR: Could not find a version that satisfies the requirement idna (from versions: none)
ERROR: No matching distribution found for idna"""


@pytest.mark.parametrize("output", [DEAD_PROXY, NAMELESS_PROXY, DEAD_PROXY_OF_PIP])
def test_a_proxy_that_does_not_answer_is_named(output: str) -> None:
    asked = []

    def proxy_for(url: str) -> str:
        asked.append(url)
        return "proxy.example.org:3128"

    error = blame_proxy(failure_from_output(output.splitlines(), otherwise="AML_RESOLVE_FAILED"), proxy_for)
    assert error.code == "AML_PROXY_UNREACHABLE"
    assert asked == ["https://index.example.org/"]
    for language in LANGUAGES:
        message, hint = error_texts(error, language)
        assert "proxy.example.org:3128" in message
        assert "index.example.org" in message
        assert "--proxy" in hint


@pytest.mark.parametrize(
    "address",
    [
        "hg+https://h.example.org/x",
        "hg+ssh://h/x",
        "svn+svn://h/x",
        "svn+https://h/x",
        "bzr+lp:x",
        "bzr+sftp://h/x",
        "git+ssh://h/x",
    ],
)
def test_what_a_wheel_wants_from_elsewhere_is_known_whatever_fetches_it(address: str) -> None:
    lines = [
        f"Collecting tinyv@ {address} (from tinyw==1.0)",
        f"  Cloning {address} to /tmp/x",
        "ERROR: Cannot find command",
    ]
    assert sought_elsewhere(lines) == [f"tinyv @ {address}"]
    for here in ("hg+file:///srv/x", "file:///srv/x-1.0-py3-none-any.whl", "./x", r"C:\wheels\x.whl"):
        assert sought_elsewhere([f"Collecting tinyv@ {here}"]) == []


UV_AND_PROXY = """\
error: Request failed after 1 retry in 1.8s
  cause: Failed to fetch: https://index.example.org/simple/tinya/
  cause: error sending request for url (https://index.example.org/simple/tinya/)
  cause: """
WHAT_UV_SAYS_OF_A_PROXY = {
    "no HTTP, or a refusal": "client error (Connect)\n  cause: tunnel error: unsuccessful",
    "closed": "client error (Connect)\n  cause: tunnel error: io error establishing tunnel\n"
    "  cause: Connection reset by peer (os error 104)",
    "closed later": "client error (Connect)\n  cause: Connection reset by peer (os error 104)",
    "nonsense": "client error (Connect)\n  cause: received corrupt message of type InvalidContentType",
    "an early end": "client error (Connect)\n  cause: tls handshake eof",
    "silence": "operation timed out",
}


@pytest.mark.parametrize("what", WHAT_UV_SAYS_OF_A_PROXY)
def test_a_proxy_that_leads_nowhere_is_named_by_what_uv_says(what: str) -> None:
    output = f"{UV_AND_PROXY}{WHAT_UV_SAYS_OF_A_PROXY[what]}"
    error = failure_from_output(output.splitlines(), otherwise="AML_RESOLVE_FAILED")
    named = blame_proxy(error, lambda _url: "proxy.example.org:3128")
    assert named.code == "AML_INDEX_PROXY"
    for language in LANGUAGES:
        message, hint = error_texts(named, language)
        assert "proxy.example.org:3128" in message
        assert "index.example.org" in message
        assert "--proxy" in hint
    if "tunnel" not in output:
        assert blame_proxy(error, lambda _url: None) is error


@pytest.mark.parametrize("output", [REFUSED, NO_NAME])
def test_over_http_the_proxy_is_what_is_looked_up_and_connected_to(output: str) -> None:
    error = failure_from_output(output.splitlines(), otherwise="AML_RESOLVE_FAILED")
    assert blame_proxy(error, lambda _url: None) is error
    assert blame_proxy(error, lambda _url: "proxy.example.org:3128").arguments["proxy"] == "proxy.example.org:3128"
    secure = failure_from_output(output.replace("http:", "https:").splitlines(), otherwise="AML_RESOLVE_FAILED")
    assert blame_proxy(secure, lambda _url: "proxy.example.org:3128") is secure


@pytest.mark.parametrize(
    ("output", "code", "named"),
    [
        (MISSING, "AML_PACKAGE_NOT_FOUND", {"package": "no-such-thing"}),
        (UNAUTHORIZED, "AML_INDEX_UNAUTHORIZED", {"host": "index.example.org"}),
        (FORBIDDEN, "AML_INDEX_FORBIDDEN", {"host": "index.example.org"}),
        (NO_VERSION, "AML_NO_SUCH_VERSION", {"package": "numpy==99.0"}),
        (CONFLICT, "AML_CONFLICT", {}),
        (SIGN_IN_PAGE, "AML_DOWNLOAD_DAMAGED", {"package": "tinya==1.0"}),
        (NO_ZIP, "AML_DOWNLOAD_DAMAGED", {"package": "tinya-1.0-py3-none-any.whl"}),
        (NO_ARCHIVE, "AML_DOWNLOAD_DAMAGED", {"package": "tinya==2.0"}),
        (CUT_OFF, "AML_DOWNLOAD_DAMAGED", {"package": "tinya==2.0"}),
        (INVALID_FOR_PIP, "AML_DOWNLOAD_DAMAGED", {"package": "tinya"}),
        (NO_SOURCE, "AML_NO_SOURCE", {"package": "tinya"}),
        (NO_SOURCE_OF_ONE, "AML_NO_SOURCE", {"package": "tinya==1.0"}),
        (TOO_OLD, "AML_NO_SUCH_VERSION", {"package": "tinya<1"}),
        (BETWEEN, "AML_NO_SUCH_VERSION", {"package": "tinya>1.0,<2.0"}),
        (ONE_OF, "AML_NO_SUCH_VERSION", {"package": "tinya>2.0,<3.0 tinya>3.0"}),
        (TOO_OLD_FOR_PIP, "AML_NO_SUCH_VERSION", {"package": "tinya<1"}),
        (BOTH_BY_OTHERS, "AML_CONFLICT", {}),
        (NO_SETUPTOOLS, "AML_BUILD_REQUIREMENT", {"package": "setuptools"}),
        (NO_SETUPTOOLS_FOR_SETUP_PY, "AML_BUILD_REQUIREMENT", {"package": "setuptools"}),
        (NO_SETUPTOOLS_FOR_PIP, "AML_BUILD_REQUIREMENT", {"package": "setuptools>=61"}),
        (REFUSED, "AML_INDEX_REFUSED", {"host": "127.0.0.1:9"}),
        (NO_NAME, "AML_INDEX_NAME", {"host": "files.example.org"}),
        (NO_COMMIT, "AML_GIT_FAILED", {"package": "tinyd", "cause": "remote error: upload-pack: not our ref 00000001"}),
        (NO_GIT, "AML_GIT_MISSING", {"package": "tinyd"}),
        *((said, "AML_GIT_UNAUTHORIZED", {"host": "git.example.org", "package": "tinyd"}) for said in GIT_LOGINS),
        (FULL, "AML_NO_SPACE", {}),
        ("something new went wrong", "AML_RESOLVE_FAILED", {"cause": "something new went wrong"}),
        ("", "AML_RESOLVE_FAILED", {"cause": ""}),
    ],
)
def test_the_cause_is_recognised_and_named(output: str, code: str, named: dict[str, str]) -> None:
    error = failure_from_output(output.splitlines(), otherwise="AML_RESOLVE_FAILED")
    assert error.code == code
    assert {name: error.arguments[name] for name in named} == named
    assert error.detail == output
    for language in LANGUAGES:
        message, hint = error_texts(error, language)
        assert hint
        for value in named.values():
            assert value in message


def test_the_cause_is_one_sentence_although_uv_breaks_it_over_lines() -> None:
    output = "error: No solution found\n  cause: Because a needs b and\n         c needs d, it is impossible.\n\nhint: x"
    error = failure_from_output(output.splitlines(), otherwise="AML_RESOLVE_FAILED")
    assert error.arguments["cause"] == "Because a needs b and c needs d, it is impossible."


@pytest.mark.parametrize("port", [40783, 40103, 14039, 34073])
def test_b49_a_port_is_not_taken_for_an_answer(port: int) -> None:
    output = f"Looking in indexes: http://127.0.0.1:{port}/simple/\nERROR: No matching distribution found for tinya"
    assert failure_from_output(output.splitlines(), otherwise="AML_RESOLVE_FAILED").code == "AML_PACKAGE_NOT_FOUND"


@pytest.mark.parametrize("status", ["429 Too Many Requests", "500 Internal Server Error", "503 Service Unavailable"])
def test_b49_the_answer_of_a_broken_index_is_named(status: str) -> None:
    url = "http://index.example.org/simple/tinya/"
    kind = "client" if status.startswith("4") else "server"
    output = f"""error: Request failed after 3 retries in 8.5s
  cause: Failed to fetch: {url}
  cause: HTTP status {kind} error ({status}) for url ({url})"""
    error = failure_from_output(output.splitlines(), otherwise="AML_RESOLVE_FAILED")
    assert (error.code, error.arguments["status"]) == ("AML_INDEX_SERVER", status[:3])
    assert error.arguments["host"] == "index.example.org"


@pytest.mark.parametrize(
    "output",
    [
        "error: Missing `Content-Type` header for `http://index.example.org/simple/tinya/`",
        """error: Received some unexpected JSON from `http://index.example.org/simple/tinya/`
  cause: expected ident at line 1 column 2""",
        """error: Failed to fetch: http://index.example.org/simple/tinya/
  cause: HTTP 302 Found 'Location' value `file:///etc/passwd` is not a valid HTTP URI: invalid format""",
    ],
)
def test_b49_an_answer_that_is_none_of_an_index_is_named(output: str) -> None:
    error = failure_from_output(output.splitlines(), otherwise="AML_RESOLVE_FAILED")
    assert (error.code, error.arguments["host"]) == ("AML_NET_NOT_AN_INDEX", "index.example.org")
    assert error.arguments["url"] == "http://index.example.org/simple/tinya/"


def test_b49_an_index_that_ends_in_the_middle_of_its_answer_is_named() -> None:
    output = """error: Request failed after 3 retries in 0.0s
  cause: Failed to fetch: http://index.example.org/simple/tinya/
  cause: error decoding response body for url (http://index.example.org/simple/tinya/)
  cause: request or response body error
  cause: error reading a body from connection
  cause: end of file before message length reached"""
    error = failure_from_output(output.splitlines(), otherwise="AML_RESOLVE_FAILED")
    assert (error.code, error.arguments["host"]) == ("AML_INDEX_UNREACHABLE", "index.example.org")
    assert "end of file" in error_texts(error)[0]


@pytest.mark.parametrize(
    "piece", ["https://", "https://a@", "C:\\", "host='", "Git operation failed ", "fatal: ", "there is no version of "]
)
def test_output_without_end_is_looked_through_in_time(piece: str) -> None:
    lines = [piece * 100_000] * 20 + ["No space left on device (os error 28)"]
    assert failure_from_output(lines, otherwise="AML_RESOLVE_FAILED").code == "AML_NO_SPACE"
    error = failure_from_output(lines[:-1], otherwise="AML_RESOLVE_FAILED")
    assert error.code.startswith("AML_")


def test_a_long_windows_path_is_named_as_the_cause() -> None:
    line = "error: failed to create C:\\" + "deep\\" * 60 + "x: The system cannot find the path specified. (os error 3)"
    assert failure_from_output([line], otherwise="AML_RESOLVE_FAILED").code == "AML_TOOL_PATH_TOO_LONG"


CYTHON = """building 'tinyc' extension
gcc -Wsign-compare -O3 -fPIC -c tinyc.c -o build/temp/tinyc.o
"""
FAILED_BUILD = """error: Failed to build `tinyc @ file:///srv/tinyc`
  cause: The build backend returned an error
  cause: Call to `setuptools.build_meta.build_wheel` failed (exit status: 1)

hint: Build failures usually indicate a problem with the package or the build environment"""
DAMAGED_CACHE = """error: Failed to download `tinya==2.0`
  cause: Failed to deserialize cache entry
  cause: IO error while reading marker: failed to fill whole buffer
  cause: failed to fill whole buffer"""
GONE_FROM_CACHE = """error: Failed to install: tinya-2.0-py3-none-any.whl (tinya==2.0)
  cause: failed to read directory `/srv/aml/cache/archive-v0/3iKXWd28Z3erbT7V`: No such file or directory (os error 2)"""
CACHE_IS_A_FILE = """error: Failed to initialize cache at `/srv/aml/cache`
  cause: failed to create directory `/srv/aml/cache`: File exists (os error 17)"""
FORBIDDEN_CACHE = """error: Failed to initialize cache at `/srv/aml/cache`
  cause: failed to open file `/srv/aml/cache/.gitignore`: Permission denied (os error 13)"""
NO_ENCODINGS = """error: Failed to inspect Python interpreter from provided path at `/srv/python/bin/python3.11`
  cause: Querying Python at `/srv/python/bin/python3.11` failed with exit status exit status: 1

         [stderr]
         Python path configuration:
           PYTHONHOME = (not set)
         Fatal Python error: init_fs_encoding: failed to get the Python codec of the filesystem encoding
         Python runtime state: core initialized
         ModuleNotFoundError: No module named 'encodings'

         Current thread 0x00007f35f0bbfb80 (most recent call first):
           <no Python frame>"""
EMPTY_SYSCONFIG = """error: Failed to inspect Python interpreter from provided path at `/srv/python/bin/python3.11`
  cause: Querying Python at `/srv/python/bin/python3.11` failed with exit status exit status: 1

         [stderr]
         Traceback (most recent call last):
           File "/srv/python/lib/python3.11/sysconfig.py", line 532, in _init_posix
             build_time_vars = _temp.build_time_vars
                               ^^^^^^^^^^^^^^^^^^^^^
         AttributeError: module '_sysconfigdata__linux_x86_64-linux-gnu' has no attribute 'build_time_vars'"""


def starting(ending: str) -> str:
    return f"""error: Failed to inspect Python interpreter from provided path at `/srv/python/bin/python3.11`
  cause: Failed to query Python interpreter at `/srv/python/bin/python3.11`
  cause: {ending}"""


def querying(ending: str) -> str:
    return f"""error: Failed to inspect Python interpreter from provided path at `/srv/python/bin/python3.11`
  cause: Querying Python at `/srv/python/bin/python3.11` failed with exit status {ending}"""


PYTHON = {"program": "/srv/python/bin/python3.11"}


@pytest.mark.parametrize(
    ("output", "code", "named"),
    [
        (
            f"{CYTHON}error: [Errno 2] No such file or directory: 'gcc'\n{FAILED_BUILD}",
            "AML_BUILD_NO_COMPILER",
            "gcc tinyc",
        ),
        (f"{CYTHON}error: command 'gcc' failed: No such file or directory\n{FAILED_BUILD}", "AML_BUILD_NO_COMPILER", "gcc"),
        (
            "error: Microsoft Visual C++ 14.0 or greater is required. Get it with the build tools\n" + FAILED_BUILD,
            "AML_BUILD_NO_COMPILER",
            "Visual tinyc",
        ),
        (f"ERROR: Unknown compiler(s): [['cc'], ['gcc'], ['clang']]\n{FAILED_BUILD}", "AML_BUILD_NO_COMPILER", "cc tinyc"),
        (f"error: can't find Rust compiler\n{FAILED_BUILD}", "AML_BUILD_NO_COMPILER", "Rust tinyc"),
        (f"xcrun: error: invalid active developer path (/x)\n{FAILED_BUILD}", "AML_BUILD_NO_COMPILER", "xcrun tinyc"),
        (
            "tinyc.c:1:10: fatal error: Python.h: No such file or directory\ncompilation terminated.\n" + FAILED_BUILD,
            "AML_BUILD_NO_HEADER",
            "Python.h tinyc",
        ),
        (
            f"tinyc.c:1:10: fatal error: 'openssl/ssl.h' file not found\n{FAILED_BUILD}",
            "AML_BUILD_NO_HEADER",
            "ssl.h tinyc",
        ),
        (f"tinyc.c(1): error C1083: Cannot open include file: 'x.h'\n{FAILED_BUILD}", "AML_BUILD_NO_HEADER", "x.h tinyc"),
        (FAILED_BUILD, "AML_BUILD_FAILED", "tinyc"),
        (DAMAGED_CACHE, "AML_CACHE_DAMAGED", ""),
        (GONE_FROM_CACHE, "AML_CACHE_DAMAGED", ""),
        (CACHE_IS_A_FILE, "AML_CACHE_DAMAGED", ""),
        (FORBIDDEN_CACHE, "AML_PERMISSION", ".gitignore"),
        (NO_ENCODINGS, "AML_PYTHON_DAMAGED", "/srv/python/bin/python3.11 encodings"),
        (EMPTY_SYSCONFIG, "AML_PYTHON_DAMAGED", "/srv/python/bin/python3.11 build_time_vars"),
        (querying("exit status: 3"), "AML_PYTHON_DAMAGED", "/srv/python/bin/python3.11"),
        (querying("signal: 9 (SIGKILL)"), "AML_TOOL_KILLED", "/srv/python/bin/python3.11 9"),
        (
            querying(
                "exit status: 1\n\n         [stderr]\n         python3.11: /lib/libc.so.6: version `GLIBC_2.99' not found"
            ),
            "AML_SYSTEM_TOO_OLD",
            "GLIBC_2.99",
        ),
        (
            querying(
                "exit status: 127\n\n         [stderr]\n         python3.11: error while loading shared libraries: "
                "libf.so.1: cannot open shared object file: No such file or directory"
            ),
            "AML_LIBRARY_MISSING",
            "libf.so.1",
        ),
        (starting("Exec format error (os error 8)"), "AML_WRONG_BINARY", "/srv/python/bin/python3.11"),
        (starting("Operation not permitted (os error 1)"), "AML_BLOCKED_BY_POLICY", "/srv/python/bin/python3.11"),
        (
            starting("This program is blocked by group policy. (os error 1260)"),
            "AML_BLOCKED_BY_POLICY",
            "/srv/python/bin/python3.11",
        ),
        (starting("An Application Control policy has blocked this file. (os error 4551)"), "AML_BLOCKED_BY_POLICY", "4551"),
        (starting("the file contains a virus (os error 225)"), "AML_TAKEN_FOR_VIRUS", "/srv/python/bin/python3.11"),
        ("error: memory allocation of 4096 bytes failed", "AML_OUT_OF_MEMORY", ""),
        ("error: fork failed\n  cause: Cannot allocate memory (os error 12)", "AML_OUT_OF_MEMORY", ""),
        ("error: The paging file is too small for this operation. (os error 1455)", "AML_OUT_OF_MEMORY", ""),
        ("error: failed to read `x`\n  cause: Input/output error (os error 5)", "AML_DISK_FAULT", "Input/output"),
        ("error: failed to remove `x`\n  cause: Access is denied. (os error 5)", "AML_PERMISSION", "denied"),
        (
            "error: failed to remove `x`\n  cause: The file is being used by another process. (os error 32)",
            "AML_FILE_IN_USE",
            "os error 32",
        ),
        ("error: lost the pipe\n  cause: Broken pipe (os error 32)", "AML_RESOLVE_FAILED", "Broken pipe"),
        ("error: failed to write\n  cause: Disc quota exceeded (os error 69)", "AML_NO_SPACE", "quota"),
    ],
)
def test_what_stops_a_build_or_a_program_is_told_apart(output: str, code: str, named: str) -> None:
    """Uv's, compilers' and the systems' own words; those of Windows and macOS could not be seen here."""
    error = failure_from_output(output.splitlines(), otherwise="AML_RESOLVE_FAILED")
    assert error.code == code
    for language in LANGUAGES:
        message, hint = error_texts(error, language)
        assert hint
        assert "{" not in message
        for value in named.split():
            assert value in message


ALL_YANKED = """error: No solution found when resolving dependencies
  cause: Because tinya==2.0 was yanked (reason: broken import of x) and only the following versions of tinya are available:
             tinya<1.5
             tinya==2.0
         we can conclude that tinya>=1.5 cannot be used.
         And because you require tinya>=1.5, we can conclude that your requirements are unsatisfiable."""


def test_a_withdrawn_version_is_named_with_its_reason() -> None:
    error = failure_from_output(ALL_YANKED.splitlines(), otherwise="AML_RESOLVE_FAILED")
    assert error.code == "AML_YANKED"
    message, hint = error_texts(error, "en")
    assert message.startswith("tinya==2.0 was withdrawn")
    assert "broken import of x" in message
    assert "==" in hint


def test_what_is_taken_although_it_is_withdrawn_is_read_from_uv_and_pip() -> None:
    of_uv = [
        "Resolved 2 packages in 4ms",
        'warning: `tinya==2.0` is yanked (reason: "broken (see x)")',
        "warning: `b==1` is yanked",
    ]
    assert yanked_packages(of_uv) == {"tinya==2.0": "broken (see x)", "b==1": ""}
    start = "WARNING: The candidate selected for download or install is a yanked version:"
    of_pip = [
        f"{start} 'tinya' candidate (version 2.0 at http://index.example.org/tinya-2.0-py3-none-any.whl)",
        "Reason for being yanked: broken import of x",
        f"{start} 'b' candidate (version 1 at http://index.example.org/b-1-py3-none-any.whl)",
        "Reason for being yanked: <none given>",
    ]
    assert yanked_packages(of_pip) == {"tinya==2.0": "broken import of x", "b==1": ""}


def test_a_wheel_for_other_systems_alone_is_no_matter_of_the_python() -> None:
    lines = [
        "error: No solution found when resolving dependencies",
        (
            "  cause: Because only-there==1.0 has no wheels with a matching platform tag (e.g., `manylinux_2_36_x86_64`)"
            " and only only-there==1.0 is available, we can conclude that all versions of only-there cannot be used."
        ),
        "         And because you require only-there, we can conclude that your requirements are unsatisfiable.",
        "",
        "hint: Wheels are available for `only-there` (v1.0) on the following platform: `win_amd64`",
    ]
    error = failure_from_output(lines, otherwise="AML_RESOLVE_FAILED")
    assert error.code == "AML_NO_WHEEL_FOR_SYSTEM"
    assert "Python" not in error_texts(error)[1]
