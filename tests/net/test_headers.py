"""Headers that no honest server sends."""

from __future__ import annotations

from typing import Any

import pytest
import urllib3

from amlwizard.net.failures import of_status
from amlwizard.net.policy import NetworkPolicy
from amlwizard.net.transfer import _range_start, _told_total, _whole_size

MANY = "9" * 5000


@pytest.mark.parametrize("value", ["9" * 400, MANY, "Fri, 99 Dec 1999 99:59:59 GMT", "x", "-5", ""])
def test_a_time_to_wait_that_is_none_is_passed_over(value: str) -> None:
    failed = of_status(503, "https://files.example.org/x.whl", {"Retry-After": value}, NetworkPolicy(), signed_in=False)
    assert not failed.retry_after


@pytest.mark.parametrize(
    "headers", [{"Content-Range": f"bytes {MANY}-{MANY}/{MANY}"}, {"Content-Length": MANY}, {"Content-Length": "x"}]
)
def test_a_size_that_is_none_is_not_known(headers: dict[str, str]) -> None:
    response: Any = urllib3.HTTPResponse(body=b"", headers=headers, status=206)
    assert _range_start(response) is None
    assert _told_total(response) is None
    assert _whole_size(response, 5) is None
