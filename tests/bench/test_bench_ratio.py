"""The committed ratios hold, and what does not is named."""

import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import numpy as np
import pytest

from thinwire.bench import ratios, samples
from thinwire.bench.ratios import Ratio
from thinwire.bench.samples import Sample
from thinwire.bench.steps import Step
from thinwire.codec import Codec

DATA = os.environ.get(samples.DATA_FOLDER)  # before the folder's own settings are cleared


def quiet_steps(total: int) -> AbstractContextManager[Step]:
    return nullcontext(lambda words: nullcontext())


def measure(arrays) -> list[Ratio]:
    codecs = ratios.codecs_here(lambda why: None)
    return list(ratios.measure(codecs, arrays, quiet_steps))


def committed() -> list[Ratio]:
    path = ratios.find_csv(None)
    assert path is not None
    return ratios.read(path)


def test_ratios_of_generated_data_are_those_committed() -> None:
    assert ratios.differences(committed(), measure(ratios.generated())) == []


def test_ratios_of_files_are_those_committed(monkeypatch: pytest.MonkeyPatch) -> None:
    if not DATA:
        pytest.skip(f"${samples.DATA_FOLDER} names no folder of files")
    monkeypatch.setenv(samples.DATA_FOLDER, DATA)
    names = {row.data for row in committed()}
    found = [sample for sample in ratios.files(lambda why: None) if sample.name in names]
    if not found:
        pytest.skip(f"none of the committed files is in {DATA}")
    assert ratios.differences(committed(), measure(found)) == []


ROW = Ratio("a", "x", "f32", "4", "2.0000")
LOSSY = Ratio("b", "x", "f32", "4", "9.0000", error_over_bound="0.9")


def test_a_changed_ratio_or_error_is_named() -> None:
    before = [ROW, LOSSY]
    assert ratios.differences(before, before) == []
    assert ratios.differences(before, [replace(ROW, ratio="2.0005"), LOSSY]) == []
    (words,) = ratios.differences(before, [replace(ROW, ratio="1.9980"), LOSSY])
    assert words == "a x f32 4: ratio is 1.9980, committed 2.0000"
    (words,) = ratios.differences(before, [ROW, replace(LOSSY, error_over_bound="")])
    assert words == "b x f32 4: error_over_bound is none, committed 0.9"


def test_lines_that_come_and_go_are_named_unless_they_are_not_at_hand() -> None:
    other_shape = replace(ROW, shape="2x2")
    assert ratios.differences([ROW], [ROW, other_shape]) == ["a x f32 2x2: not committed"]
    assert ratios.differences([ROW, other_shape], [ROW]) == ["a x f32 2x2: no longer measured"]
    elsewhere = [replace(ROW, data="file.f32"), replace(ROW, codec="c:k=1")]
    assert ratios.differences([ROW, *elsewhere], [ROW]) == []
    assert set(ratios.merged([other_shape, *elsewhere], [ROW])) == {ROW, *elsewhere}


def test_the_file_keeps_what_is_written(tmp_path) -> None:
    path = tmp_path / "ratio.csv"
    path.write_text(ratios.as_csv([ROW, LOSSY]))
    assert ratios.read(path) == [ROW, LOSSY]
    assert path.read_text().splitlines()[0].startswith("codec,data,dtype,shape,ratio,")


def test_the_command_writes_and_checks(bench, small_cubes, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(ratios, "_LINE_BYTES", 1 << 14)
    words = ("ratio", "--file", str(tmp_path / "ratio.csv"))
    assert bench(*words, "--write").exit_code == 0
    assert bench(*words, "--check").exit_code == 0
    text = (tmp_path / "ratio.csv").read_text()
    (tmp_path / "ratio.csv").write_text(text.replace("7.9", "9.9"))
    done = bench(*words, "--check")
    assert done.exit_code == 1 and "ratio is 7.9" in done.stdout
    assert bench(*words, "--check", "--write").exit_code == 2


def test_a_codec_that_breaks_its_word_has_no_ratio(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = Sample("x", "f32", np.ones(4096, np.float32))
    monkeypatch.setattr(
        ratios.FrameBuffers, "decode_afresh", lambda self: np.zeros(4 * 4096, np.uint8)
    )
    (row,) = list(ratios.measure([Codec("mpc")], [sample], quiet_steps))
    assert row.ratio == ratios.FAILED
    assert "mpc:stride=1 on x: what came back" in capsys.readouterr().err
