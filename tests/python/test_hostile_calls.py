"""Calls and commands that are given what they cannot take: an error that they document, in one
line on the command line, and nothing left half-way."""

import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import thinwire
from thinwire import files
from thinwire.costs import Costs, find_here
from thinwire.library import parse_link_rate, parse_size
from thinwire.plan import PlanSettings, plan_collective, plan_message

CORPUS = Path(__file__).parents[1] / "fuzz" / "corpus"
COMMAND = [sys.executable, "-m", "thinwire"]


def _policy() -> thinwire.Policy:
    return thinwire.Policy(text='[[rule]]\ncodec = "off"\n')


def _run(*words: str | Path, **options: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*COMMAND, *map(str, words)], capture_output=True, text=True, **options)  # type: ignore[call-overload,no-any-return]


def test_a_frame_that_claims_more_than_it_holds_is_damaged(tmp_path: Path) -> None:
    frame = (CORPUS / "frame" / "claims_32gib").read_bytes()
    with pytest.raises(thinwire.ThinwireError, match="too short for its chunk table"):
        thinwire.inspect(frame)
    with pytest.raises(thinwire.ThinwireError, match="too short for its chunk table"):
        thinwire.decompress(frame)
    (tmp_path / "a.tw").write_bytes(frame)
    for words in (
        ["decode", tmp_path / "a.tw", tmp_path / "a.f32"],
        ["inspect", tmp_path / "a.tw"],
    ):
        done = _run(*words)
        assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr
    assert not (tmp_path / "a.f32").exists()


@pytest.mark.parametrize("error", [MemoryError, ValueError])
def test_no_memory_for_a_claim_is_an_error_of_thinwire(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    frame = thinwire.compress(np.zeros(100, np.float32), "mpc")

    def refuse(*_: object) -> None:
        raise error("no room")

    monkeypatch.setattr(np, "empty", refuse)
    with pytest.raises(thinwire.ThinwireError, match="400 bytes that the frame claims"):
        thinwire.decompress(frame)


@pytest.mark.parametrize(
    "call",
    [
        lambda: thinwire.Codec("mpc\0x"),
        lambda: thinwire.Policy("policy\0.toml"),
        lambda: thinwire.Policy(text="[[rule]]\0"),
        lambda: _policy().match("send", "f32", 1, communicator="a\0b"),
        lambda: thinwire.allow_decoding("zfp\0"),
        lambda: Costs("costs\0"),
        lambda: Costs(text="\0"),
        lambda: parse_size("64KiB\0"),
        lambda: parse_link_rate("1gbit\0"),
    ],
)
def test_texts_with_a_nul_are_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match="NUL"):
        call()


@pytest.mark.parametrize("link", [float("nan"), float("inf"), -1.0])
def test_a_link_that_is_no_rate_is_refused(link: float) -> None:
    with pytest.raises(thinwire.ThinwireError, match="rate"):
        thinwire.local_ranks(1, link=link)


def test_what_cannot_be_written_whole_is_not_there(tmp_path: Path) -> None:
    data = np.arange(100_000, dtype=np.float32)
    data.tofile(tmp_path / "a.f32")
    assert _run("encode", tmp_path / "a.f32", tmp_path / "a.tw", "--codec", "mpc").returncode == 0

    def with_little_room() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))

    for words in (
        ["decode", tmp_path / "a.tw", tmp_path / "out"],
        ["encode", tmp_path / "a.f32", tmp_path / "out", "--codec", "raw"],
    ):
        done = _run(*words, preexec_fn=with_little_room)
        assert done.returncode == 1, done.stderr
        said = f"thinwire: error: [Errno 27] File too large: '{tmp_path / 'out'}'\n"
        assert done.stderr == said
        assert not (tmp_path / "out").exists()
    done = _run("decode", tmp_path / "a.tw", "/dev/full")
    assert "No space left on device: '/dev/full'" in done.stderr
    assert Path("/dev/full").exists()


