import io
import json
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from demo_stand_ins import make_run
from rich.console import Console

import thinwire
from thinwire.demo import engine, links, runs
from thinwire.demo.picture import draw, panels
from thinwire.demo.report import write_report
from thinwire.demo.table import build_table, heading, legend, notes, print_rows
from thinwire.demo.verify import field_error
from thinwire.lab import LabUnavailable

SECONDS = {
    "none": [10.0, 10.5],
    "off": [10.25, 10.0],
    "lossless": [9.5, 9.0],
    "zfp:rate=16": [8.0, 9.0],
}


class SlowLink(links.Loopback):
    name = "100mbit"

    def raw_rate(self):
        return 150_000.0

    def facts(self):
        return {"burst_bytes": 65_536, "drops": 0}


def run_engine(monkeypatch, rate8_seconds=12.5, link=None, **shim):
    left = {codec: list(values) for codec, values in SECONDS.items()}
    left["zfp:rate=8"] = [rate8_seconds, rate8_seconds]

    def stand_in(link, codec, size, wave, scratch, device):
        lossy = {"noise": 1e-4, **shim} if codec.startswith("zfp") else {}
        return make_run(codec, left[codec].pop(0), **lossy)

    monkeypatch.setattr(engine, "run_wave", stand_in)
    session = engine.Session(
        wave=Path("wave"),
        size=runs.QUICK,
        repeats=2,
        progress=lambda words: nullcontext(),
    )
    return engine.run_all(session, [link or SlowLink()])


def text_of(rows):
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(build_table(rows), *notes(rows), sep="\n", soft_wrap=True)
    return console.export_text()


def test_rows_hold_the_fastest_repeat_and_the_model(monkeypatch):
    none, off, _, rate16, rate8 = run_engine(monkeypatch).rows
    assert (none.speedup, off.speedup, rate16.speedup, rate8.speedup) == (1, 1, 1.25, 0.8)
    assert (none.ratio, off.ratio, rate16.ratio, rate8.ratio) == (1, 1, 2, 4)
    # A fifth of the fastest run of all is arithmetic.
    assert {row.speedup_limit for row in (none, off, rate16, rate8)} == {10 / (8.0 - 0.8 * 8.0)}
    assert none.link_share == pytest.approx(1)
    assert all(row.verified for row in (none, off, rate16, rate8))


def test_report_schema(monkeypatch, tmp_path):
    write_report(run_engine(monkeypatch).rows, tmp_path / "deep" / "report.json")
    report = json.loads((tmp_path / "deep" / "report.json").read_text())
    assert [row["codec"] for row in report] == ["none", "off", *runs.CODECS]
    numbers = (
        "seconds raw_seconds speedup speedup_limit ratio max_error relative_error bytes "
        "wire_bytes comm_seconds raw_link_rate link_share speedup_without_bursts burst_bytes drops"
    )
    for row in report:
        assert row["link"] == "100mbit" and row["verified"] is True
        assert all(isinstance(row[name], int | float) for name in numbers.split())


def test_table_calls_a_loss_a_loss(monkeypatch):
    lines = text_of(run_engine(monkeypatch).rows).splitlines()
    loss, words = [line for line in lines if line.strip().startswith("zfp:rate=8")]
    (gain,) = [line for line in lines if line.strip().startswith("zfp:rate=16")]
    assert "LOSS 0.80" in loss and "zfp:rate=8 loses: 25.0% slower than native" in words
    assert "1.25" in gain and "LOSS" not in gain


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_terminal_of_any_width_shows_every_figure(monkeypatch, width):
    rows = run_engine(monkeypatch).rows
    console = Console(width=width, force_terminal=True, color_system=None, file=io.StringIO())
    print_rows(console, rows)
    said = console.file.getvalue()
    assert "…" not in said and max(map(len, said.splitlines())) <= width
    for figure in ("LOSS 0.80", "12.50", "1.25", "10.00", "0.0001"):
        assert figure in said


def test_a_run_that_is_not_verified_shows_no_number(monkeypatch):
    rows = run_engine(monkeypatch, decoded_messages=7).rows
    assert [row.verified for row in rows] == [True, True, True, False, False]
    lines = [line for line in text_of(rows).splitlines() if "zfp:rate=16" in line]
    assert "8.00" not in lines[0] and "1.25" not in lines[0]
    assert "NOT VERIFIED: 20 messages were encoded but 7 decoded" in lines[1]


def test_dropped_packets_void_the_link(monkeypatch):
    class Dropping(SlowLink):
        def facts(self):
            return {"burst_bytes": 65_536, "drops": 3}

    rows = run_engine(monkeypatch, link=Dropping()).rows
    assert not any(row.verified for row in rows)


