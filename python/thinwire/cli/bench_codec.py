"""`thinwire bench codec`: on one thread of the CPU, or on a GPU."""

from contextlib import AbstractContextManager
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from thinwire import dtypes
from thinwire.bench import codec as codec_bench
from thinwire.bench import codec_gpu, gpu_inputs, gpu_tables, samples, tables
from thinwire.bench.codec_gpu import GpuProgram
from thinwire.bench.gpu_inputs import GpuInput
from thinwire.bench.output import progress, say, warn_if_busy
from thinwire.bench.programs import BenchError, find_program
from thinwire.cli.bench_options import Csv, Json, Program, Specs, failure, finish, parse_codecs
from thinwire.codec import Codec
from thinwire.library import ThinwireError, parse_size
from thinwire.pools import gpu_count

CPU_SIZE = "16MiB"


class Device(StrEnum):
    AUTO = "auto"
    CPU = "cpu"
    GPU = "gpu"


def codec(
    specs: Specs = None,
    device: Annotated[Device, typer.Option(help="auto: the GPU where there is one.")] = Device.AUTO,
    data: Annotated[
        list[Path] | None,
        typer.Option(exists=True, dir_okay=False, help="A file whose suffix is its dtype."),
    ] = None,
    dtype: Annotated[str, typer.Option(help="Element type of generated data.")] = "f32",
    size: Annotated[
        str | None,
        typer.Option(
            help=f"Bytes of generated data, as in 1MiB,64MiB. CPU: {CPU_SIZE}; "
            f"GPU: {gpu_inputs.SIZES}, unless given."
        ),
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="CPU: the fastest of so many counts.")] = 9,
    program: Program = None,
    as_csv: Csv = False,
    as_json: Json = False,
) -> None:
    """Speed, ratio and error of codecs, on generated data and on files.

    The files are those given, else those of the folder that $THINWIRE_DATA names. On a GPU, files
    are repeated to 64 MiB; their ratio is that of the file alone.
    """
    if dtype not in dtypes.CODES:
        raise typer.BadParameter(f"no dtype '{dtype}': {', '.join(dtypes.CODES)}")
    paths = data or samples.data_files()
    if _on_gpu(device):
        sizes = [parse_size(word) for word in (size or gpu_inputs.SIZES).split(",")]
        _measure_gpu(specs, paths, dtype, sizes, program, as_csv, as_json)
    else:
        sizes = [parse_size(word) for word in (size or CPU_SIZE).split(",")]
        _measure_cpu(specs, paths, dtype, sizes, runs, as_csv, as_json)


def _on_gpu(device: Device) -> bool:
    if device != Device.AUTO:
        return device == Device.GPU
    try:
        return gpu_count() > 0
    except ThinwireError:
        return False


def _skip(why: str) -> None:
    say(f"skipped {why}")


def _measure_cpu(
    specs: list[str] | None,
    paths: list[Path],
    dtype: str,
    sizes: list[int],
    runs: int,
    as_csv: bool,
    as_json: bool,
) -> None:
    arrays = [
        samples.generate(name, dtype, nbytes) for nbytes in sizes for name in samples.GENERATORS
    ]
    arrays += samples.read_all(paths, _skip)
    warn_if_busy()
    rows = []
    for each in parse_codecs(specs or codec_bench.default_specs()):
        for sample in arrays:
            if sample.dtype not in codec_bench.row_of(each).dtypes:
                _skip(f"{sample.name}: {each.spec} does not take {sample.dtype}")
                continue
            with progress(f"{each.spec} on {sample.name}"):
                rows.append(codec_bench.measure(each, sample, runs))
    finish(rows, tables.CODEC_COLUMNS, as_csv, as_json)


def _measure_gpu(
    specs: list[str] | None,
    paths: list[Path],
    dtype: str,
    sizes: list[int],
    program: Path | None,
    as_csv: bool,
    as_json: bool,
) -> None:
    rows = []
    codecs = parse_codecs(specs or codec_bench.default_specs())
    try:
        with TemporaryDirectory() as folder, _running(program) as running:
            ceilings = [running.ceiling(nbytes) for nbytes in sizes]
            inputs = list(gpu_inputs.generated(dtype, sizes, Path(folder)))
            found = samples.read_all(paths, _skip)
            inputs += gpu_inputs.from_files(found, paths, Path(folder))
            for each in codecs:
                for source in _inputs_of(each, inputs):
                    with progress(f"{each.spec} on {source.name}, {source.nbytes} bytes"):
                        rows.append(codec_gpu.measure(running, each, source))
            notes = gpu_tables.notes(running.gpu, ceilings)
    except BenchError as error:
        raise failure(error) from error
    finish(rows, gpu_tables.COLUMNS, as_csv, as_json, notes)


def _running(program: Path | None) -> AbstractContextManager[GpuProgram]:
    return codec_gpu.running(find_program("codec_gpu", program))


def _inputs_of(each: Codec, inputs: list[GpuInput]) -> list[GpuInput]:
    """The inputs whose dtype the codec takes, in the shapes that make a difference to it: none
    does to raw, nor what values a file has."""
    row = codec_bench.row_of(each)
    taken = [source for source in inputs if source.dtype in row.dtypes]
    if row.name == "raw":
        return [source.as_line() for source in taken if source.name == gpu_inputs.WAVE]
    rank = row.max_rank
    return [variant for source in taken for variant in gpu_inputs.variants(source, rank)]
