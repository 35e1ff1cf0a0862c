"""Arrays through the serialisers, in one process: what is compressed, and what arrives."""

import gc
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arrays_of_kinds import COMPRESSED, PLAIN, make, same
from connections import is_compressed, sent, through
from distributed.protocol.serialize import deserialize, deserialize_bytes, serialize_bytelist

import thinwire
import thinwire.dask
from thinwire.dask import handshake, marks, setting
from thinwire.dask.coding import DamagedFrame


@pytest.fixture
def forced() -> Iterator[None]:
    """Everything of at least a byte is compressed, whether it pays or not."""
    setting.hold("test", setting.make("lossless", 1, None, False, True, None))
    yield
    setting.let_go("test")


@pytest.mark.parametrize("kind", COMPRESSED)
def test_floats_arrive_to_the_bit(forced: None, kind: str) -> None:
    x = make(kind)
    arrived = through(x)
    assert same(arrived, x)
    if x.flags.c_contiguous != x.flags.f_contiguous:
        assert arrived.strides == x.strides


@pytest.mark.parametrize("kind", PLAIN)
def test_all_else_is_distributeds_own(forced: None, kind: str) -> None:
    x = make(kind)
    header, frames = sent(x)
    assert not is_compressed(header)
    assert same(deserialize(header, [bytearray(frame) for frame in frames]), x)


def test_what_keeps_an_array_plain(forced: None) -> None:
    x = make("f4")
    thinwire.dask.stats(reset=True)
    assert is_compressed(sent(x)[0])
    assert not is_compressed(sent(x, ready=False)[0])
    assert not is_compressed(sent(x, same_host=True)[0])
    setting.hold("test", setting.make("lossless", "1MiB", None, False, True, None))
    assert not is_compressed(sent(x)[0])
    noise = np.random.default_rng(0).integers(0, 2**32, 60_000, "u4").view("f4")
    setting.hold("test", setting.make("lossless", 1, None, False, True, None))
    assert not is_compressed(sent(noise)[0])
    setting.let_go("test")
    assert not is_compressed(sent(x)[0])
    counted = thinwire.dask.stats()
    assert dict(counted.plain_by_reason) == {
        "receiver without thinwire": 1,
        "same host": 1,
        "below the threshold": 1,
        "too little gained": 1,
    }
    assert (counted.arrays, counted.compressed, counted.compressed_bytes) == (5, 1, x.nbytes)
    assert counted.ratio > 1.5 and dict(counted.codecs) == {"lossless": 1}


def test_another_version_is_no_receiver(forced: None, monkeypatch: pytest.MonkeyPatch) -> None:
    from connections import context
    from distributed.protocol.serialize import serialize

    other = context()
    other["recipient"][handshake.KEY]["version"] = "0.0.1"
    assert not is_compressed(serialize(make("f4"), context=other)[0])


def test_marked_arrays_keep_their_bound(forced: None) -> None:
    for kind in ("f4", "f8", "fortran", "c8"):
        x = make(kind)
        marked = thinwire.dask.lossy(x, abs=1e-3)
        arrived = through(marked)
        parts = [np.abs((arrived - x).real).max(), np.abs((arrived - x).imag).max()]
        assert 0 < max(parts) <= 1e-3, kind
        # The mark is of that object: the array itself, and what is made of it, are exact.
        assert same(through(x), x) and same(through(marked[1:]), x[1:])
        assert same(through(marked + 0), x + 0)
    assert through(thinwire.dask.lossy(make("f4"), rate=8)).dtype == np.float32
    assert through(thinwire.dask.lossy(make("f4"), "zfp:rate=8")).dtype == np.float32


def test_spilling_is_exact(forced: None) -> None:
    """Spilling and copies have no connection: distributed's own functions write them."""
    marked = thinwire.dask.lossy(make("f8"), abs=0.5)
    on_disk = b"".join(serialize_bytelist(marked, on_error="raise"))
    assert same(deserialize_bytes(on_disk), make("f8"))
    assert len(on_disk) > marked.nbytes


def test_marks_end_with_their_arrays() -> None:
    before = len(marks._marks)
    kept = thinwire.dask.lossy(make("f4"), abs=1e-3)
    assert len(marks._marks) == before + 1 and marks.mark_of(kept) == "szp:abs=0.001"
    del kept
    gc.collect()
    assert len(marks._marks) == before


