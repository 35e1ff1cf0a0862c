"""What benchmarks read of programs: half of it is a failed run, in words."""

from pathlib import Path

import pytest

from thinwire.bench.programs import RunError, read_report, result_lines


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"messages": 1}', '{"messages": NaN}'])
def test_half_a_report_is_a_failed_run(text: str, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(text)
    with pytest.raises(RunError, match=r"report\.json: this is no report of a job"):
        read_report(path)


def test_lines_that_are_no_results_are_passed_over() -> None:
    said = 'a word\n{"a": 1}\n{"a": \n{not json}\n{"b": 2}'
    assert result_lines(said) == [{"a": 1}, {"b": 2}]
