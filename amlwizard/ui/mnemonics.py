"""The letters that press a button or go to a field together with Alt, one table for all languages.

A letter that the text contains is marked there; to other texts, such as Chinese ones, it is added in brackets. What is
never seen at the same time may share a letter. Buttons that stand in every row of a list, or beside a field that has a
letter, have none.
"""

from __future__ import annotations

from typing import Final

LETTERS: Final = {
    "add.do": "A",
    "add.names": "K",
    "ahead.close": "E",
    "ahead.stop": "K",
    "ahead.store.do": "E",
    "ahead.store.leave": "K",
    "ahead.update.do": "K",
    "ahead.update.leave": "X",
    "ahead.update_python.do": "A",
    "ahead.update_uv.do": "E",
    "check.rescan": "L",
    "network.check": "C",
    "network.choose": "O",
    "network.copy": "I",
    "network.field.caFile": "E",
    "network.field.extraIndexUrls": "U",
    "network.field.indexUrl": "X",
    "network.field.login": "G",
    "network.field.mirror": "M",
    "network.field.proxy": "P",
    "network.field.pythonMirror": "Y",
    "network.forget": "R",
    "network.found.use": "T",
    "network.keep": "K",
    "network.save": "S",
    "page.environment.accelerator": "P",
    "page.environment.build": "U",
    "page.maintenance.add": "P",
    "page.maintenance.bundle": "B",
    "page.maintenance.elsewhere": "D",
    "page.maintenance.free": "F",
    "page.maintenance.keep_added": "G",
    "page.maintenance.rebuild": "R",
    "page.maintenance.repair": "I",
    "page.maintenance.share": "H",
    "page.maintenance.undo": "N",
    "page.maintenance.uninstall": "L",
    "page.maintenance.uninstall.do": "E",
    "page.maintenance.uninstall.keep": "K",
    "page.maintenance.update": "U",
    "page.maintenance.verify": "V",
    "page.python.install": "I",
    "page.start.anew": "R",
    "page.start.bundle": "B",
    "page.start.customise": "C",
    "page.start.folder": "F",
    "page.start.manage": "E",
    "page.start.network": "N",
    "page.start.offline": "W",
    "page.start.packages.bundle": "O",
    "page.start.packages.default": "D",
    "page.start.packages.file": "L",
    "page.start.packages.minimal": "M",
    "page.start.packages.pytorch": "T",
    "page.start.requirements": "I",
    "page.start.settings.open": "P",
    "page.start.settings.read": "A",
    "page.start.setup": "S",
    "page.start.setup.bundle": "S",
    "page.uv.install": "I",
    "ready.folder": "O",
    "ready.jupyter": "J",
    "ready.jupyter.stop": "Y",
    "ready.more": "M",
    "ready.terminal": "T",
    "run.cancel": "C",
    "run.copy": "P",
    "run.details": "D",
    "run.guard.go_on": "O",
    "run.guard.stop": "S",
    "run.log.copy": "L",
    "run.log.follow": "G",
    "run.log.follow.new": "G",
    "run.log.open": "O",
    "run.log.problems": "Y",
    "run.log.save": "E",
    "run.network": "W",
    "run.retry": "R",
    "run.retry.uninstall": "U",
    "run.search.next": "X",
    "run.search.previous": "V",
    "window.back": "B",
    "window.close": "C",
    "window.next": "N",
    "workspaces.new": "K",
}
"""The letter by the key of the text."""
_MORE: Final = "…"


def marked(text: str, key: str) -> str:
    """Return a text with its letter marked, where it has one; the beginning of a word is marked rather than its middle."""
    letter = LETTERS.get(key)
    if letter is None:
        return text
    low, wanted = text.lower(), letter.lower()
    place = next((at for at in range(len(low)) if low[at] == wanted and (at == 0 or low[at - 1] == " ")), low.find(wanted))
    if place >= 0:
        return f"{text[:place]}&{text[place:]}"
    if text.endswith(_MORE):
        return f"{text.removesuffix(_MORE)}(&{letter}){_MORE}"
    return f"{text}(&{letter})"
