"""Stand-ins for data sets: the same bytes each time, near what is published of the real ones."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from thinwire.reproduce import run
from thinwire.reproduce.stand_ins import STAND_INS, generate
from thinwire.reproduce.traits import traits_of, write_file

DIGESTS = {
    "msg_sppm": "ef991ee24313c81e",
    "msg_sweep3d": "8aba1b0d4fa35cc0",
    "num_plasma": "b02d57cb3d27ba7a",
    "obs_spitzer": "e71bc35ce81eb22f",
}


@pytest.mark.parametrize("name", STAND_INS)
def test_a_stand_in_has_the_same_bytes_each_time(name: str) -> None:
    first = generate(name, "f64")
    assert first.tobytes() == generate(name, "f64").tobytes()
    assert hashlib.sha256(first.tobytes()).hexdigest()[:16] == DIGESTS[name]
    assert np.isfinite(first).all()
    single = generate(name, "f32")
    assert single.dtype == np.float32 and np.array_equal(single, first.astype(np.float32))


@pytest.mark.parametrize("name", [name for name, each in STAND_INS.items() if each.unique])
def test_unique_values_are_about_the_published_share(name: str) -> None:
    traits = traits_of(name, "f32")
    assert traits.published_unique == STAND_INS[name].unique
    assert traits.unique == pytest.approx(traits.published_unique, rel=0.06)
    assert 0.7 < traits.mpc / traits.published_mpc < 1.3


def test_traits_are_those_of_the_values(tmp_path: Path) -> None:
    traits, values = traits_of("num_plasma", "f32"), generate("num_plasma", "f32")
    assert traits.values == values.size
    assert traits.unique == round(100 * len(set(values.tolist())) / values.size, 2)
    assert 0 < traits.entropy < np.log2(len(set(values.tolist()))) + 0.01
    assert write_file("num_plasma.f32", tmp_path).read_bytes() == values.tobytes()


@pytest.mark.parametrize("name", ["msg_sppm.f16", "msg_none.f32", "msg_sppm", "../msg_sppm.f32"])
def test_what_is_no_stand_in_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no stand-in"):
        write_file(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_command_gets_the_stand_ins_that_it_names() -> None:
    said = run.run("size", "wc -c @stand-in/num_plasma.f32", 60, as_json=False)
    assert said.code == 0
    assert run.words_of("x @stand-in/a.f32", "/there") == ["x", "/there/a.f32"]
