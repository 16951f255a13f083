"""Many bodies at once: one flat row for each response, on several cores, resumable.

    progress = parse_many(["recorded/"], "answers.parquet", jobs=4)

`parse_batch` is the same for bodies that are in memory already, such as a batch of a cluster's data set.
"""

from streamparse.bulk.rows import Row, parse_batch
from streamparse.bulk.run import Progress, parse_many

__all__ = ["Progress", "Row", "parse_batch", "parse_many"]
