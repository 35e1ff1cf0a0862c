"""How fast codecs are on a GPU: requests to the compiled program, and rows of what it says."""

import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from thinwire import message
from thinwire.bench import specs
from thinwire.bench.gpu_inputs import GpuInput
from thinwire.bench.output import failed_row
from thinwire.bench.programs import BenchError, RunError
from thinwire.bench.samples import order0_ratio
from thinwire.codec import Codec

_PATIENCE_SECONDS = 300


@dataclass(frozen=True)
class GpuCodecRow:
    """One codec on one array on a GPU. GB/s are 10^9 uncompressed bytes per second of GPU time;
    "ready" is when the host knows the size of the frame, which is complete in stream order,
    "decoded" when it knows that the array is there, both from an idle GPU and by a polled word;
    "synced" is when the stream is finished; the graph's is "ready" for a replayed encode; "add" is
    a decode that adds to an array.
    Medians. The percentages are what chunk checksums add to GPU time. `ratio` is that of the array
    before it was repeated to `bytes`; `order0_ratio` is a property of that array.
    `pays_below` is the link in GB/s below which encode (synced), send and decode in series beat
    sending raw.
    Figures are None if the row is not verified, or the codec declined the data."""

    codec: str
    data: str
    dtype: str
    shape: str
    bytes: int
    ratio: float | None = None
    order0_ratio: float | None = None
    encode_gb_per_second: float | None = None
    decode_gb_per_second: float | None = None
    encode_us: float | None = None
    decode_us: float | None = None
    decode_add_us: float | None = None
    ready_us: float | None = None
    ready_p90_us: float | None = None
    ready_synced_us: float | None = None
    ready_synced_p90_us: float | None = None
    graph_ready_us: float | None = None
    graph_ready_p90_us: float | None = None
    decoded_us: float | None = None
    decoded_p90_us: float | None = None
    decoded_synced_us: float | None = None
    decoded_synced_p90_us: float | None = None
    pays_below_gb_per_second: float | None = None
    encode_checksum_percent: float | None = None
    decode_checksum_percent: float | None = None
    max_error: float | None = None
    error_over_bound: float | None = None
    range: float | None = None
    verified: bool = False
    note: str = ""


@dataclass(frozen=True)
class Ceiling:
    """GPU time of copying `bytes` bytes, and of reading them and writing half as many."""

    bytes: int
    copy_us: float
    halve_us: float


class GpuProgram:
    """The running program; answers one request after another. Where it ends instead, the next
    request starts it again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._process: subprocess.Popen[str] | None = None
        self.gpu = ""
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [str(self._path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.gpu = self._answer()["gpu"]

    def end(self) -> None:
        """The program ends when nothing more can be asked."""
        process, self._process = self._process, None
        if process is not None:
            _end(process)

    def ceiling(self, nbytes: int) -> Ceiling:
        said = self._ask("ceiling", str(nbytes))
        if "copy_us" not in said:
            raise BenchError(f"no ceilings: {said['note']}")
        return Ceiling(**said)

    def codec(self, spec: str, source: GpuInput, checksums: bool) -> dict[str, Any]:
        """What the program says of one codec on one input; `verified` at least."""
        flag = "1" if checksums else "0"
        dtype, shape = source.period.dtype, source.shape_text
        return self._ask("codec", spec, dtype, shape, str(source.path), flag)

    def _ask(self, *fields: str) -> dict[str, Any]:
        if self._process is None:
            self._start()
        assert self._process is not None and self._process.stdin is not None
        with suppress(OSError):  # it has ended; there is no answer either
            self._process.stdin.write("\t".join(fields) + "\n")
            self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        process = self._process
        assert process is not None and process.stdout is not None
        watch = threading.Timer(_PATIENCE_SECONDS, process.kill)
        watch.start()
        line = process.stdout.readline()
        watch.cancel()
        if not line:
            self.end()
            raise RunError(f"the program ended with {process.returncode} instead of an answer")
        return json.loads(line)


@contextmanager
def running(program: Path) -> Iterator[GpuProgram]:
    """Start the program; it ends with the block. BenchError if it does not start."""
    found = GpuProgram(program)
    try:
        yield found
    finally:
        found.end()


def _end(process: "subprocess.Popen[str]") -> None:
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):  # what it no longer reads
            if pipe is not None:
                pipe.close()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def measure(program: GpuProgram, codec: Codec, source: GpuInput, sums: bool = True) -> GpuCodecRow:
    """Measure with chunk checksums and, for what they cost, without them. A codec that ends the
    program has a row that says so."""
    facts: dict[str, Any] = {
        "codec": codec.spec,
        "data": source.period.name,
        "dtype": source.period.dtype,
        "shape": source.shape_text,
        "bytes": source.nbytes,
    }
    try:
        said = program.codec(codec.spec, source, checksums=True)
        bare = program.codec(codec.spec, source, checksums=False) if sums else None
    except RunError as error:
        return failed_row(GpuCodecRow, error, **facts)
    for each in (said, bare):
        if each is not None and not each["verified"]:
            return GpuCodecRow(**facts, note=each["note"])
    row = make_row(facts, said, bare, ratio_of(codec, source, said["frame_bytes"]))
    return replace(row, order0_ratio=_order0_of(source)) if row.verified else row


_order0: dict[Path, float | None] = {}


def _order0_of(source: GpuInput) -> float | None:
    """Computed once an array: it takes longer than a codec's rows."""
    if source.path not in _order0:
        _order0[source.path] = order0_ratio(source.period)
    return _order0[source.path]


