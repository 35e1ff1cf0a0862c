"""Policies and tables of costs that anybody may have written, by way of Python: in one line what is
wrong, with the file's name, or objects whose every figure can be asked for."""

import math
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from changed import limit, seeds

import thinwire
from thinwire.costs import Costs, machine

POLICY = """# of a job
[[rule]]
name = "gradients"
operation = ["allreduce", "send"]
communicator = "dp*"
dtype = ["f32", "f64"]
size-from = "64KiB"
size-below = 16777216
ranks-from = 2
ranks-below = 9
span = "between-nodes"
codec = "szp:abs=1e-4"

[[rule]]
holds = "bf16"
codec = 'blockq:bits=8'

[[rule]]
codec = "off"
"""
HEAD = f"thinwire-costs 1\nmachine: {machine()}\nversion: {thinwire.version()}\n"
ROWS = (
    "mpc:stride=1 f32 1048576 host 1.5e9 2e9 1.5\n"
    "zfp:rate=8 f64 65536 host 1e10 1e3 7.99\n"
    "szp:abs=1e-4 f32 4194304 host 9e8 1.25e9 12\n"
)
TABLE = f"{HEAD}{ROWS}end 3\n"
WORDS = [
    "nan", "inf", "-inf", "NaN", "1e999", "-1", "0", "-0", "1e-320", "0x10", "1_0", "9" * 400,
    "18446744073709551615", "18446744073709551616", "64GiB", "1e3KiB", '"', "'", "[", "]", "=",
    "[[rule]]\n", "\n", "\r", "\t", "#", "\\", "\x7f", "²", "é", "\ud800", "*", "?" * 50, "../",
    "codec", '"auto"', '"lossless"', '"zfp:rate=nan"', '"szp:abs=inf"', '"szp:rel=-1"', "true", "",
    "end 3\n", "host", "gpu", "f32", "bytes", "2", "65536", "1e9", "1.25", "17", "3.5e10", "f64",
]  # fmt: skip


def _changed(text: str, seed: int) -> str:
    """The text with a word or a line of it changed, once to four times."""
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 4)):
        way = chance.randrange(4)
        if way == 0 and text:
            at = chance.randrange(len(text))
            text = text[:at] + chance.choice(WORDS) + text[at + chance.randrange(4) :]
        elif way == 1:
            lines = text.splitlines(keepends=True)
            at = chance.randrange(len(lines)) if lines else 0
            lines[at : at + chance.randrange(2)] = chance.choices(lines or [""])
            text = "".join(lines)
        else:
            words = text.split(" ")
            words[chance.randrange(len(words))] = chance.choice(WORDS)
            text = " ".join(words)
    return text


def _is_policy(path: Path) -> bool:
    """Whether it is one, having been asked for all that it says."""
    try:
        policy = thinwire.Policy(path)
    except thinwire.ThinwireError as error:
        assert str(path) in str(error) and "\n" not in str(error)
        return False
    rules = policy.rules
    for nbytes in (0, 1, 65536, 1 << 40, 2**64 - 1):
        found = policy.match("send", "f32", nbytes, communicator="dp0", ranks=4)
        assert found is None or found in rules
    return bool(rules) and policy.hash >= 0


def _is_table(path: Path) -> bool:
    try:
        table = Costs(path)
    except thinwire.ThinwireError as error:
        assert str(path) in str(error) and "\n" not in str(error)
        return False
    figures = [row.cost for row in table.rows]
    found = table.find(thinwire.Codec("mpc"), "f32", 1 << 20)
    for cost in [*figures, *([found] if found else [])]:
        for figure in (cost.encode_bytes_per_second, cost.decode_bytes_per_second, cost.ratio):
            assert math.isfinite(figure) and figure > 0
    return True


@pytest.mark.parametrize(
    ("text", "is_sound"), [(POLICY, _is_policy), (TABLE, _is_table)], ids=["policies", "tables"]
)
def test_changed_texts_are_taken_or_refused(
    request: pytest.FixtureRequest, text: str, is_sound, tmp_path: Path
) -> None:
    path = tmp_path / "text"
    path.write_text(text)
    assert is_sound(path)
    outcomes = {True: 0, False: 0}
    for seed in seeds(request.node.callspec.id):
        path.write_text(_changed(text, seed), errors="surrogatepass")
        try:
            with limit(3):
                outcomes[is_sound(path)] += 1
        except BaseException as error:
            raise AssertionError(f"seed {seed}: {error!r}") from error
    assert min(outcomes.values()) > sum(outcomes.values()) / 200


NO_NUMBERS = ["nan", "-nan", "inf", "-inf", "infinity", "1e999", "-1", "0", "-0.0", "", "one"]


def _rows_with(word: str) -> Iterator[str]:
    row = ["mpc:stride=1", "f32", "1048576", "host", "1.5e9", "2e9", "1.5"]
    for at in (2, 4, 5, 6):
        yield " ".join([*row[:at], word, *row[at + 1 :]])


@pytest.mark.parametrize("word", NO_NUMBERS)
def test_figures_of_tables_that_are_no_numbers_are_refused(word: str) -> None:
    for row in _rows_with(word):
        with pytest.raises(thinwire.ThinwireError, match="table:4"):
            Costs(text=f"{HEAD}{row}\nend 1\n")


@pytest.mark.parametrize("word", [*NO_NUMBERS[:7], "2x", "1e400KiB"])
@pytest.mark.parametrize("key", ["size-from", "size-below", "ranks-from", "ranks-below"])
def test_limits_of_rules_that_are_no_numbers_are_refused(key: str, word: str) -> None:
    for value in (word, f'"{word}"'):
        with pytest.raises(thinwire.ThinwireError, match="policy:"):
            thinwire.Policy(text=f"[[rule]]\n{key} = {value}\ncodec = 'off'\n")


@pytest.mark.parametrize("word", NO_NUMBERS)
@pytest.mark.parametrize("codec", ["szp:abs", "szp:rel", "zfp:rate"])
def test_bounds_of_codecs_in_rules_that_are_no_numbers_are_refused(codec: str, word: str) -> None:
    if (codec, word) in {("szp:abs", "0"), ("szp:abs", "-0.0")}:
        pytest.skip("0 is a bound: lossless")
    with pytest.raises(thinwire.ThinwireError, match="policy:"):
        thinwire.Policy(text=f"[[rule]]\ncodec = '{codec}={word}'\n")
