"""What a change of data costs where helpers share a link: prints what change_time.cpp finds.

change_lab.py HOSTS LINK RATE AHEAD [LIBRARY]: so many hosts of a lab, whose helpers have that link
(`1gbit`) and whose libnccl of host memory sends RATE bytes a second; hosts AHEAD calls ahead.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from test_nccl_shim import PROGRAMS, SHIM

from thinwire.lab import Lab

CHANGES_AT = 120


def main() -> None:
    hosts, link, rate, ahead = sys.argv[1:5]
    calls = CHANGES_AT + 60 + 2 * int(ahead)
    with Lab(hosts=int(hosts), link=link) as lab, tempfile.TemporaryDirectory() as folder:
        env = {
            "LD_PRELOAD": sys.argv[5] if len(sys.argv) > 5 else str(SHIM),
            "THINWIRE_CODEC": "lossless",
            "THINWIRE_FORCE": "1",
            "THINWIRE_REPORT": f"{folder}/report",
            "FAKE_NCCL_RATE": rate,
            "RANKS": hosts,
            "RANKS_FILE": f"{folder}/id",
        }
        words = [str(PROGRAMS / "nccl_change_time"), str(calls), str(CHANGES_AT), ahead]
        started = lab.popen_everywhere(words, env=env, stdout=subprocess.PIPE, text=True)
        found = json.loads([each.communicate(timeout=600)[0] for each in started][0])
        sent = [row for row in lab.counters() if row["interface"] == "tw0"]
        report = json.loads(Path(f"{folder}/report.nccl.rank0").read_text())
        gathers = report["communicators"][0]["operations"]["AllGather"]
        found["spilled"] = gathers["spilled_blocks"]
        found["helpers_sent_mb"] = [round(row["sent_bytes"] / 1e6, 1) for row in sent]
    print(json.dumps(found))


if __name__ == "__main__":
    main()
