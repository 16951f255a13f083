"""A cluster makes the rows of the command line.  It is a real one, of this machine."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stored_bodies import read_rows, write_bodies

from streamparse.bulk import parse_batch
from streamparse.cli import main

pytest.importorskip("ray.data")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """Ray with a cluster of two cores."""
    import ray

    paths = {"PYTHONPATH": f"{ROOT}:{ROOT / 'examples'}"}
    ray.init(num_cpus=2, include_dashboard=False, runtime_env={"env_vars": paths}, logging_level="ERROR")
    yield ray
    ray.shutdown()


@pytest.mark.filterwarnings("ignore")
def test_the_example_makes_the_rows_of_the_command_line(
    ray: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "examples"), *sys.path])
    import ray_bulk

    folder = write_bodies(tmp_path / "bodies", 9)
    assert main(["parse", str(folder), "--out", str(tmp_path / "out.jsonl")]) == 0
    monkeypatch.setattr(sys, "argv", ["ray_bulk.py", str(folder), str(tmp_path / "out")])
    ray_bulk.main()
    rows = ray.data.read_parquet(str(tmp_path / "out")).take_all()
    assert sorted(rows, key=lambda row: row["source"]) == read_rows(tmp_path / "out.jsonl")


@pytest.mark.filterwarnings("ignore")
def test_a_column_of_bodies_gives_the_same_rows_in_each_format_of_batches(ray: Any, tmp_path: Path) -> None:
    folder = write_bodies(tmp_path / "bodies", 9)
    files = sorted(folder.iterdir())
    assert main(["parse", str(folder), "--out", str(tmp_path / "out.jsonl")]) == 0
    bodies = ray.data.from_items([{"source": str(file), "body": file.read_bytes()} for file in files])
    for batch_format in ("pyarrow", "numpy"):
        rows = bodies.map_batches(parse_batch, batch_format=batch_format).take_all()
        made = [{name: list(value) if _is_array(value) else value for name, value in row.items()} for row in rows]
        assert sorted(made, key=lambda row: row["source"]) == read_rows(tmp_path / "out.jsonl")


def _is_array(value: Any) -> bool:
    return type(value).__name__ == "ndarray"
