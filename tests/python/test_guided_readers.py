"""Every reader of files in Python on inputs that are guided by what they reach in it."""

import json
import os
import struct
from pathlib import Path

import numpy as np
import pytest
from changed import CASES, limit
from guided import Guided
from made_traces import rank_lines

import thinwire
from thinwire import array_files, capture, message, statistics, traces
from thinwire.bench import samples
from thinwire.lab import state
from thinwire.launch import elf, program
from thinwire.traces.page import page

MOST_ARRAY = 1 << 20
# Effort that a reader needs to be guided, which takes longer than the reading.
SHARE = 5


def _lines(rows: list[dict[str, object]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _fuzz(read, seeds: list[bytes]) -> Guided:
    guided = Guided(read, seeds)
    before = guided.steps
    done = guided.run(CASES if CASES > 10_000 else CASES // SHARE)
    found = f"{before} steps of the seeds, {guided.steps} reached"
    print(f"{done} guided, {len(guided.kept)} inputs kept, {found}")
    assert guided.steps > before
    return guided


def test_guided_traces(tmp_path: Path) -> None:
    path = tmp_path / "job.rank0"

    def read(data: bytes) -> None:
        path.write_bytes(data)
        warnings: list[str] = []
        try:
            found = traces.read_all([path], warnings.append)
        except traces.NotATrace:
            return
        merged = traces.merge(found, warnings)
        json.dumps(merged.as_dict()).encode()
        page(merged, "job").encode()

    _fuzz(read, [_lines(rank_lines(0, 2, "node", bins=1)), b"", b"{}\n"])


def test_guided_captures(tmp_path: Path) -> None:
    (tmp_path / "a.f32").write_bytes(bytes(40))
    row = {"file": "a.f32", "shape": "2x5", "operation": "send", "rank": 0, "number": 0}

    def read(data: bytes) -> None:
        (tmp_path / "rank0.jsonl").write_bytes(data)
        for sample in capture.make_index(tmp_path, ["./program"]):
            assert (tmp_path / sample["file"]).parent == tmp_path
        samples.stated_shape(tmp_path / "a.f32")

    _fuzz(read, [_lines([{**row, "bytes": 40}, {**row, "bytes": 4, "number": 1}]), b"{}\n"])


def test_guided_tables_of_folders(tmp_path: Path) -> None:
    data_file = tmp_path / "a.f32"
    data_file.write_bytes(bytes(40))

    def read(data: bytes) -> None:
        (tmp_path / "README.md").write_bytes(data)
        assert samples.stated_shape(data_file) in (None, (2, 5), (5, 2), (10,))

    _fuzz(read, [b"| file | shape |\n|---|---|\n| a.f32 | 2x5 |\n", b""])


def test_guided_records_of_labs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    folder = state.root()
    record = {"name": "lab", "hosts": 2, "link": "1gbit", "ranks_per_host": 1, "started": 1}

    def read(data: bytes) -> None:
        (folder / "lab.json").write_bytes(data)
        for found in state.records():
            assert found.name == "lab" and found.process > 1 and found.alive in (True, False)

    _fuzz(read, [_lines([{**record, "process": os.getpid(), "boot": state.boot_id()}]), b"{}"])


def test_guided_files_of_values(tmp_path: Path) -> None:
    path = tmp_path / "a.f32"

    def read(data: bytes) -> None:
        path.write_bytes(data)
        for dtype in ("f32", "bytes"):
            try:
                assert array_files.read(path, dtype).array.nbytes <= len(data)
            except ValueError as error:
                assert path.name in str(error)

    with_header = tmp_path / "b.npy"
    np.save(with_header, np.zeros(3, np.float32))
    _fuzz(read, [bytes(8), with_header.read_bytes(), b"\x89HDF\r\n\x1a\n", b"GRIB", b""])


def _frames() -> list[bytes]:
    made = [np.zeros((), np.float32), np.zeros((0, 3), np.float64), np.ones((2,) * 6, np.float32)]
    wave = np.sin(0.01 * np.arange(400)).astype(np.float32)
    return [*(message.compress(each, "mpc") for each in made), message.compress(wave, "zfp:rate=8")]


def test_guided_frames(tmp_path: Path) -> None:
    """What stands after a frame, and what its header claims, as Python reads them."""

    def read(data: bytes) -> None:
        try:
            if message.inspect(data).raw_bytes <= MOST_ARRAY:
                message.decompress(data)
        except thinwire.ThinwireError as error:
            assert "\n" not in str(error)

    _fuzz(read, _frames())


def test_guided_programs(tmp_path: Path) -> None:
    """What `thinwire run` reads of a program and its libraries."""
    path = tmp_path / "program"

    def read(data: bytes) -> frozenset[str]:
        path.write_bytes(data)
        program.interpreter_of(str(path))
        return elf._read(path, (2, 11))

    assert read(small_elf()) == {"MPI_Send"}
    seeds = [small_elf(), b"#!/usr/bin/env python3\n", b"#! \n", b"#!/no/such\n", b"\x7fELF\x02"]
    _fuzz(read, seeds)


REPORT = {
    "codec": "mpc:stride=1", "messages": 10, "compressed_messages": 4, "decoded_messages": 4,
    "damaged_messages": 0, "bytes": 80, "wire_bytes": 60, "copied_receives": 0, "allocations": 1,
    "receives_through_scratch": 0, "receives_in_place": 1, "raw_by_reason": {"too small": 6},
}  # fmt: skip


def test_guided_reports(tmp_path: Path) -> None:
    path = tmp_path / "report.json"

    def read(data: bytes) -> None:
        path.write_bytes(data)
        try:
            found = statistics.read_report(path)
        except ValueError as error:
            assert str(path) in str(error)
            return
        assert sum(found[name] for name in statistics.REPORT_COUNTS) >= 0
        assert sum(found["raw_by_reason"].values()) >= 0

    read(json.dumps(REPORT).encode())
    assert statistics.read_report(path) == REPORT
    _fuzz(read, [json.dumps(REPORT).encode(), b"{}", b""])


def small_elf(tables: int = 1, symbols: int = 1, name: bytes = b"MPI_Send") -> bytes:
    """A library that shows one name, as often as wanted, in one table that is listed as often."""
    strings = (b"\0" + name + b"\0").ljust(16, b"\0")
    symbol = struct.pack("<IBBHQQ", 1, 1 << 4, 0, 1, 0, 0) * symbols
    end = 64 + len(strings) + len(symbol)
    head = b"\x7fELF\x02\x01".ljust(40, b"\0")
    head += struct.pack("<QI6H", end, 0, 64, 0, 0, 64, 1 + tables, 0)
    rows = [(3, 64, len(strings)), *[(11, 64 + len(strings), len(symbol))] * tables]
    packed = (
        struct.pack("<IIQQQQIIQQ", 0, kind, 0, 0, at, size, 0, 0, 0, 0) for kind, at, size in rows
    )
    return head + strings + symbol + b"".join(packed)


def test_a_library_that_lists_one_table_again_and_again_shows_nothing(tmp_path: Path) -> None:
    path = tmp_path / "library.so"
    path.write_bytes(small_elf(tables=60_000, symbols=5_000))
    with limit(5):
        assert elf._read(path, (11,)) == frozenset()


def test_names_that_are_as_long_as_the_file_take_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "library.so"
    path.write_bytes(small_elf(symbols=20_000, name=b"x" * (1 << 20)))
    with limit(5):
        assert elf._read(path, (11,)) == frozenset()


def test_the_beginning_of_a_library_shows_nothing(tmp_path: Path) -> None:
    path = tmp_path / "library.so"
    for length in range(64):
        path.write_bytes(small_elf()[:length])
        assert elf._read(path, (11,)) == frozenset()
