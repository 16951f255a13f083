"""Builds wheel and source archive, and tests them as installed: `make dist`, which needs an index of packages.

    python tests/packaging/dist.py [INTERPRETER...]

Each Python from 3.11 on that is on the path, among those of pyenv, or named, gets a new environment with the wheel and
what it needs; the oldest also gets one with the source archive.  Versions that were not found are named at the end.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"
TOOLS = Path(sys.executable).parent
VERSIONS = ("3.11", "3.12", "3.13", "3.14")


def main() -> None:
    """Do all of it; what fails ends it."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", str(DIST), str(ROOT))
    [wheel], [archive] = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    run(sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(archive))
    found = find_interpreters(sys.argv[1:])
    with TemporaryDirectory() as folder:
        for version, python in found.items():
            environment = install(Path(folder, version), python, wheel)
            test_installed(environment, f"wheel on {version}")
        first = next(iter(found))
        check_types(Path(folder, first))
        test_installed(install(Path(folder, "archive"), found[first], archive), f"source archive on {first}")
    if missing := [version for version in VERSIONS if version not in found]:
        print(f"not tested, because no interpreter was found: {', '.join(missing)}")


def find_interpreters(named: Iterable[str]) -> dict[str, str]:
    """Return an interpreter for each version that is there, those that are named first."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    candidates = [*named, *(shutil.which(f"python{version}") for version in VERSIONS), sys.executable]
    candidates += [str(each) for each in sorted(pyenv.glob("3.*/bin/python"))]
    found: dict[str, str] = {}
    for python in filter(None, candidates):
        version = ask_version(python)
        if version in VERSIONS:
            found.setdefault(version, python)
    return {version: found[version] for version in VERSIONS if version in found}


def ask_version(python: str) -> str:
    """Return `3.x` of an interpreter; empty if it does not run."""
    program = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        return subprocess.run([python, "-c", program], capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def install(folder: Path, python: str, package: Path) -> Path:
    """Make an environment with a package, and return its folder."""
    uv = str(TOOLS / "uv")
    run(uv, "venv", "--quiet", "--python", python, str(folder))
    run(uv, "pip", "install", "--quiet", "--python", str(folder / "bin" / "python"), str(package))
    return folder


def test_installed(environment: Path, what: str) -> None:
    """Run what must work in an environment, in an empty folder."""
    with TemporaryDirectory() as empty:
        python, script = environment / "bin" / "python", ROOT / "tests" / "packaging" / "installed.py"
        subprocess.run([str(python), "-I", str(script), str(ROOT)], cwd=empty, check=True)
    print(f"works: {what}", flush=True)


def check_types(environment: Path) -> None:
    """Every public name has a known type, and a strict type checker accepts the typed example."""
    path = f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}"
    with TemporaryDirectory() as empty:
        command = [str(TOOLS / "pyright"), "--verifytypes", "streamparse", "--ignoreexternal", "--outputjson"]
        done = subprocess.run(
            command, cwd=empty, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False
        )
        types = json.loads(done.stdout)["typeCompleteness"]
        unknown = [each["name"] for each in types["symbols"] if each["isExported"] and not each["isTypeKnown"]]
        counts = types["exportedSymbolCounts"]
        print(f"types: {types['completenessScore']:.1%} of {counts['withKnownType']:,} names are known", flush=True)
        if types["completenessScore"] < 1:
            raise SystemExit(f"names without a known type: {', '.join(unknown[:20])}")
        shutil.copy(ROOT / "tests" / "packaging" / "typed_use.py", empty)
        Path(empty, "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}', encoding="utf-8")
        run(str(TOOLS / "pyright"), "--pythonpath", str(environment / "bin" / "python"), "--project", empty)


def run(*command: str) -> None:
    """Run a command; end with it if it fails."""
    subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
