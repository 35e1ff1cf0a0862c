"""What our lossless codecs and those of others make of files: ratios, one JSON object a file.

    python tests/untuned/halves.py FOLDER
    python bench/studies/lossless/lossless_rows.py [--ndzip libndzip_peer.so] FOLDER/*/* >rows.json
    THINWIRE_DATA=/data python bench/studies/lossless/lossless_rows.py >rows.json
    python bench/studies/lossless/lossless_tables.py rows.json ...

Each coder at the best of its settings, and ours also in each shape that comes of the array's by
merging neighbouring axes. `auto` gets the array's shape. Every coder's values are compared with the
array bit by bit; who fails has no figure, and the exit code is 1. Speeds are not measured.

Shapes of files: as a README.md beside them has them (`thinwire bench codec --help`); of the tests'
own set as SHAPES has them.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import rivals

from thinwire import compress, decompress, message
from thinwire.bench import samples
from thinwire.bench.samples import Sample, order0_ratio

# In which the recipes of tests/untuned make their arrays; the others are lists.
SHAPES = {
    "cache": (8, 512, 128),
    "embedding-gradients.f32": (4096, 64),
    "embedding-gradients.bf16": (8192, 64),
    "gated-activations": (512, 1024),
    "int4-weights": (512, 1024),
    "int8-weights.f16": (512, 1024),
    "int8-weights.f32": (512, 512),
    "ocean.f32": (512, 512),
    "ocean.f64": (384, 384),
    "pruned-2-of-4": (512, 1024),
    "pruned-weights.f16": (512, 1024),
    "pruned-weights.f32": (512, 512),
    "pruned-weights.bf16": (512, 1024),
    "experts": (2048, 256),
}
AUTO = "lossless"  # as "auto", wherever it makes the array smaller


class WrongError(Exception):
    """A coder gave other values than it got."""


def must_be_equal(name: str, before: np.ndarray, after: np.ndarray) -> None:
    if after.reshape(-1).tobytes() != before.tobytes():
        raise WrongError(f"{name}: what came back is not what went in")


def own_attempts(sample: Sample) -> Iterator[dict[str, Any]]:
    for spec in rivals.own_specs(sample.dtype):
        in_shapes = not spec.startswith(("mpc", "expack", "ans"))  # which see lines alone
        for setting, size, back in rivals.ours([spec], in_shapes)(sample):
            must_be_equal(setting, sample.values, back)
            yield {"spec": spec, "shape": setting.rpartition(" ")[2], "bytes": size}


def chosen(sample: Sample) -> dict[str, Any]:
    frame = compress(sample.values, AUTO, dtype=sample.dtype)
    back = np.frombuffer(bytes(decompress(frame)), sample.values.dtype)
    must_be_equal(AUTO, sample.values, back)
    info = message.inspect(frame)
    shape = "x".join(map(str, info.shape))
    return {"spec": info.spec, "shape": shape, "bytes": len(frame)}


def best_of(rival: rivals.Rival, sample: Sample) -> dict[str, Any]:
    best: dict[str, Any] = {}
    for setting, size, back in rival.attempts(sample):
        must_be_equal(f"{rival.name} {setting}", sample.values, back)
        if not best or size < best["bytes"]:
            best = {"setting": setting, "bytes": size}
    return best


def measure(sample: Sample, others: list[rivals.Rival]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "file": sample.name,
        "dtype": sample.dtype,
        "shape": sample.shape_text,
        "bytes": sample.values.nbytes,
        "order0": order0_ratio(sample),
        "own": list(own_attempts(sample)),
        AUTO: chosen(sample),
        "rivals": {},
        "failed": [],
    }
    for rival in others:
        if sample.dtype not in rival.dtypes:
            continue
        try:
            row["rivals"][rival.name] = best_of(rival, sample)
        except (WrongError, RuntimeError, ValueError) as error:
            row["failed"].append(str(error))
            print(f"FAILED {sample.name}: {error}", file=sys.stderr)
    return row


def read(path: Path) -> Sample:
    sample = samples.read_shaped(path, None, None)
    shape = SHAPES.get(path.name, SHAPES.get(path.stem))
    return sample.in_shape(shape) if shape else sample


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="*", help="else those of $THINWIRE_DATA")
    parser.add_argument("--ndzip", type=Path, help="the library of ndzip_peer.cpp")
    given = parser.parse_args()
    others = list(rivals.at_hand(given.ndzip, lambda why: print(f"skipped {why}", file=sys.stderr)))
    failed = False
    for path in given.files or samples.data_files():
        row = measure(read(path), others)
        failed |= bool(row["failed"])
        print(json.dumps(row), flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