def test_what_is_interrupted_while_written_is_not_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "out"
    files.write(path, bytes(3 << 20))
    assert path.stat().st_size == 3 << 20

    def interrupt(_data: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.memoryview", interrupt)
    with pytest.raises(KeyboardInterrupt):
        files.write(path, b"data")
    assert not path.exists()


def test_a_file_that_may_not_be_written_to_stays(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"another's")

    def refuse(self: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(PermissionError, match="out"):
        files.write(path, b"data")
    monkeypatch.undo()
    assert path.read_bytes() == b"another's"


def test_a_folder_that_is_gone_is_named(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    done = subprocess.run(
        ["sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh", *COMMAND, "lab", "run", "--", "true"],
        cwd=gone,
        capture_output=True,
        text=True,
    )
    if done.returncode == 69:
        pytest.skip(done.stderr)
    assert done.returncode != 0 and "Traceback" not in done.stderr, done.stderr
    assert "the current folder is gone" in done.stderr


@pytest.mark.multiproc
def test_an_interrupt_while_the_command_starts_is_no_traceback() -> None:
    for step in range(12):
        process = subprocess.Popen(
            [*COMMAND, "codecs"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        time.sleep(0.1 + 0.03 * step)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
        # Python's own start, until the entry point runs, is not Thinwire's.
        assert "Traceback" not in said or "thinwire/cli" not in said, said


def test_an_interrupt_ends_a_call_into_the_library(tmp_path: Path) -> None:
    """Python looks for it only after the call: here one that never ends."""
    np.zeros(10, np.float32).tofile(tmp_path / "a.f32")
    program = (
        "import ctypes\n"
        "from thinwire import message\n"
        "libc, lock = ctypes.CDLL(None), ctypes.create_string_buffer(64)\n"
        "def wait(*_, **__):\n"
        "    print('waits', flush=True)\n"
        "    libc.pthread_mutex_lock(lock), libc.pthread_mutex_lock(lock)\n"
        "message.compress = wait\n"
        "from thinwire.start import main\n"
        "main()\n"
    )
    words = ["encode", str(tmp_path / "a.f32"), str(tmp_path / "out"), "--codec", "mpc"]
    process = subprocess.Popen(
        [sys.executable, "-c", program, *words], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "waits\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == -signal.SIGINT
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "table", ["| file | shape |\n| a.f32 |\n", "|\n|||\n", "| file | shape |\n| a.f32 | 4² |\n"]
)
def test_odd_tables_beside_data_are_passed_over(tmp_path: Path, table: str) -> None:
    np.arange(4, dtype=np.float32).tofile(tmp_path / "a.f32")
    (tmp_path / "README.md").write_text(table)
    done = _run("advise", tmp_path / "a.f32", "--link", "1gbit")
    assert "Traceback" not in done.stderr, done.stderr


HUGE = 1 << 70
_ARRAY = np.zeros(64, np.float32)


def _mpc() -> thinwire.Codec:
    return thinwire.Codec("mpc")


def _alone(**options: object) -> thinwire.Communicator:
    return thinwire.local_ranks(1, **options)[0]


OUT_OF_RANGE: dict[str, Callable[[int], object]] = {
    "root": lambda number: _alone().Bcast(_ARRAY, root=number),
    "ranks": thinwire.Transport.local,
    "threshold": lambda number: _alone(threshold=number),
    "piece": lambda number: _alone(piece=number),
    "references": lambda number: _alone(references=number),
    "nodes": lambda number: _alone(nodes=[number]),
    "count of a plan": lambda number: _alone().plan("bcast", number),
    "root of a plan": lambda number: _alone().plan("bcast", 1, root=number),
    "shape": lambda number: thinwire.compress(_ARRAY, "mpc", shape=(number, number)),
    "bytes of a policy": lambda number: _policy().match("send", "f32", number),
    "ranks of a policy": lambda number: _policy().match("send", "f32", 8, ranks=number),
    "bytes measured": lambda number: _mpc().measure(nbytes=number),
    "bytes of a cost": lambda number: find_here(_mpc(), "f32", number),
    "gpu": thinwire.pool_counters,
    "threshold of a plan": lambda number: plan_message(_mpc(), PlanSettings(number), "f32", 8),
    "bytes of a plan": lambda number: plan_message(_mpc(), PlanSettings(0), "f32", number),
    "nodes of a plan": lambda number: plan_collective(
        _mpc(), PlanSettings(0), "bcast", "f32", 8, ranks=2, nodes=number
    ),
}


@pytest.mark.parametrize("number", [HUGE, -HUGE])
@pytest.mark.parametrize("call", OUT_OF_RANGE)
def test_a_number_that_c_has_no_room_for_is_an_error(call: str, number: int) -> None:
    """It was an OverflowError, which is neither Thinwire's error nor a ValueError."""
    with pytest.raises((ValueError, thinwire.ThinwireError)):
        OUT_OF_RANGE[call](number)


@pytest.mark.parametrize(
    "call", ["threshold", "piece", "references", "count of a plan", "bytes of a policy", "ranks"]
)
def test_a_negative_size_is_an_error(call: str) -> None:
    with pytest.raises(ValueError, match="-1 is out of range"):
        OUT_OF_RANGE[call](-1)
