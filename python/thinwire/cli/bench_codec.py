"""`thinwire bench codec`: on one thread of the CPU, or on a GPU."""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from thinwire.bench import codec as codec_bench
from thinwire.bench import (
    codec_gpu,
    generators,
    gpu_inputs,
    gpu_tables,
    plot,
    samples,
    specs,
    tables,
)
from thinwire.bench.output import say, warn_if_busy
from thinwire.bench.programs import BenchError, find_program
from thinwire.bench.samples import Sample
from thinwire.bench.steps import steps
from thinwire.cli import values
from thinwire.cli.bench_options import (
    Csv,
    Json,
    Program,
    Specs,
    failure,
    finish,
    parse_codecs,
    write_picture,
)
from thinwire.cli.values import Device, Dtype
from thinwire.codec import Codec
from thinwire.library import ThinwireError, parse_size
from thinwire.pools import gpu_count

CPU_SIZE = "4MiB"


@dataclass(frozen=True)
class Work:
    """What to measure: codecs, files or else recipes, and how long."""

    codecs: list[Codec]
    files: list[Sample]
    dtype: str | None
    sizes: list[int]
    generated: bool

    def codecs_for(self, sample: Sample) -> list[Codec]:
        """Those that take its dtype. What values are recipes' makes no difference to raw."""
        known = self.generated and sample.name != generators.WAVE
        rows = {codec: specs.row_of(codec) for codec in self.codecs}
        return [
            codec
            for codec, row in rows.items()
            if sample.dtype in row.dtypes and not (known and row.name == "raw")
        ]


def codec(
    wanted: Specs = None,
    device: Annotated[Device, typer.Option(help="auto: the GPU if there is one.")] = Device.AUTO,
    file: Annotated[
        list[Path] | None,
        typer.Option(
            "--file",
            "--data",
            help="Files of values: raw, .npy, or file.npz:name, file.h5:/group/name, file.nc:name.",
            callback=values.place_of_array,
        ),
    ] = None,
    dtype: Annotated[
        Dtype | None,
        typer.Option(
            help="Element type: of raw files (else their suffix), or of all generated data."
        ),
    ] = None,
    shape: Annotated[
        str | None,
        typer.Option(help="Shape, slowest dimension first, as in 24x224x224; else the file's."),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(
            help=f"Bytes of generated data, as in 1MiB,64MiB. CPU: {CPU_SIZE}; "
            f"GPU: {gpu_inputs.SIZES}, unless given.",
            callback=values.sizes,
        ),
    ] = None,
    runs: Annotated[
        int, typer.Option(min=1, help="CPU: number of runs, of which the fastest counts.")
    ] = 9,
    picture: Annotated[
        Path | None,
        typer.Option("--plot", help="Draw ratio against speed into this SVG file.", dir_okay=False),
    ] = None,
    sums: Annotated[
        bool,
        typer.Option(help="GPU: also measure without chunk checksums, which takes twice the time."),
    ] = True,
    program: Program = None,
    as_csv: Csv = False,
    as_json: Json = False,
) -> None:
    """Speed, ratio and error of codecs: on the files given, else on generated data and the files
    of the folder that $THINWIRE_DATA names.

    On a GPU, files are repeated to 64 MiB; their ratio is that of the file alone.
    """
    gpu = on_gpu(device)
    try:
        extents = samples.parse_shape(shape) if shape else None
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    if extents and not file:
        raise typer.BadParameter("--shape is that of a --file")
    # Files beside a README.md have dtypes of their own; only those that are named take --dtype.
    found = (
        samples.read_all(file, _skip, dtype, extents)
        if file
        else samples.read_all(samples.data_files(), _skip)
    )
    words = (size or (gpu_inputs.SIZES if gpu else CPU_SIZE)).split(",")
    work = Work(
        codecs=parse_codecs(wanted or specs.default_specs(gpu, _skip), automatic=not gpu),
        files=found,
        dtype=dtype,
        sizes=[parse_size(word) for word in words],
        generated=not file,
    )
    rows, notes = _measure_gpu(work, program, sums) if gpu else (_measure_cpu(work, runs), [])
    write_picture(picture, plot.draw, rows)
    finish(
        rows, gpu_tables.GPU_CODEC_COLUMNS if gpu else tables.CODEC_COLUMNS, as_csv, as_json, notes
    )


def on_gpu(device: Device) -> bool:
    if device != Device.AUTO:
        return device == Device.GPU
    try:
        return gpu_count() > 0
    except ThinwireError:
        return False


def _skip(why: str) -> None:
    say(f"skipped {why}")


def _name_left_out(work: Work, arrays: list[Sample]) -> None:
    for name, dtype in dict.fromkeys((each.name, each.dtype) for each in arrays):
        refused = [c.spec for c in work.codecs if dtype not in specs.row_of(c).dtypes]
        if refused:
            _skip(f"{name}: {dtype} is not taken by {', '.join(refused)}")


def _measure_cpu(work: Work, runs: int) -> list[Any]:
    recipes = generators.inputs(work.dtype) if work.generated else []
    arrays = [
        generators.generate(name, dtype, nbytes) for nbytes in work.sizes for name, dtype in recipes
    ]
    arrays += work.files
    warn_if_busy()
    _name_left_out(work, arrays)
    jobs = [
        (each, variant)
        for sample in arrays
        for each in work.codecs_for(sample)
        for variant in specs.variants(sample, specs.row_of(each))
    ]
    rows = []
    with steps(len(jobs)) as step:
        for each, variant in jobs:
            with step(f"{each.spec} on {variant.name} {variant.shape_text}"):
                rows.append(codec_bench.measure(each, variant, runs))
    return rows


def _measure_gpu(work: Work, program: Path | None, sums: bool) -> tuple[list[Any], list[str]]:
    rows = []
    try:
        with (
            TemporaryDirectory() as folder,
            codec_gpu.running(find_program("codec_gpu", program)) as running,
        ):
            ceilings = [running.ceiling(nbytes) for nbytes in work.sizes]
            inputs = list(gpu_inputs.from_files(work.files, Path(folder)))
            if work.generated:
                inputs += gpu_inputs.generated(work.dtype, work.sizes, Path(folder))
            _name_left_out(work, [each.period for each in inputs])
            jobs = [
                (each, source, variant)
                for source in inputs
                for each in work.codecs_for(source.period)
                for variant in gpu_inputs.variants(source, specs.row_of(each))
            ]
            with steps(len(jobs)) as step:
                for each, source, variant in jobs:
                    with step(f"{each.spec} on {source.period.name}, {source.nbytes} bytes"):
                        rows.append(codec_gpu.measure(running, each, variant, sums))
            notes = gpu_tables.gpu_codec_notes(running.gpu, ceilings)
    except BenchError as error:
        raise failure(error) from error
    return rows, notes
