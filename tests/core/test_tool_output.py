"""What uv 0.13 really printed, with a placeholder for the host, and what it is taken for."""

from __future__ import annotations

import pytest

from amlwizard.core.catalogue import LANGUAGES, error_texts
from amlwizard.core.tool_output import blame_proxy, failure_from_output

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
