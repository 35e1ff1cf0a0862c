"""A job's sums for Prometheus: by another's parser, which the format's own makers keep."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from made_reports import REASON, mpi_report, nccl_operation, nccl_report
from test_reports import merged, thinwire, write

from thinwire import files
from thinwire.reports import metrics

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "report.md"

Samples = dict[tuple[str, ...], float]


def parsed(text: str) -> dict[str, Any]:
    """Families by name; lines with the same name and labels are a fault."""
    parser = pytest.importorskip("prometheus_client.parser")
    found = list(parser.text_string_to_metric_families(text))
    lines = [(s.name, *sorted(s.labels.items())) for family in found for s in family.samples]
    assert len(lines) == len(set(lines)) == text.count("\n") - 2 * len(found)
    return {family.name: family for family in found}


def samples(family: Any) -> Samples:
    """Figures by the values of the labels that are not those of all."""
    return {
        tuple(v for k, v in each.labels.items() if k not in metrics.OF_ALL): each.value
        for each in family.samples
    }


def test_a_parser_reads_what_reports_say(tmp_path: Path) -> None:
    paths = [write(tmp_path / "a", mpi_report()), write(tmp_path / "b", nccl_report(0))]
    found = parsed(metrics.text(merged(*paths)))
    assert samples(found["thinwire_job_calls"]) == {
        ("mpi", "send"): 30,
        ("mpi", "collectives"): 5,
        ("nccl", "AllReduce"): 20,
        ("nccl", "Send"): 8,
    }
    assert samples(found["thinwire_job_raw_calls"])["nccl", "AllReduce", REASON] == 10
    assert samples(found["thinwire_job_sent_bytes"])["mpi", "send"] == 1600000
    assert samples(found["thinwire_job_saved_seconds"])["collectives",] == -0.125
    assert samples(found["thinwire_job_reports"]) == {(): 2}
    assert found["thinwire_job_calls"].type == "counter"
    assert found["thinwire_job_saved_seconds"].type == "gauge"
    for family in found.values():
        assert family.documentation.endswith(".") and family.samples
        assert {each.labels["job_id"] for each in family.samples} == {"job"}


def test_names_are_as_prometheus_wants_them() -> None:
    """Units are whole words at the end; counters, and they alone, end in total; none is a metric
    of THINWIRE_METRICS, whose text of help would be another."""
    names = [metrics.PREFIX + each.name for each in metrics.METRICS]
    assert len(names) == len(set(names))
    of_ranks = (ROOT / "shim" / "common" / "trace" / "metrics.cpp").read_text()
    assert "calls_total" in of_ranks and metrics.PREFIX not in of_ranks
    for each in metrics.METRICS:
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", each.name)
        assert (each.kind == "counter") == each.name.endswith("_total")
        assert not re.search(r"(?:milli|micro|nano)seconds|kb|mib|_ms\b", each.name)


def test_labels_are_escaped(tmp_path: Path) -> None:
    reason = 'it said "no", \\n and {a="b"} 3'
    made = mpi_report(codec='x"y\\', raw_by_reason={reason: 7})
    found = merged(write(tmp_path / "a", made))
    found.job = 'a\nb"c\\'
    (sample,) = [
        each
        for each in parsed(metrics.text(found))["thinwire_job_raw_calls"].samples
        if each.labels["operation"] == "send"
    ]
    assert sample.value == 7
    assert sample.labels == {
        "job_id": 'a\nb"c\\',
        "codec": 'x"y\\',
        "library": "mpi",
        "operation": "send",
        "reason": reason,
    }


def test_series_are_bounded_whatever_a_report_has(tmp_path: Path) -> None:
    many = nccl_report(0, 1)
    many["communicators"][0]["operations"] = {
        f"Operation{number}": {
            **nccl_operation(2),
            "raw_by_reason": {f"reason {number} {reason}": 1 for reason in range(100)},
        }
        for number in range(200)
    }
    reasons = {f"reason {number}": 1 for number in range(5000)}
    mpi = mpi_report(raw_by_reason=reasons)
    paths = [write(tmp_path / "a", many), write(tmp_path / "b", mpi)]
    text = metrics.text(merged(*paths))
    series = [line for line in text.splitlines() if not line.startswith("#")]
    assert metrics.MOST_SERIES / 2 < len(series) <= metrics.MOST_SERIES
    found = samples(parsed(text)["thinwire_job_raw_calls"])
    assert sum(value for (library, *_), value in found.items() if library == "nccl") == 20000


def test_the_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    """Whoever has the old one open reads it to its end; no draft is left, nor one that the
    collector would read."""
    out, job = tmp_path / "thinwire.prom", write(tmp_path / "job.json", mpi_report())
    out.write_text("old")
    with out.open() as held:
        done = thinwire(job, "--prometheus", out, "--job", "17")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert held.read() == "old"
    assert 'thinwire_job_reports{job_id="17",codec="zfp:rate=16"} 1\n' in out.read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["job.json", "thinwire.prom"]


def test_a_file_that_cannot_be_replaced_stays(tmp_path: Path, monkeypatch: Any) -> None:
    out = tmp_path / "a.prom"
    out.write_text("old")
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "full")))
    with pytest.raises(OSError, match="a.prom"):
        files.replace(out, b"new")
    assert out.read_text() == "old" and list(tmp_path.iterdir()) == [out]
    with pytest.raises(OSError, match="no file that may be replaced"):
        files.replace(Path("/dev/null"), b"new")


def test_a_reader_never_sees_half_a_file(tmp_path: Path) -> None:
    out = tmp_path / "a.prom"
    texts = {letter * 200_000 for letter in ("a", "b")}
    out.write_text("a" * 200_000)
    writing = (
        "import sys; from pathlib import Path; from thinwire import files\n"
        "for at in range(200): files.replace(Path(sys.argv[1]), b'ab'[at % 2:][:1] * 200_000)"
    )
    with subprocess.Popen([sys.executable, "-c", writing, str(out)]) as writer:
        reads = 0
        while writer.poll() is None:
            assert out.read_text() in texts
            reads += 1
    assert writer.returncode == 0 and reads > 10


def test_the_page_has_the_table_of_metrics() -> None:
    """The list in the code is the page's: paste what this prints."""
    assert metrics.table() in PAGE.read_text(), metrics.table()
