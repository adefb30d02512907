"""The variables of this process that concern us: all by name, by value only where that harms nobody."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

WITHHELD: Final = "(set)"
"""Stands for a value that is not told."""

_CONCERN: Final = re.compile(
    r"(?:AML|UV|PIP|PYTHON|CONDA|MAMBA|PYENV|VIRTUALENV|LC|XDG|QT|DYLD|SSL|GIT|SNAP|FLATPAK|APPIMAGE|ONEDRIVE|WSL)(?:_.*|[A-Z]*)"
    r"|(?:HTTP|HTTPS|ALL|FTP|NO)_PROXY|VIRTUAL_ENV|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|NETRC|LANG|LANGUAGE|PATH|PATHEXT"
    r"|HOME|USERPROFILE|APPDATA|LOCALAPPDATA|TMPDIR|TEMP|TMP|LD_LIBRARY_PATH|LD_PRELOAD|DISPLAY|WAYLAND_DISPLAY|TERM|CI"
    r"|PROCESSOR_ARCHITE.*|CUDA_.*|SUDO_USER",
    re.IGNORECASE,
)
_HARMLESS: Final = frozenset(
    (
        *("AML_ROOT", "AML_UV_BIN", "AML_PYTHON_BIN", "AML_UV_PYTHON", "AML_PYHOME"),
        *("UV_CACHE_DIR", "UV_CONFIG_FILE", "UV_NO_CONFIG", "UV_OFFLINE", "UV_PYTHON", "UV_PYTHON_INSTALL_DIR"),
        *("UV_LINK_MODE", "UV_SYSTEM_CERTS", "UV_NATIVE_TLS", "PIP_CONFIG_FILE", "PIP_NO_INDEX", "PIP_CERT"),
        *("PYTHONHOME", "PYTHONPATH", "PYTHONUTF8", "PYTHONIOENCODING", "PYTHONNOUSERSITE", "PYTHONDONTWRITEBYTECODE"),
        *("CONDA_PREFIX", "CONDA_DEFAULT_ENV", "PYENV_ROOT", "PYENV_VERSION", "VIRTUAL_ENV", "NETRC", "GIT_SSL_CAINFO"),
        *(
            "SSL_CERT_FILE",
            "SSL_CERT_DIR",
            "REQUESTS_CA_BUNDLE",
            "CURL_CA_BUNDLE",
            "LANG",
            "LANGUAGE",
            "LC_ALL",
            "LC_CTYPE",
        ),
        *("PATH", "PATHEXT", "HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TMPDIR", "TEMP", "TMP", "TERM"),
        *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PROCESSOR_ARCHITECTURE", "PROCESSOR_ARCHITEW6432"),
    )
)


def variables_content(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the variables by name, in order."""
    return {
        name: value if name.upper() in _HARMLESS or not value else WITHHELD
        for name, value in sorted(environ.items())
        if _CONCERN.fullmatch(name)
    }
