"""Whenever a command that starts processes or takes long is interrupted, it ends at once and leaves
nothing."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import made_traces
import numpy as np
import pytest
from lab_helpers import becomes_true, processes_of

import thinwire

pytestmark = [
    pytest.mark.alone,
    pytest.mark.multiproc,
    pytest.mark.usefixtures("permitted"),
]

COMMAND = [sys.executable, "-m", "thinwire"]
MOMENTS = 20
SECONDS_TO_END = 3.0
# In the environment of every process that a command starts, with a name of its own.
MARK = "INTERRUPTED_BY_TEST"
MIB = 1 << 20


@dataclass(frozen=True)
class Long:
    """A command that starts processes or takes long, until when it is interrupted, and the files
    that it may leave: what it was told to make, as far as it had come."""

    words: str
    last: float = 1.6  # a lab is up and its command runs, on a machine that has other work
    may_leave: tuple[str, ...] = ()


SLEEP = "sleep 31.7"
RANKS = "mpirun --oversubscribe -n 2"
LONG = {
    "lab run": Long(f"lab run -- {SLEEP}"),
    "lab run, every host": Long(f"lab run --every-host -- {SLEEP}"),
    "lab run, measured": Long("lab run --link 10mbit --measure -- true", 2.4),
    "lab run, MPI": Long(f"lab run -- mpirun -n 2 {SLEEP}", 2.4),
    "lab up": Long("lab up --name interrupted"),
    "exec": Long(f"exec -- {SLEEP}"),
    "run": Long(f"run -- {SLEEP}"),
    "run, MPI": Long(f"run -- {RANKS} {SLEEP}", 2.4),
    "capture": Long(f"capture -- {RANKS} {SLEEP}", 2.4, ("capture",)),
    "bench p2p": Long("bench p2p --link 10mbit", 2.4),
    "bench p2p, loopback": Long("bench p2p --loopback", 2.4),
    "bench collective": Long("bench collective --link 10mbit --hosts 3", 2.4),
    "bench collective, loopback": Long("bench collective --loopback --ranks 2 --size 64MiB", 2.4),
    "bench nccl": Long("bench nccl --link 1gbit", 2.4),
    "bench raw": Long("bench raw --link 100mbit", 2.4),
    "bench overhead": Long("bench overhead", 2.4),
    "bench codec": Long("bench codec", 2.4),
    "bench ratio": Long("bench ratio", 2.4),
    "demo": Long("demo --quick", 2.4, ("build",)),
    "tune": Long("tune", 2.4),
    "encode": Long("encode large.f32 out --codec zfp:rate=16", 2.0, ("out",)),
    "decode": Long("decode large.tw out", 2.0, ("out",)),
    "inspect": Long("inspect large.tw", 1.0),
    "advise": Long("advise large.f32 --link 1gbit", 2.4),
    "explain": Long("explain --bytes 16MiB --link 1gbit --codec auto --data large.f32", 2.0),
    "report": Long("report job", 2.4, ("report.html",)),
}


def _marked(mark: str) -> list[str]:
    """The processes that a command has started and that have not ended, in any namespace; those
    on a lab's other hosts end with its process."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return [words for words in found if words]


def _interrupted(words: str, moment: float, folder: Path, mark: str) -> tuple[float, str]:
    """How long the command takes to end after an interrupt of its group, and what it says."""
    environment = {
        **os.environ,
        "TMPDIR": str(folder / "scratch"),
        "XDG_CACHE_HOME": str(folder / "scratch"),
        MARK: mark,
    }
    process = subprocess.Popen(
        [*COMMAND, *words.split()],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        env=environment,
        cwd=folder / "work",
    )
    time.sleep(moment)
    with suppress(ProcessLookupError):  # it may have done all it had to do
        os.killpg(process.pid, signal.SIGINT)
    start = time.monotonic()
    try:
        said, _ = process.communicate(timeout=15)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said, _ = process.communicate()
    return time.monotonic() - start, said


# A frame in a file of the package; a package that is installed in place names its files in others.
OURS = re.compile(
    r'File "[^"]*thinwire/(bench/|cli/|lab/|launch/|demo/|traces/|capture|message)', re.M
)


def _is_ours(traceback: str) -> bool:
    return OURS.search(traceback) is not None


def _check(long: Long, moments: list[float], state: Path, folder: Path) -> None:
    kept = {each.name for each in (folder / "work").iterdir()}
    for moment in moments:
        mark = uuid.uuid4().hex
        seconds, said = _interrupted(long.words, moment, folder, mark)
        at = f"interrupted after {moment:.2f} s"
        assert seconds < SECONDS_TO_END, f"{at}: {said}"
        # Python's own start, until the entry point runs, may end in a traceback.
        assert "Traceback" not in said or not _is_ours(said), f"{at}: {said}"
        if long.words.startswith("lab up"):  # it may have been up already
            down = [*COMMAND, "lab", "down", "--name", "interrupted"]
            subprocess.run(down, capture_output=True, timeout=60)
        assert becomes_true(lambda mark=mark: not _marked(mark)), f"{at}: {_marked(mark)}"
        assert becomes_true(lambda: not processes_of(state)), at
        left = {each.name for each in (state / "thinwire-lab").glob("*")}
        assert not left - {"inside", "lock"}, f"{at}: {left}"
        assert not list((folder / "scratch").iterdir()), at
        made = {each.name for each in (folder / "work").iterdir()} - kept
        assert not made - set(long.may_leave), f"{at}: {made}"
        for name in made:
            subprocess.run(["rm", "-r", folder / "work" / name], check=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the commands run: large files for them, and a folder for temporary ones."""
    made = tmp_path_factory.mktemp("commands")
    (made / "scratch").mkdir()
    work = made / "work"
    work.mkdir()
    values = np.sin(1e-3 * np.arange(64 * MIB // 4)).astype(np.float32)
    values.tofile(work / "large.f32")
    (work / "large.tw").write_bytes(thinwire.compress(values, "zfp:rate=16"))
    for rank in range(4):
        lines = made_traces.rank_lines(rank, 4, "node", bins=3000)
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (work / f"job.rank{rank}").write_text(text)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_nothing_stays_at_any_of_twenty_moments(name: str, own_state: Path, folder: Path) -> None:
    last = LONG[name].last
    _check(LONG[name], [last * (at + 1) / MOMENTS for at in range(MOMENTS)], own_state, folder)


def test_a_lab_that_starts_is_interrupted(own_state: Path, folder: Path) -> None:
    _check(LONG["lab run"], [0.7, 0.9, 1.0, 1.1, 1.2], own_state, folder)


@pytest.mark.parametrize("name", ["bench collective", "capture", "encode", "report"])
def test_a_command_that_works_is_interrupted(name: str, own_state: Path, folder: Path) -> None:
    _check(LONG[name], [0.6, 1.0, 1.6], own_state, folder)


def test_an_owner_that_is_interrupted_does_not_wait_for_its_process(
    own_state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from thinwire.lab import Lab, connection

    def interrupted(_self: connection.Connection) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(connection.Connection, "_receive", interrupted)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt), Lab(hosts=1, link="none"):
        pass
    assert time.monotonic() - start < SECONDS_TO_END
    assert becomes_true(lambda: not processes_of(own_state))
