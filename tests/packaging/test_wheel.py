"""What a user installs holds the whole library, and nothing else is needed to run it."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from streamparse.negotiate import list_providers
from streamparse.providers.quirks import profile

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "streamparse"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source archive, built without network."""
    out = tmp_path_factory.mktemp("dist")
    program = f"import hatchling.build as b; b.build_wheel({str(out)!r}); b.build_sdist({str(out)!r})"
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True)
    return out


@pytest.fixture(scope="module")
def unpacked(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, as an installer lays it out."""
    place = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        wheel.extractall(place)
    return place


def _files(folder: Path) -> set[str]:
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def _run(unpacked: Path, *command: str) -> str:
    """Run Python in the folder of the wheel, so that it and not the checkout is imported."""
    done = subprocess.run(
        [sys.executable, "-W", "error", *command], cwd=unpacked, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_the_wheel_holds_the_package_whole_and_nothing_else(unpacked: Path) -> None:
    assert _files(unpacked / "streamparse") == _files(SOURCE)
    assert {path.name.split("-")[0] for path in unpacked.iterdir()} == {"streamparse", "llm_streamparse"}


def test_the_wheel_carries_types_and_license(unpacked: Path) -> None:
    [info] = unpacked.glob("*.dist-info")
    assert (unpacked / "streamparse" / "py.typed").is_file()
    assert "Apache License" in (info / "licenses" / "LICENSE").read_text(encoding="utf-8")


def test_the_library_of_the_wheel_is_the_one_that_is_imported(unpacked: Path) -> None:
    where = _run(unpacked, "-c", "import streamparse; print(streamparse.__file__)")
    assert Path(where.strip()).is_relative_to(unpacked)


def test_the_command_line_of_the_wheel_writes_a_timeline_with_its_style_and_script(unpacked: Path) -> None:
    body = ROOT / "fixtures" / "recorded" / "llamacpp-paced.body"
    _run(unpacked, "-m", "streamparse", "timeline", str(body), "-o", "page.html")
    page = (unpacked / "page.html").read_text(encoding="utf-8")
    (unpacked / "page.html").unlink()
    assert all((SOURCE / "cli" / name).read_text(encoding="utf-8").strip() in page for name in ("page.css", "page.js"))


def test_the_tables_of_the_wheel_are_there_and_answer(unpacked: Path) -> None:
    tables = ("negotiate/capabilities.toml", "providers/quirks.toml")
    assert all((unpacked / "streamparse" / table).read_bytes() == (SOURCE / table).read_bytes() for table in tables)
    program = (
        "from streamparse.negotiate import FormatNegotiator, list_providers;"
        "from streamparse.providers import profile;"
        "print(FormatNegotiator().negotiate('ollama', 'qwen3:8b').wire, len(list_providers()),"
        " len(profile('openai-chat').habits))"
    )
    wire, providers, habits = _run(unpacked, "-c", program).split()
    assert (wire, int(providers), int(habits)) == (
        "ollama-chat",
        len(list_providers()),
        len(profile("openai-chat").habits),
    )


def test_the_source_archive_can_run_its_own_checks(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"Makefile", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", ".ci/run", "pyproject.toml"} <= names
    assert {"tests/conftest.py", "fixtures/streams/index.toml", "benches/performance.py", "examples/demo.py"} <= names


def test_the_readme_of_the_index_has_no_picture_and_no_link_that_leads_nowhere_there(unpacked: Path) -> None:
    [info] = unpacked.glob("*.dist-info")
    metadata, _, readme = (info / "METADATA").read_text(encoding="utf-8").partition("\n\n")
    assert "Description-Content-Type: text/markdown" in metadata
    assert "Project-URL" not in metadata
    assert "![" not in readme
    assert [link for link in re.findall(r"\]\(([^)]+)\)", readme) if not link.startswith(("https://", "#"))] == []
    assert "Every figure" in readme


def test_the_home_of_the_project_is_in_its_addresses_and_in_the_links_of_the_readme_or_in_neither() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    readme = project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    link = readme["substitutions"][-1]["replacement"]
    home = project["project"].get("urls", {}).get("Source")
    assert link == (rf"[\1]({home}/blob/main/\2)" if home else r"\1")
