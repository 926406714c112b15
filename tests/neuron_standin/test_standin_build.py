"""The stand-in is compiled once for each state of its sources, by one process at a time."""

from __future__ import annotations

import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.neuron_device import harness
from tests.neuron_device.site.torch_neuronx import _build


def test_a_compiled_library_is_used_again(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert _build.build() == library


def test_a_changed_source_asks_for_another_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _build.library_path()
    sources = tmp_path / "csrc"
    shutil.copytree(_build.SOURCES, sources)
    monkeypatch.setattr(_build, "SOURCES", sources)
    assert _build.library_path() == before
    (sources / "options.h").write_text("// changed\n")
    assert _build.library_path() != before


def test_builders_at_the_same_time_compile_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEURON_STANDIN_BUILD_DIR", str(tmp_path))
    compilers: list[int] = []

    def compile_slowly(library: Path) -> None:
        compilers.append(threading.get_ident())
        time.sleep(0.2)
        library.write_bytes(b"compiled")

    monkeypatch.setattr(_build, "_compile", compile_slowly)
    with ThreadPoolExecutor(4) as pool:
        libraries = {future.result() for future in [pool.submit(_build.build) for _ in range(4)]}
    assert len(compilers) == 1
    assert [library.read_bytes() for library in libraries] == [b"compiled"]


def test_without_a_compiler_the_reason_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEURON_STANDIN_BUILD_DIR", str(tmp_path))
    monkeypatch.setenv("CXX", "no-such-compiler")
    reason = harness.why_not()
    assert reason is not None
    assert "C++ compiler" in reason
    with pytest.raises(_build.BuildError, match="no C\\+\\+ compiler"):
        _build.build()


def test_a_compilers_error_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEURON_STANDIN_BUILD_DIR", str(tmp_path / "builds"))
    sources = tmp_path / "csrc"
    sources.mkdir()
    (sources / "wrong.cpp").write_text("int main( {\n")
    monkeypatch.setattr(_build, "SOURCES", sources)
    with pytest.raises(_build.BuildError, match=r"wrong\.cpp"):
        _build.build()
    assert not _build.library_path().exists()
