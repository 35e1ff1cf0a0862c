"""The library across hosts: the lab's, which share nothing but a link."""

from pathlib import Path

import pytest
from shim_runs import EXCHANGE, Run, largest_differences, over_hosts, read_report

from thinwire.lab import Lab

pytestmark = pytest.mark.multiproc

# Every host is told: an unshaped link is faster than the codec.
ZFP = {"THINWIRE_CODEC": "zfp:rate=16", "THINWIRE_FORCE": "1"}
ROUNDS = 3
MIB = 1 << 20


def exchange(lab: Lab, ranks: int, report: Path, *options: str, forward: bool = True) -> Run:
    """Runs the exchange over the lab with the library on host 0 or on both."""
    done = over_hosts(lab, ranks, [EXCHANGE], ZFP, report, *options, forward=forward)
    assert done.code == 0, done.errors
    return done


def test_hosts_compress_to_each_other_by_default(lab: Lab, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = exchange(lab, 2, report, "--map-by", "node")
    assert done.errors == ""
    differences = largest_differences(done.output)
    assert all(0 < differences[rank] < 1e-3 for rank in range(2))
    written = read_report(report)
    assert written["compressed_messages"] == written["decoded_messages"] == 2 * ROUNDS


@pytest.mark.parametrize(("order", "inside"), [("slot", False), ("node", True)])
def test_ranks_of_one_host_stay_raw(lab: Lab, tmp_path: Path, order: str, inside: bool) -> None:
    """Four ranks in pairs (0, 2) and (1, 3): by slot across the hosts, by node inside them."""
    report = tmp_path / "report.json"
    done = exchange(lab, 4, report, "--map-by", order)
    why = "nothing was compressed: 12 messages (peer on the same node)"
    assert (why in done.errors) if inside else (done.errors == "")
    differences = largest_differences(done.output)
    written = read_report(report)
    messages = 4 * ROUNDS
    assert sorted(differences) == [0, 1, 2, 3]
    if inside:
        assert set(differences.values()) == {0.0}
        assert written["raw_by_reason"] == {"peer on the same node": messages}
    else:
        assert all(0 < difference < 1e-3 for difference in differences.values())
        assert written["compressed_messages"] == written["decoded_messages"] == messages
        assert written["raw_by_reason"] == {}


def test_a_host_without_the_library_gets_raw_data(lab: Lab, tmp_path: Path) -> None:
    """A login on another host does not pass on LD_PRELOAD, which the launcher alone has then."""
    done = exchange(lab, 2, tmp_path / "report.json", "--map-by", "node", forward=False)
    assert largest_differences(done.output) == {0: 0.0, 1: 0.0}
    (line,) = done.errors.splitlines()
    assert "does not run this Thinwire" in line
    assert read_report(tmp_path / "report.json.rank0")["compressed_messages"] == 0


def over(link: str, settings: dict[str, str], rounds: int, report: Path) -> dict:
    """The report of messages of a MiB that two hosts exchange, unforced."""
    program = [EXCHANGE, str(MIB), str(rounds)]
    unforced = {"THINWIRE_CODEC": "mpc", "THINWIRE_FORCE": "0", **settings}
    with Lab(hosts=2, link=link) as made:
        done = over_hosts(made, 2, program, unforced, report)
    assert done.code == 0, done.errors
    assert done.report is not None
    return done.report


@pytest.mark.usefixtures("lab")  # or it is skipped
def test_the_rate_is_known_soon_where_the_first_message_opens_the_connection(
    tmp_path: Path,
) -> None:
    rounds = 24
    # Each rank sends 24 messages, of which two or three fill a window.
    raw = over("1gbit", {}, rounds, tmp_path / "report.json")["raw_by_reason"]
    assert raw.get("the link's rate is not known", 0) <= rounds


@pytest.mark.usefixtures("lab")
def test_a_stated_rate_that_is_too_fast_is_corrected(tmp_path: Path) -> None:
    rounds = 40
    found = over("100mbit", {"THINWIRE_LINK": "100gbit"}, rounds, tmp_path / "report.json")
    assert found["raw_by_reason"]["would not gain"] > 0
    assert found["compressed_messages"] > rounds