def ratio_of(codec: Codec, source: GpuInput, frame_bytes: int) -> float:
    """That of the array before it was repeated; the GPU's frames are the CPU's, byte for byte. What
    no CPU encodes has that of the repeated one."""
    values = source.period.values
    if not frame_bytes:
        return 1.0
    if values.nbytes == source.nbytes or specs.why_not_here(specs.row_of(codec), on_gpu=False):
        return source.nbytes / frame_bytes
    return values.nbytes / len(message.compress(values, codec, dtype=source.period.dtype))


def make_row(
    facts: dict[str, Any], said: dict[str, Any], bare: dict[str, Any] | None, ratio: float
) -> GpuCodecRow:
    """A row of verified answers, the second without checksums."""
    figures = {name: said[name] for name in said if name.endswith("_us")}
    known = {name: figures[name] for name in figures if name in GpuCodecRow.__dataclass_fields__}
    declined, error = said["declined"], said["max_error"]
    bound = None if declined else specs.bound_of(facts["codec"], said["range"])
    if bound is not None and not specs.is_within(error, bound):
        return GpuCodecRow(**facts, note=f"an error of {error:.9g} where {bound:.9g} is allowed")
    return GpuCodecRow(
        **facts,
        **known,
        ratio=1.0 if declined else ratio,
        encode_gb_per_second=_rate(facts["bytes"], said.get("encode_us")),
        decode_gb_per_second=_rate(facts["bytes"], said.get("decode_us")),
        pays_below_gb_per_second=_pays_below(facts["bytes"], said, ratio),
        encode_checksum_percent=_added(said, bare, "encode_us"),
        decode_checksum_percent=_added(said, bare, "decode_us"),
        max_error=None if declined else error,
        error_over_bound=error / bound if bound else None,
        range=said["range"],
        verified=True,
        note=_note(said),
    )


def _note(said: dict[str, Any]) -> str:
    if said["declined"]:
        return "declined: goes raw"
    return "frames differ from call to call" if said.get("frames_vary") else ""


def _rate(nbytes: int, microseconds: float | None) -> float | None:
    return None if not microseconds else nbytes / microseconds / 1e3


def _pays_below(nbytes: int, said: dict[str, Any], ratio: float) -> float | None:
    if "decoded_us" not in said or ratio <= 1:
        return None
    return nbytes * (1 - 1 / ratio) / (said["ready_synced_us"] + said["decoded_us"]) / 1e3


def _added(said: dict[str, Any], bare: dict[str, Any] | None, name: str) -> float | None:
    if bare is None or name not in said or not bare.get(name):
        return None
    return 100 * (said[name] / bare[name] - 1)
