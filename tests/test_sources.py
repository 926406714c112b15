from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner import sources
from runner.config.schema import Variant, Workload


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder to import from, and nothing remembered of another."""
    monkeypatch.syspath_prepend(tmp_path)
    for cached in (sources._files, sources._belongs):
        cached.cache_clear()
    yield tmp_path
    for cached in (sources._files, sources._belongs):
        cached.cache_clear()


def write(project: Path, **files: str) -> None:
    """Write files given as `package__module`, with the text of each."""
    for name, text in files.items():
        file = project.joinpath(*name.split("__")).with_suffix(".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def found(project: Path, target: str) -> set[str]:
    files = sources.sources(Workload(target=target), Variant())
    return {str(file.relative_to(project).with_suffix("")) for file in files}


@pytest.mark.parametrize(
    "line",
    [
        "from . import ops",
        "from .ops import double",
        "from .deep.inner import ops",
        "import pack.ops",
        "import pack.ops as other",
        "from pack import ops",
        "from pack.ops import double",
        "if True:\n    def late():\n        from . import ops",
    ],
)
def test_each_style_of_import_leads_to_the_file(line: str, project: Path) -> None:
    write(
        project,
        pack__model=line,
        pack__ops="def double(x): return 2 * x",
        pack__deep__inner="from .. import ops",
        pack__other="",
    )
    (project / "pack/__init__.py").write_text("")
    (project / "pack/deep/__init__.py").write_text("")
    files = found(project, "pack.model:fn")
    assert {"pack/model", "pack/ops"} <= files
    assert "pack/other" not in files


def test_a_name_that_a_package_passes_on_leads_to_where_it_is_made(project: Path) -> None:
    write(project, bundle__model="from bundle import double", bundle__made="def double(x): ...")
    (project / "bundle/__init__.py").write_text("from .made import double")
    assert found(project, "bundle.model:fn") == {
        "bundle/model",
        "bundle/__init__",
        "bundle/made",
    }


@pytest.mark.parametrize("line", ["import helper", "from helper import double"])
def test_a_module_alone_leads_to_those_beside_it(line: str, project: Path) -> None:
    write(project, single=line, helper="import kernels.fast", kernels__fast="", stranger="")
    assert found(project, "single:fn") == {"single", "helper", "kernels/fast"}


def test_a_variant_of_ones_own_counts_too(project: Path) -> None:
    write(project, kernel="import kernel_parts", kernel_parts="")
    variant = Variant(implementation="kernel:fn")
    files = sources.sources(Workload(_target_="workloads.rmsnorm.RMSNorm"), variant)
    assert {"kernel", "kernel_parts", "rmsnorm"} <= {file.stem for file in files}


def test_what_is_installed_and_the_runner_itself_are_left_to_their_versions(project: Path) -> None:
    text = "import json, torch, venv_thing\nfrom runner.workload import Cost\nimport nowhere"
    write(project, mine=text, site_packages__x="")
    installed = project / "env/lib/site-packages"
    installed.mkdir(parents=True)
    (installed / "venv_thing.py").write_text("")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(installed)
        assert found(project, "mine:fn") == {"mine"}


def test_no_package_is_run_to_be_looked_through(project: Path) -> None:
    write(project, loud__model="from .parts import one", loud__parts__one="")
    (project / "loud/__init__.py").write_text("raise RuntimeError('I was run')")
    assert "loud/parts/one" in found(project, "loud.model:fn")
    assert "loud" not in sys.modules


def test_a_file_that_cannot_be_read_as_python_is_still_one(project: Path) -> None:
    write(project, broken="def (:", circle="import circle")
    assert found(project, "broken:fn") == {"broken"}
    assert found(project, "circle:fn") == {"circle"}
    assert found(project, "absent.thing:fn") == set()
