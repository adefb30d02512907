"""Which variables a report names, and whose values it tells."""

from __future__ import annotations

from amlwizard.core.diagnose.variables import WITHHELD, variables_content


def test_what_concerns_us_by_name_and_harmless_values_alone() -> None:
    environ = {
        "AML_ROOT": "/w",
        "AML_INDEX_URL": "https://index.example.org",
        "https_proxy": "http://proxy.example.org",
        "UV_INDEX_CORP_PASSWORD": "x",
        "PIP_CONFIG_FILE": "/etc/pip.conf",
        "PYTHONPATH": "",
        "LC_ALL": "C",
        "HF_TOKEN": "x",
        "EDITOR": "vi",
    }
    assert variables_content(environ) == {
        "AML_INDEX_URL": WITHHELD,
        "AML_ROOT": "/w",
        "LC_ALL": "C",
        "PIP_CONFIG_FILE": "/etc/pip.conf",
        "PYTHONPATH": "",
        "UV_INDEX_CORP_PASSWORD": WITHHELD,
        "https_proxy": WITHHELD,
    }
