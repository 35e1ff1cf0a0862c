"""`thinwire advise`: which codec to use for a file's values on a link."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from thinwire.bench import advise as adviser
from thinwire.bench import candidates, samples
from thinwire.bench.buffers import FrameBuffers, GpuFrameBuffers
from thinwire.bench.candidates import Asked, Candidate
from thinwire.bench.output import Column, number, print_table, say, warn_if_busy
from thinwire.bench.steps import steps
from thinwire.cli import values
from thinwire.cli.bench_codec import on_gpu
from thinwire.cli.values import Device, Dtype
from thinwire.library import parse_link_rate, parse_size

COLUMNS: list[Column] = [
    ("codec", lambda row: row.codec),
    ("shape", lambda row: row.shape),
    ("bytes", lambda row: str(row.bytes)),
    ("ratio", lambda row: number(row.ratio, ".3f")),
    ("order 0", lambda row: number(row.order0_ratio, ".3f")),
    ("encode GB/s", lambda row: number(row.encode_gb_per_second, ".4g")),
    ("decode GB/s", lambda row: number(row.decode_gb_per_second, ".4g")),
    ("max error", lambda row: number(row.max_error, ".3g")),
    ("of the allowed", lambda row: number(row.error_over_allowed, ".3f")),
    ("PSNR dB", lambda row: number(row.psnr, ".1f")),
    ("message us", lambda row: number(None if row.seconds is None else 1e6 * row.seconds, ".1f")),
    ("speed-up", lambda row: number(row.speedup, ".2f")),
    ("pays below Gbit/s", lambda row: _gigabits(row)),
    ("", lambda row: row.note if row.verified else f"NOT VERIFIED: {row.note}"),
]


def _gigabits(row: Candidate) -> str:
    rate = row.pays_below_gb_per_second
    return number(None if rate is None else 8 * rate, ".3g")


def advise(
    file: Annotated[
        Path,
        typer.Argument(
            help="Raw values, .npy, file.npz:name, file.h5:/group/name, file.nc:name; - is stdin.",
            callback=values.place_of_array,
        ),
    ],
    link: Annotated[
        str,
        typer.Option(
            help="The link's rate, as in 100gbit.", metavar="RATE", callback=values.link_rate
        ),
    ],
    dtype: Annotated[
        Dtype | None,
        typer.Option(help="Element type, if neither suffix nor file says it."),
    ] = None,
    shape: Annotated[
        str | None,
        typer.Option(help="Shape, slowest dimension first, as in 24x224x224; else the file's."),
    ] = None,
    error: Annotated[
        str | None,
        typer.Option(
            help="Largest error allowed: abs=1e-4, or rel=1e-3 of the range. Without it: lossless."
        ),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(
            help="Messages of these sizes too, as in 1MiB,64MiB: cut, or repeated.",
            callback=values.sizes,
        ),
    ] = None,
    device: Annotated[Device, typer.Option(help="auto: the GPU if there is one.")] = Device.AUTO,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure codecs on your own values, and say which one to use on a link, if any.

    The time of a message is the sum of encode, its bytes at the link's rate, and decode; start-up
    time, which raw messages have too, is left out.
    """
    rate = parse_link_rate(link)
    try:
        sample = samples.read_shaped(file, dtype, samples.parse_shape(shape) if shape else None)
        gpu = on_gpu(device)
        wanted = candidates.codecs_for(sample.dtype, error, gpu, lambda why: say(f"skipped {why}"))
        wanted = candidates.with_fill_of(sample, wanted)
    except ValueError as failed:
        raise typer.BadParameter(str(failed)) from failed
    sizes = [sample.values.nbytes, *(parse_size(word) for word in (size or "").split(",") if word)]
    warn_if_busy()
    asked = Asked(rate, list(dict.fromkeys(sizes)), error)
    place = GpuFrameBuffers if gpu else FrameBuffers
    found = candidates.measure_all(sample, wanted, asked, place, steps)
    if not found:
        say(f"no codec takes {sample.dtype}: send it raw")
        raise typer.Exit(1)
    advice = adviser.advise(found)
    if as_json:
        said = {
            "file": sample.name,
            "dtype": sample.dtype,
            "shape": sample.shape_text,
            "link_gb_per_second": rate / 1e9,
            "device": "gpu" if gpu else "cpu",
            "error": error,
            "advice": [asdict(each) for each in advice],
            "candidates": [asdict(each) for each in found],
        }
        print(json.dumps(said, indent=2))
    else:
        found.sort(key=lambda row: (row.bytes, row.seconds or float("inf")))
        where = "a GPU, blocking calls" if gpu else "one thread of the CPU"
        notes = [f"link {link}; codecs on {where}, the fastest of {candidates.CALLS}", ""]
        print_table(found, COLUMNS, notes + [each.sentence for each in advice])
    if not all(row.verified for row in found):
        raise typer.Exit(1)
