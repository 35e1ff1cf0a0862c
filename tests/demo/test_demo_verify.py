import numpy as np
import pytest
from demo_stand_ins import make_run

from thinwire.demo.verify import field_error, problems_of

REFERENCE = make_run("none", 1.0).field


def test_good_runs_have_no_problems():
    assert problems_of(make_run("none", 1.0), REFERENCE) == []
    assert problems_of(make_run("off", 1.0), REFERENCE) == []
    assert problems_of(make_run("zfp:rate=8", 1.0, noise=0.01), REFERENCE) == []


def test_shim_off_must_be_bit_identical():
    assert problems_of(make_run("off", 1.0, noise=1e-6), REFERENCE)
    negative_zero = make_run("off", 1.0)
    negative_zero.field[0, 0, 0] = -0.0  # equal as a number to the reference's 0, not as bits
    assert problems_of(negative_zero, REFERENCE)


@pytest.mark.parametrize(
    ("shim", "words"),
    [
        ({"decoded_messages": 19}, "20 messages were encoded but 19 decoded"),
        ({"compressed_messages": 0, "decoded_messages": 0}, "no message was compressed"),
        ({"bytes": 1}, "the shim saw 1 bytes"),
    ],
)
def test_counters_must_agree(shim, words):
    problems = problems_of(make_run("zfp:rate=16", 1.0, **shim), REFERENCE)
    assert any(words in problem for problem in problems)


def test_error_limit_depends_on_the_rate():
    assert problems_of(make_run("zfp:rate=16", 1.0, noise=0.1), REFERENCE)
    assert not problems_of(make_run("zfp:rate=8", 1.0, noise=0.1), REFERENCE)
    assert problems_of(make_run("zfp:rate=8", 1.0, noise=0.5), REFERENCE)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_not_finite_is_a_problem(value):
    run = make_run("zfp:rate=8", 1.0)
    run.field[1, 1, 1] = value
    assert "the field is not finite" in problems_of(run, REFERENCE)


def test_field_error_by_hand():
    error = field_error(np.float32([0, 2, -4]), np.float32([0, 2.5, -4]))
    assert (error.absolute, error.relative) == (0.5, 0.125)
