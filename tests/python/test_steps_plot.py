"""What steps took, in letters."""

from typing import Any

from thinwire.traces.steps_plot import COLUMNS, ROWS, plot


def steps(*points: tuple[int, float, int, float]) -> dict[str, Any]:
    """Of how many compressed steps of so many seconds, and raw ones, in each moment."""
    rows = [
        {
            "compressed": coded,
            "compressed_seconds": coded_seconds if coded else None,
            "raw": raw,
            "raw_seconds": raw_seconds if raw else None,
        }
        for coded, coded_seconds, raw, raw_seconds in points
    ]
    ways = {way: {"number": sum(row[way] or 0 for row in rows)} for way in ("compressed", "raw")}
    return {"rank": 3, "until": 60.0, "over_time": rows, **ways}


def letters(drawn: list[str]) -> list[str]:
    """The rows from the highest on, without title, labels and the axis of time."""
    return [line[10:] for line in drawn[1:-1]]


def test_slow_steps_are_high_and_fast_ones_low() -> None:
    drawn = plot(steps(*3 * [(0, 0, 5, 0.1)], *57 * [(5, 0.05, 0, 0)]))
    assert drawn[0] == "Its time on rank 3 from start to end: c compressed, r raw, * both"
    assert letters(drawn)[0] == "rrr" and letters(drawn)[ROWS // 2] == 3 * " " + 57 * "c"
    assert drawn[1].startswith("  100 ms |") and drawn[1 + ROWS // 2].startswith("   50 ms |")
    assert drawn[-2] == "       0 +" + 60 * "-" and drawn[-1].endswith(" 60 s")


def test_both_in_one_place_and_pauses_are_seen() -> None:
    drawn = letters(plot(steps((1, 0.1, 1, 0.1), (0, 0, 0, 0), (1, 0.1, 0, 0))))
    assert drawn[0] == 20 * "*" + 20 * " " + 20 * "c" and not any(drawn[1:-1])


def test_it_is_as_narrow_as_the_terminal() -> None:
    drawn = plot(steps(*40 * [(5, 0.1, 0, 0.0)], *20 * [(5, 0.001, 0, 0.0)]), 40)
    assert max(len(line) for line in drawn[1:]) == 40
    assert letters(drawn)[0] == 20 * "c" and letters(drawn)[ROWS] == 20 * "-" + 10 * "c"


def test_one_long_step_does_not_flatten_the_others() -> None:
    points = [(5, 0.1, 0, 0.0)] * 59
    drawn = plot(steps((1, 30.0, 0, 0.0), *points))
    assert drawn[0].endswith("c compressed, ^ above 200 ms")
    assert letters(drawn)[0] == "^" and letters(drawn)[ROWS // 2] == " " + 59 * "c"


def test_a_column_has_the_mean_of_all_its_steps() -> None:
    many = [(99, 0.1, 0, 0.0), (1, 0.8, 0, 0.0)] * COLUMNS
    drawn = letters(plot(steps(*many, *many)))
    # 107 ms of 200, not 450 of 500.
    assert drawn[ROWS - 4] == COLUMNS * "c"


def test_one_moment_is_no_plot() -> None:
    assert plot(steps((5, 0.1, 5, 0.2))) == []
    assert plot(steps((0, 0, 0, 0), (5, 0.1, 5, 0.2), (0, 0, 0, 0))) == []
