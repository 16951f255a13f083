"""Every deviation that was recorded has a stream of ours, whose name is the promise: `quirks.toml` says which."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest
from collection import json_lines

ROOT = Path(__file__).parents[2]
PROOFS: dict[str, list[str]] = tomllib.loads((Path(__file__).parent / "quirks.toml").read_text(encoding="utf-8"))[
    "proofs"
]
STREAMS = {path.name.split(".")[0] for path in (ROOT / "fixtures" / "streams").iterdir()}
QUIRKS = sorted({quirk for row in json_lines("streams/index.jsonl") for quirk in row["quirks"]})


def _exists(proof: str) -> bool:
    path, _, test = proof.partition("::")
    if not test:
        return proof in STREAMS
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return test in [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]


def test_every_proof_exists() -> None:
    assert not [proof for proofs in PROOFS.values() for proof in proofs if not _exists(proof)]


@pytest.mark.skipif(not QUIRKS, reason="the collection is not here")
def test_every_quirk_has_its_proof_and_every_proof_its_quirk() -> None:
    assert not [quirk for quirk in QUIRKS if not any(re.fullmatch(pattern, quirk) for pattern in PROOFS)]
    assert not [pattern for pattern in PROOFS if not any(re.fullmatch(pattern, quirk) for quirk in QUIRKS)]
