"""The `thinwire` command, as a user types it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import thinwire


def call(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "thinwire", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **variables},
        check=False,
    )


def test_codecs_lists_the_registry() -> None:
    rows = json.loads(call("codecs", "--json").stdout)
    assert [row["name"] for row in rows] == [row.name for row in thinwire.codecs()]
    assert all(row["name"] in call("codecs").stdout for row in rows)


def test_env_says_what_is_there() -> None:
    said = call("env", THINWIRE_CODEC="zfp:rate=8").stdout
    assert thinwire.version() in said
    assert "zfp:rate=8" in said


def test_files_round_trip(tmp_path: Path) -> None:
    data = np.sin(0.01 * np.arange(50000)).astype(np.float32)
    source, frame, back = (tmp_path / name for name in ("data.f32", "data.tw", "back.f32"))
    data.tofile(source)
    encoded = call("encode", "--codec", "zfp:rate=16", str(source), str(frame))
    assert encoded.returncode == 0 and "ratio 1.99" in encoded.stderr
    assert call("inspect", str(frame)).stdout.startswith("zfp:rate=16 f32 50000: 200000 bytes")
    assert call("decode", str(frame), str(back)).returncode == 0
    np.testing.assert_allclose(np.fromfile(back, np.float32), data, atol=1e-3)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["encode", "--codec", "zpf:rate=1", "{data}", "{out}"], "no codec named 'zpf'"),
        (["encode", "--codec", "zfp:rate=16", "{odd}", "{out}"], "whole number of f32"),
        (["encode", "--codec", "zfp:rate=16", "{dat}", "{out}"], "element type"),
        (["decode", "{data}", "{out}"], "not a frame"),
        (["run", "--codec", "nonsense", "--", "true"], "no codec named 'nonsense'"),
        (["run", "--threshold", "many", "--", "true"], "not a size"),
        (["run", "--link", "fast", "--", "true"], "not a link rate"),
        (["run", "--", "/no/such/program"], "no program"),
        (["run"], "no command given"),
        (["advise", "--link", "fast", "{data}"], "not a link rate"),
        (["advise", "--link", "1gbit", "{dat}"], "pass --dtype"),
        (["shim", "pigeon"], "no preload library named 'pigeon'"),
    ],
)
def test_mistakes_end_in_one_line(tmp_path: Path, arguments: list[str], said: str) -> None:
    names = {"data": "data.f32", "odd": "odd.f32", "dat": "some.dat", "out": "out"}
    paths = {key: str(tmp_path / name) for key, name in names.items()}
    Path(paths["data"]).write_bytes(bytes(400))
    Path(paths["odd"]).write_bytes(bytes(401))
    Path(paths["dat"]).write_bytes(bytes(400))
    result = call(*[argument.format(**paths) for argument in arguments], COLUMNS="200")
    assert result.returncode != 0
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_shim_names_an_existing_library() -> None:
    result = call("shim", "mpi")
    if result.returncode != 0:
        pytest.skip(result.stderr.strip())
    assert Path(result.stdout.strip()).is_file()


@pytest.mark.parametrize(
    ("options", "variables", "codec"),
    [
        ([], {}, "auto"),
        ([], {"THINWIRE_CODEC": "zfp:rate=8"}, "zfp:rate=8"),
        (["--codec", "mpc"], {"THINWIRE_CODEC": "zfp:rate=8"}, "mpc:stride=1"),
    ],
)
def test_exec_takes_the_option_then_the_environment(
    options: list[str], variables: dict[str, str], codec: str
) -> None:
    rank = {"OMPI_COMM_WORLD_RANK": "0", **variables}
    result = call("exec", *options, "--", "printenv", "THINWIRE_CODEC", **rank)
    if "does not exist" in result.stderr:
        pytest.skip(result.stderr.strip())
    assert result.stdout.strip() == codec


# A frame's header alone, of codec nvcomp-lz4 and no values (spec/frame.md).
FOREIGN = (
    "7477206672616d6566696c65001a0d0a000b00010101000000000000"
    "000000000e000000000000000000000000000000f623f05cd6d25ba9"
)


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A library in nvCOMP's place that leaves a mark where it is loaded."""
    source = f"""#include <stdio.h>
    __attribute__((constructor)) static void mark(void) {{
      FILE* file = fopen("{tmp_path}/loaded", "w");
      if (file) fclose(file);
    }}"""
    (tmp_path / "planted.c").write_text(source)
    library = tmp_path / "planted.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "planted.c"], check=True)
    return library


def test_a_frame_does_not_say_what_is_loaded(tmp_path: Path, planted: Path) -> None:
    frame, back = tmp_path / "frame.tw", tmp_path / "back.f32"
    frame.write_bytes(bytes.fromhex(FOREIGN))
    settings = {"THINWIRE_NVCOMP": str(planted)}
    assert call("inspect", str(frame), **settings).stdout.startswith("nvcomp-lz4 f32 0")
    done = call("decode", str(frame), str(back), **settings)
    assert done.returncode != 0 and "THINWIRE_DECODE=nvcomp-lz4" in done.stderr.replace("\n", " ")
    assert not (tmp_path / "loaded").exists() and not back.exists()
    # Who names it gets as far as what is not there.
    for named, variables in (
        (["--allow", "nvcomp-lz4"], {}),
        ([], {"THINWIRE_DECODE": "nvcomp-ans,nvcomp-lz4"}),
        ([], {"THINWIRE_CODEC": "nvcomp-lz4"}),
    ):
        done = call("decode", str(frame), str(back), *named, **settings, **variables)
        assert done.returncode != 0 and "THINWIRE_DECODE" not in done.stderr
    done = call("decode", str(frame), str(back), "--allow", "magic", **settings)
    assert done.returncode != 0 and "magic" in done.stderr
