"""`thinwire report`: merged figures, the page, and what a browser makes of it."""

import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from made_traces import made_steps, rank_lines, write_job

from thinwire import traces
from thinwire.traces.advice import ADVICE, plain
from thinwire.traces.merge import Merged
from thinwire.traces.page import page

ROOT = Path(__file__).parents[2]
STEPS = "A step of 9 calls took 30 ms compressed (64) and 50 ms raw (15), in the median."
VOID = {"meta", "link", "path", "br", "rect"}


def thinwire(*words: str | Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "thinwire", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True)


def merged(job: Path) -> Merged:
    return traces.merge(traces.read_all([job], pytest.fail), [])


class Balance(HTMLParser):
    """Fails where an element is closed that is not open; notes what is named elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            assert name not in ("src", "onclick"), value
            assert name != "href" or value == "data:,", value

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_is_whole_and_needs_nothing_else(tmp_path: Path) -> None:
    made = page(merged(write_job(tmp_path, 4, 2)), "job <1>")
    parser = Balance()
    parser.feed(made)
    assert parser.open == [] and {"svg", "table", "style"} <= set(parser.seen)
    assert "script" not in parser.seen and "b" in parser.seen
    assert not re.search(r"https?://|url\(|@import", made)
    assert "job <1>" in parser.text and "a <b>long</b> name & more" in parser.text
    for title in ("What stayed raw, and why", "Who sends to whom", "Prediction and fact"):
        assert title in parser.text
    assert "Try another codec" in parser.text  # the advice on what the codec declined


def test_figures_of_all_ranks(tmp_path: Path) -> None:
    done = thinwire("report", write_job(tmp_path, 4, 2), "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["totals"]["compressed_messages"] == 80
    assert found["totals"]["collectives"]["native_by_reason"] == {
        "datatype not taken by the codec": 12
    }
    assert found["job"]["ranks"] == 4 and len(found["job"]["nodes"]) == 2
    assert found["matrix"]["of"] == "ranks" and len(found["matrix"]["pairs"]) == 8
    kinds = {(kind["operation"], kind["raw"]): kind for kind in found["kinds"]}
    assert kinds["send", None]["calls"] == 4 * 12 * 20
    assert kinds["send", None]["times"] == {"19": 4 * 12 * 18, "20": 4 * 12 * 2}
    steps = found["over_time"]
    assert sum(step["collective_bytes"] for step in steps) == pytest.approx(4 * 12 * 500000)
    assert max(step["pool_bytes"] for step in steps) == 4 << 20
    assert {rank["pool_bytes_at_most"] for rank in found["ranks"]} == {3 << 20}
    assert kinds["send", None]["predictions"] == {"19": 4 * 12 * 20}


def test_time_saved(tmp_path: Path) -> None:
    found = merged(write_job(tmp_path, 4, 2))
    assert found.saved["messages"] == pytest.approx(
        {"raw_seconds": 48 * 0.12, "seconds": 48 * 0.081, "saved_seconds": 48 * 0.039}
    )
    assert found.saved["collectives"]["saved_seconds"] == pytest.approx(48 * 0.15)
    kinds = {(kind["operation"], kind["raw"]): kind for kind in found.kinds}
    assert kinds["send", None]["saved_nanoseconds"] == 48 * 40_000_000
    # Encoding what was then declined costs time.
    assert kinds["send", "data declined by the codec"]["saved_nanoseconds"] == 48 * -1_000_000
    steps = sum(step["saved_nanoseconds"] for step in found.over_time)
    assert steps == pytest.approx(48 * 189_000_000)
    assert sum(rank["saved_seconds"] for rank in found.ranks) == pytest.approx(48 * 0.189)
    made = page(found, "job")
    assert "1.87 s (33%)" in made and "less for messages, as predicted and not timed" in made
    assert "7.2 s (38%)" in made and "of time saved in collectives, as timed both ways" in made
    assert "1.92 s (44%)" in made and "-48 ms (-3%)" in made  # by kind
    assert "Seconds saved by collectives, and predicted of messages, all ranks, so far" in made


def test_steps_compressed_and_raw(tmp_path: Path) -> None:
    found = merged(write_job(tmp_path, 2, 1)).steps
    assert found is not None and (found["rank"], found["calls"]) == (0, 9)
    assert found["raw"] == pytest.approx({"number": 15, "seconds": 0.75, "median_seconds": 0.05})
    assert found["compressed"]["number"] == 64
    drawn = [(point["compressed_seconds"], point["raw_seconds"]) for point in found["over_time"]]
    assert sum(point["compressed"] for point in found["over_time"]) == 64
    assert [each is not None for each, _ in drawn] == 4 * [False] + 8 * [True]
    assert [raw for _, raw in drawn] == [None, *3 * [pytest.approx(0.05)], *8 * [None]]
    made = page(merged(tmp_path / "job"), "job")
    assert STEPS in made and 'aria-label="Seconds a step"' in made


def test_a_pause_in_one_step_moves_no_median(tmp_path: Path) -> None:
    lines = [*rank_lines(0, 1, "node")]
    slow = next(line for line in lines if line.get("from") == 2.0)
    slow["steps"] = made_steps(9, 1, 0, 60_000)
    path = tmp_path / "job.rank0"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = merged(path).steps
    assert found is not None
    assert found["compressed"]["median_seconds"] == pytest.approx(0.03)
    most = max(point["compressed_seconds"] or 0 for point in found["over_time"])
    assert most == pytest.approx(60)


def test_traces_without_steps_have_no_part_of_them(tmp_path: Path) -> None:
    path = tmp_path / "job.rank0"
    lines = [
        {name: value for name, value in line.items() if name != "steps"}
        for line in rank_lines(0, 1, "node")
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert merged(path).steps is None
    assert "a step" not in page(merged(path), "job").lower()
    done = thinwire("report", path, "-o", tmp_path / "out.html")
    assert done.stdout == f"{tmp_path / 'out.html'}\n"


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        ([], "steps has no fields"),
        ({"calls": 9}, "compressed is missing"),
        ({**made_steps(9, 1, 0, 1), "calls": 0}, "a step has no calls"),
        (made_steps(9, 0, 0, 0), "no step has ended"),
        ({**made_steps(9, 1, 0, 1), "raw_nanoseconds": 1}, "time of raw steps"),
        ({**made_steps(9, 1, 0, 1), "raw": -1}, "raw is no number"),
        ({**made_steps(9, 1, 0, 1), "compressed": 1e300}, "compressed is no number"),
    ],
)
def test_steps_that_cannot_be_are_refused_in_words(steps: Any, says: str, tmp_path: Path) -> None:
    lines = rank_lines(0, 1, "node")
    next(line for line in lines if "from" in line)["steps"] = steps
    path = tmp_path / "job.rank0"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(traces.NotATrace, match=f"{path}:6: this is no line of a trace: {says}"):
        merged(path)


def test_many_ranks_are_shown_by_node(tmp_path: Path) -> None:
    found = merged(write_job(tmp_path, 96, 12))
    assert found.matrix["of"] == "nodes" and len(found.matrix["names"]) == 12
    between = {(pair[0], pair[1]): pair[2] for pair in found.matrix["pairs"]}
    assert sum(between.values()) == 96 * 12 * 30
    # The last of eight ranks sends 30 to the next node, the one before 10 of its 30.
    assert between[0, 1] == 12 * 40 and between[11, 0] == 12 * 40


def test_a_page_is_written_where_it_is_asked_for(tmp_path: Path) -> None:
    job, out = write_job(tmp_path, 2, 1), tmp_path / "out.html"
    done = thinwire("report", job, "-o", out)
    assert done.returncode == 0, done.stderr
    said, *drawn, name = done.stdout.splitlines()
    assert (said, name) == (STEPS, str(out))
    assert drawn[1] == "   50 ms |" + 5 * " " + 15 * "r"
    assert drawn[4] == " " * 9 + "|" + 20 * " " + 40 * "c"
    assert len(drawn) == 11 and all(len(line) <= 72 for line in drawn)
    assert out.read_text().startswith("<!DOCTYPE html>")


def test_what_is_wrong_is_named_with_file_and_line(tmp_path: Path) -> None:
    job = write_job(tmp_path, 2, 1)
    first = tmp_path / "job.rank0"
    whole = first.read_text()
    first.write_text(whole[:-40])
    done = thinwire("report", job, "-o", tmp_path / "out.html")
    assert done.returncode == 0
    assert f"{first}:18: the line ends in the middle" in done.stderr
    assert "has no last line" in done.stderr
    first.write_text(whole.replace('"thinwire_trace": 2', '"thinwire_trace": 3'))
    done = thinwire("report", job, "-o", tmp_path / "out.html")
    assert done.returncode == 1
    assert f"thinwire: error: {first}:1: a trace of version 3" in done.stderr
    first.unlink()
    done = thinwire("report", job, "--json")
    assert "1 of 2 ranks have no trace here" in done.stderr and done.returncode == 0


def test_advice_is_that_of_the_page() -> None:
    rows = (ROOT / "docs" / "reference" / "report.md").read_text().split("| reason |")[1]
    said = {}
    for line in rows.split("\n\n")[0].splitlines()[2:]:
        names, text = line.strip("| ").split(" | ", 1)
        for name in re.findall(r"`([^`]+)`", names):
            said[name] = plain(text)
    of_mpi = {name: text for name, text in said.items() if not text.startswith("NCCL only")}
    assert of_mpi == ADVICE


MEASURE = """<!DOCTYPE html><body><iframe src="page.html" style="width:%dpx;height:900px;border:0">
</iframe><pre id=found></pre><script>
onload = () => {
  const page = document.querySelector("iframe").contentDocument;
  const wide = [...page.querySelectorAll("body *")].filter(each => !each.closest(".wide table") &&
    each.getBoundingClientRect().right > %d + 0.5).map(each => each.tagName + each.className);
  document.getElementById("found").textContent = JSON.stringify(
    {width: page.documentElement.scrollWidth, wide, sections: page.querySelectorAll("h2").length});
};
</script></body>"""


@pytest.mark.slow
@pytest.mark.parametrize("width", [320, 390, 1200])
@pytest.mark.parametrize(("ranks", "nodes"), [(4, 2), (64, 8), (256, 32)])
def test_a_browser_shows_it_at_the_width_of_a_phone(
    ranks: int, nodes: int, width: int, tmp_path: Path
) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium here: apt-get install chromium")
    (tmp_path / "page.html").write_text(page(merged(write_job(tmp_path, ranks, nodes)), "job"))
    (tmp_path / "frame.html").write_text(MEASURE % (width, width))
    done = subprocess.run(
        [
            chromium,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--allow-file-access-from-files",
            "--enable-logging=stderr",
            "--window-size=1300,1000",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--dump-dom",
            (tmp_path / "frame.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "CONSOLE" not in done.stderr, done.stderr
    found = json.loads(re.search(r'<pre id="found">(.*?)</pre>', done.stdout)[1])
    assert found["sections"] >= 8
    assert found["wide"] == [] and found["width"] <= width
