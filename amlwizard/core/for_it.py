"""The text for a company's IT: which hosts are needed, what came of reaching each, and what to allow. No secrets in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from amlwizard import __version__
from amlwizard.core.catalogue import text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from amlwizard.core.preflight import Reached

_TO_DO: Final = {
    **dict.fromkeys(("AML_NET_CERTIFICATE", "AML_INDEX_TLS"), "certificate"),
    **dict.fromkeys(("AML_NET_PROXY_AUTH", "AML_INDEX_PROXY_AUTH"), "proxy"),
    **dict.fromkeys(("AML_NET_PROXY_NO_BASIC", "AML_NET_PROXY_LOGIN_REFUSED"), "proxy"),
    "AML_NET_CERTIFICATE_NAME": "answer",
    **dict.fromkeys(("AML_NET_SIGN_IN", "AML_NET_NOT_AN_INDEX", "AML_NET_FORBIDDEN", "AML_INDEX_FORBIDDEN"), "answer"),
    **dict.fromkeys(("AML_NET_UNAUTHORIZED", "AML_INDEX_UNAUTHORIZED", "AML_NET_LOGIN_REFUSED"), "nothing"),
    **dict.fromkeys(("AML_NET_NOT_FOUND", "AML_INDEX_NOT_FOUND"), "nothing"),
    **dict.fromkeys(("AML_NET_BUSY", "AML_NET_SERVER", "AML_INDEX_SERVER"), "nothing"),
}
"""What is to be done about a code; about any other the way to the host."""


def text_for_it(checked: Sequence[Reached], taken: str, system: str, certificates: str, language: str) -> str:
    """Return the text.

    Args:
        checked: what came of reaching each host.
        taken: when that was, UTC.
        system: the name of the computer's system.
        certificates: the file or folder that takes the place of the system's own, else empty.
        language: the user's.
    """
    trusted = certificates or text("diagnose.certificates_system", language)
    lines = [
        text("for_it.heading", language, version=__version__, taken=taken),
        text("for_it.system", language, system=system),
        text("for_it.certificates", language, certificates=trusted),
        "",
    ]
    for number, each in enumerate(checked, 1):
        host, port = each.place
        lines.append(text("for_it.host", language, number=number, host=host, port=port, way=each.way))
        lines += [f"   {line}" for line in _on(each, language)]
    hosts = text("cli.separator", language).join(f"{host}:{port}" for host, port in (each.place for each in checked))
    last = text("for_it.all", language, hosts=hosts) if checked else text("for_it.no_host", language)
    return "\n".join([*lines, *([""] if checked else []), last, ""])


def _on(each: Reached, language: str) -> Iterator[str]:
    result = each.result(language)
    if each.error is None:
        yield text("for_it.result", language, result=result)
        return
    yield text("for_it.failed", language, result=result, code=each.error.code)
    for name in ("reason", "issuer"):
        value = str(each.error.arguments.get(name, "?"))
        if value != "?":
            yield text(f"for_it.{name}", language, **{name: value})
    host, port = each.place
    what = text(f"for_it.allow_{_TO_DO.get(each.error.code, 'route')}", language, host=host, port=port, way=each.way)
    yield text("for_it.allow", language, what=what)
