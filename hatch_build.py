"""What the build adds to the metadata: the project's addresses, and the README as an index shows it.

An index shows no pictures of the project's own files and follows no relative links.  While the project has no home,
pictures are left out and such links are plain text; with one they lead there.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

HOME = ""
"""The address of the project's repository, without a slash at its end; empty while it has none.

With one, `dynamic` in pyproject.toml names `urls`, too.
"""

_PICTURE = re.compile(r"^!\[[^\]]*\]\((?!https?:)[^)]*\)\n\n?", re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\((?!https?:|#)([^)\s]+)\)")


def write_index_readme(text: str, home: str) -> str:
    """Return the README for an index: without pictures, its relative links absolute, or plain text without a home."""
    text = _PICTURE.sub("", text)
    return _LINK.sub(rf"[\1]({home}/blob/main/\2)" if home else r"\1", text)


class CustomMetadataHook(MetadataHookInterface):
    """Sets `readme`, and `urls` once there is a home."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add to the metadata of the project."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": write_index_readme(text, HOME)}
        if HOME:
            changes = f"{HOME}/blob/main/CHANGELOG.md"
            metadata["urls"] = {"Source": HOME, "Issues": f"{HOME}/issues", "Changelog": changes}