def test_wrong_settings_say_what_is_wrong(tmp_path: Any) -> None:
    lossy, plugin = thinwire.dask.lossy, thinwire.dask.ThinwirePlugin
    with pytest.raises(ValueError, match="for floats: this array is of int64"):
        lossy(make("integers"), abs=1e-3)
    with pytest.raises(ValueError, match="takes one of codec, abs, rel and rate, not 2"):
        lossy(make("f4"), abs=1e-3, rate=8)
    with pytest.raises(TypeError, match="not float"):
        lossy(3.5, abs=1e-3)
    with pytest.raises(thinwire.ThinwireError):
        lossy(make("f4"), "zfp:rate=none")
    with pytest.raises(ValueError, match="decodes on GPUs only"):
        lossy(make("f4"), "nvcomp-bitcomp-lossy:abs=1e-3")
    with pytest.raises(ValueError, match=r"lossy codecs are named an array at a time"):
        plugin("zfp:rate=8")
    policy = tmp_path / "policy.toml"
    policy.write_text('[[rule]]\ncodec = "szp:abs=1e-3"\n')
    with pytest.raises(ValueError, match=r"lossy codecs are named an array at a time"):
        plugin(policy=policy)
    with pytest.raises(thinwire.ThinwireError):
        plugin("no-codec")
    with pytest.raises(ValueError, match="link is a rate above 0"):
        plugin(link=0.0)


def test_a_policy_names_codecs_by_type(tmp_path: Any) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('[[rule]]\ndtype = "f64"\ncodec = "off"\n[[rule]]\ncodec = "ndzip"\n')
    plugin = thinwire.dask.ThinwirePlugin(policy=policy, force=True, min_bytes=1)
    setting.hold("test", plugin._setting)
    try:
        assert not is_compressed(sent(make("f8"))[0])
        header, (frame,) = sent(make("f4"))
        assert thinwire.inspect(frame).spec == "ndzip"
    finally:
        setting.let_go("test")


def test_damage_is_an_error(forced: None) -> None:
    x = make("f4")
    header, (frame,) = sent(x)
    for at in (0, 30, len(frame) // 2, len(frame) - 1):
        damaged = bytearray(frame)
        damaged[at] ^= 0x10
        with pytest.raises(DamagedFrame):
            deserialize(header, [damaged])
    with pytest.raises(DamagedFrame):
        deserialize(header, [bytearray(frame[:-8])])
    own = header["sub-header"]
    for wrong in ({"shape": (7,)}, {handshake.KEY: 99}, {"kind": "other"}):
        with pytest.raises(DamagedFrame, match="a damaged array came"):
            deserialize(header | {"sub-header": own | wrong}, [bytearray(frame)])


def test_a_sound_frame_of_no_values(forced: None) -> None:
    """As no sender makes one."""
    header, _ = sent(make("f4"))
    frame = bytearray(thinwire.compress(np.empty(0, "f4"), "raw"))
    none = header | {"sub-header": header["sub-header"] | {"shape": (0,)}}
    assert deserialize(none, [frame]).shape == (0,)


def test_errors_travel() -> None:
    import pickle

    for kind in (thinwire.ThinwireError, DamagedFrame):
        error = pickle.loads(pickle.dumps(kind(5, "words")))
        assert type(error) is kind and (error.status, str(error)) == (5, "words")
    assert isinstance(error, OSError)


def test_the_plugin_travels() -> None:
    """And is made on workers as it was here, whatever their configuration says."""
    import pickle

    import dask.config

    plugin = thinwire.dask.ThinwirePlugin("ndzip", link="1gbit", min_bytes="1MiB")
    with dask.config.set({"thinwire.codec": "off", "thinwire.min-bytes": "5KiB"}):
        made = pickle.loads(pickle.dumps(plugin))
        assert made._setting == plugin._setting
        assert thinwire.dask.ThinwirePlugin()._setting.least == 5 << 10
    assert (made._setting.link, made._setting.least) == (125e6, 1 << 20)


# torch tensors, by the torch of `make torch`.

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
VENV = Path(os.environ.get("THINWIRE_TEST_TORCH", ROOT / "build" / "torch-venv"))


@pytest.mark.skipif(
    not (VENV / ".ready").exists(), reason=f"no torch in {VENV}: `make torch` installs it"
)
def test_tensors_on_the_way() -> None:
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    if not (VENV / "lib" / version).is_dir():
        pytest.skip("the torch of tests is another Python's")
    # Its own packages, and after them those of this environment, among which is Dask.
    code = (
        f"import sys; sys.path.append({sysconfig.get_path('purelib')!r}); "
        f"exec(open({str(HERE / 'torch_checks.py')!r}).read())"
    )
    paths = os.pathsep.join([str(ROOT / "python"), str(HERE)])
    done = subprocess.run(
        [VENV / "bin" / "python", "-c", code],
        env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout == "ok\n", done.stdout + done.stderr
