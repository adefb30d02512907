"""A report stays small and whole, whatever goes into it."""

from __future__ import annotations

import json
import random
import zipfile
from io import BytesIO
from pathlib import Path

from amlwizard.core.diagnose.packing import ROOM, Packer
from amlwizard.core.diagnose.reading import CUT
from amlwizard.core.diagnose.redaction import Redactor


def packer(*secrets: str) -> Packer:
    return Packer(Redactor(secrets, Path("/home/somebody")))


def opened(packed: Packer) -> zipfile.ZipFile:
    return zipfile.ZipFile(BytesIO(packed.finish()))


def test_stays_under_a_megabyte_although_nothing_shrinks() -> None:
    source = random.Random(1)
    packed = packer()
    for number in range(12):
        line = "".join(chr(source.randrange(0x4E00, 0x9000)) for _ in range(60))
        packed.add(f"logs/{number}.log", "\n".join(f"{line}{count}" for count in range(2500)), newest_last=True)
        packed.add(f"{number}.json", {"rows": [source.random() for _ in range(20_000)]})
    content = packed.finish()
    assert len(content) < 1_000_000
    with zipfile.ZipFile(BytesIO(content)) as archive:
        assert sum(entry.file_size for entry in archive.infolist()) <= ROOM + 2000
        assert archive.read("logs/1.log").startswith(CUT.encode())
        assert archive.read("logs/1.log").endswith(b"2499")


def test_long_lists_are_shortened_and_stay_json() -> None:
    packed = packer()
    packed.add("a.json", {"candidates": [{"path": "x" * 900, "n": number} for number in range(3000)], "text": "y" * 9000})
    with opened(packed) as archive:
        content = json.loads(archive.read("a.json"))
    assert content["candidates"][0]["n"] == 0
    assert content["candidates"][-1].endswith("more")
    assert content["text"].endswith(CUT)


def test_secrets_go_out_of_texts_values_and_names() -> None:
    packed = packer("hunter2-hunter2")
    packed.add("logs/hunter2-hunter2.log", "said hunter2-hunter2 \udcff")
    packed.add("a.json", {"hunter2-hunter2": ["hunter2-hunter2"]})
    with opened(packed) as archive:
        assert all("hunter2" not in name and b"hunter2" not in archive.read(name) for name in archive.namelist())