def test_notes_state_rate_and_bursts(monkeypatch):
    rate, bursts = [note.plain for note in notes(run_engine(monkeypatch, 9.0).rows)]
    assert "1 Mbit/s" in rate and "explain 100% of the raw run's" in rate
    # 10 messages of 65536 bytes at 150 kB/s are 4.37 s more.
    assert "65536 bytes, 0 packets" in bursts and "0.81 for zfp:rate=16" in bursts


def test_a_busy_machine_is_said_to_be(monkeypatch):
    monkeypatch.setitem(SECONDS, "none", [10.0, 13.0])
    plain = [note.plain for note in notes(run_engine(monkeypatch).rows)]
    assert any("differ by up to 30%" in note for note in plain)


def test_no_speedup_passes_its_limit(monkeypatch):
    rows = run_engine(monkeypatch, 2.0).rows
    assert all(row.speedup <= row.speedup_limit for row in rows)


def test_a_stranger_is_told_what_runs_and_what_the_columns_are(monkeypatch):
    session = engine.Session(Path("wave"), runs.FULL, 2, lambda words: nullcontext())
    assert "256 x 256 x 64 points, 70 time steps" in heading(session)
    assert "1.0 MB each way" in heading(session)
    said = "\n".join(legend(session))
    table = build_table(run_engine(monkeypatch).rows)
    names = [str(cell) for cell in table.columns[0].cells]
    headings = [str(column.header) for column in table.columns[1:] if " " in str(column.header)]
    for word in (*names, "at most", "error", "seconds", "speed-up"):
        assert word in said
    assert headings == ["MB raw", "MB sent", "at most"] and "fastest of 2 runs" in said
    assert max(map(len, legend(session))) <= 80


def test_loopback_is_not_called_a_link(monkeypatch):
    (note,) = [note.plain for note in notes(run_engine(monkeypatch, 9.0, links.Loopback()).rows)]
    assert "No slow link here" in note


def test_a_link_that_explains_little_is_said_to(monkeypatch):
    class Fast(SlowLink):
        def raw_rate(self):
            return 600_000.0

    said = [note.plain for note in notes(run_engine(monkeypatch, link=Fast()).rows)]
    assert any("waiting for the other host" in note for note in said)


def test_picture_is_drawn_also_where_nothing_is_verified(monkeypatch, tmp_path):
    for shim in ({}, {"decoded_messages": 7}):
        outcome = run_engine(monkeypatch, **shim)
        draw(outcome.rows, outcome.fields, tmp_path / "report.png")
        data = (tmp_path / "report.png").read_bytes()
        assert data.startswith(b"\x89PNG") and len(data) > 20_000


@pytest.mark.multiproc
@pytest.mark.parametrize("size", [runs.FULL, runs.QUICK], ids=["full", "quick"])
def test_the_picture_shows_the_wave(wave, loopback, size, tmp_path):
    """Both signs, many shades, and a part of the slice that is not background."""
    field = runs.run_wave(loopback, "none", size, wave, tmp_path).field
    # The half that the other host sends at the end.
    lossy = field.copy()
    sent = lossy[size.nz // 2 :]
    frame = thinwire.compress(sent.ravel(), "zfp:rate=8")
    sent[:] = thinwire.decompress(frame).reshape(sent.shape)
    raw, coded, error = panels({"none": field, "zfp:rate=8": lossy})
    for panel, seen in ((raw, 0.05), (coded, 0.05), (error, 0.01)):
        shown = np.clip(panel.values / panel.limit, -1, 1)
        assert shown.min() < -0.5 and shown.max() > 0.5
        assert np.mean(np.abs(shown) > 0.1) > seen
        assert len(np.unique(np.round(127 * shown))) > 100
    # In units of the field's largest value, as the table's errors are.
    assert 0.1 < np.abs(raw.values).max() <= 1
    assert np.abs(error.values).max() == pytest.approx(field_error(field, lossy).relative)


def test_without_a_lab_the_loopback_serves_once(monkeypatch):
    class NoLab:
        def __init__(self, **settings):
            pass

        def __enter__(self):
            raise LabUnavailable("no namespaces")

        def __exit__(self, *error):
            return None

    monkeypatch.setattr(links, "Lab", NoLab)
    told = []
    found = list(links.each_link(links.RATES, told.append))
    assert [link.name for link in found] == ["loopback"] and found[0].same_node
    assert len(told) == 1 and "no namespaces" in told[0]


def test_shim_commands(monkeypatch, tmp_path):
    monkeypatch.setattr(runs, "thinwire_command", lambda: ["thinwire"])
    report = tmp_path / "r.json"
    assert runs.shim_command("none", report, same_node=True) == ([], {})
    words, environment = runs.shim_command("off", report, same_node=False)
    assert environment == {"THINWIRE_DISABLE": "1"} and words[-1] == "--"
    words, environment = runs.shim_command("zfp:rate=8", report, same_node=True)
    expected = ["thinwire", "run", "--codec", "zfp:rate=8", "--report", str(report)]
    assert words == [*expected, "--same-node", "--"] and environment == {}
