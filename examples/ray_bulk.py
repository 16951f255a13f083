"""Many bodies on a cluster: the table of `streamparse parse PATH… --out FILE.parquet`, made by Ray Data.

    pip install 'llm-streamparse[ray]'
    python examples/ray_bulk.py recorded/ answers/

Ray reads the files, shares them out among its machines, and writes a folder of Parquet files; each of its batches goes
through `parse_batch`, which makes the rows that the command line makes.  Bodies in a column of a table are read with
`ray.data.read_parquet` or `read_json` instead, and the column is named.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import ray
import ray.data

from streamparse.bulk import parse_batch


def parse_files(paths: Sequence[str], wire: str = "auto") -> ray.data.Dataset:
    """Return the rows of files and folders, one body a file."""
    bodies = ray.data.read_binary_files(list(paths), include_paths=True)  # of the columns `bytes` and `path`
    options = {"column": "bytes", "source_column": "path", "wire": wire}
    return bodies.map_batches(parse_batch, fn_kwargs=options, batch_format="pyarrow")


def main() -> None:
    """Parse what the command line names."""
    command = argparse.ArgumentParser(description="Parse recorded bodies into a table, on a cluster.")
    command.add_argument("paths", nargs="+", help="files and folders of bodies, as the cluster sees them")
    command.add_argument("out", help="the folder for the table")
    command.add_argument("--wire", default="auto", help="a name of WIRES; default: auto")
    options = command.parse_args()
    parse_files(options.paths, options.wire).write_parquet(options.out)


if __name__ == "__main__":
    main()
