"""`thinwire advise` and its buffers on a GPU."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from thinwire import Codec, message
from thinwire.bench import codec as codec_bench
from thinwire.bench.gpu_buffers import GpuFrameBuffers
from thinwire.bench.samples import Sample
from thinwire.cli import command_line

FIELD = np.sin(np.arange(64 * 64 * 64) / 99).reshape(64, 64, 64).astype(np.float32)


@pytest.mark.parametrize("spec", ["mpc", "zfp:rate=8"])
@pytest.mark.parametrize("shape", [(64, 64, 64), (64**3,)])
def test_frames_are_those_of_the_cpu(spec: str, shape: tuple[int, ...]) -> None:
    codec, values = Codec(spec), FIELD.reshape(shape)
    buffers = GpuFrameBuffers(codec, values, "f32")
    buffers.encode()
    assert buffers.frame.tobytes() == message.compress(values, codec)
    decoded = message.decompress(buffers.frame).reshape(-1).view(np.uint8)
    assert np.array_equal(buffers.decode_afresh(), decoded)


def test_a_row_has_its_figures() -> None:
    row = codec_bench.measure(Codec("mpc"), Sample("x", "f32", FIELD.ravel()), 3, GpuFrameBuffers)
    assert row.verified and row.ratio > 1, row.note
    assert row.encode_gb_per_second > 0 and row.decode_gb_per_second > 0


def test_the_command(tmp_path: Path) -> None:
    FIELD.tofile(tmp_path / "field.f32")
    words = ["advise", str(tmp_path / "field.f32"), "--link", "1mbit", "--device", "gpu", "--json"]
    done = CliRunner().invoke(
        command_line(), [*words, "--shape", "64x64x64"], catch_exceptions=False
    )
    said = json.loads(done.stdout)
    assert done.exit_code == 0 and said["device"] == "gpu"
    assert said["advice"][0]["codec"] != "raw"
    assert all(each["verified"] for each in said["candidates"])
