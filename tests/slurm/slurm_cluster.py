"""A Slurm cluster of four nodes on this machine, of Debian's packages, for one run of tests.

Each node is a slurmd of its own on 127.0.0.1. All that it writes lies in one folder, and it ends
with the tests. It needs root, as slurmd does.
"""

import os
import re
import secrets
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from socket import create_server, gethostname

NODES = ("n1", "n2", "n3", "n4")
CORES = 4
PROGRAMS = ("slurmctld", "slurmd", "srun", "sbatch", "munged")

# Slurm's plugin for PMIx makes a folder for each step in TmpFS, which a node's others may not have.
CONFIGURATION = """\
ClusterName=thinwire
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
TmpFS={folder}/tmp.%n
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
JobRequeue=1
KillWait=2
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,batch_sched_delay=0,bf_interval=1
SlurmdParameters=config_overrides
TaskProlog={prolog}
EpilogSlurmctld={epilog}
{nodes}
PartitionName=all Nodes={names} Default=YES MaxTime=INFINITE State=UP
"""

# A TaskProlog, or an epilog, that changes nothing.
NO_PROLOG = "#!/bin/sh\n"


def why_not() -> str:
    """Why no cluster can be started here; empty if one can."""
    missing = [program for program in PROGRAMS if find(program) is None]
    if missing:
        return f"Slurm's {', '.join(missing)} is missing: apt install slurmd slurmctld munge"
    return "" if os.geteuid() == 0 else "slurmd needs root"


def find(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin")


def free_ports(count: int) -> list[int]:
    held = [create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    return ports


class Cluster:
    """`environment` is what its commands need; `prolog` and `epilog` are the TaskProlog and the
    EpilogSlurmctld, scripts to fill."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.prolog, self.epilog = folder / "prolog", folder / "epilog"
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf")}
        self._started: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        self.write_prolog(NO_PROLOG)
        self.write_epilog(NO_PROLOG)
        controller, *ports = free_ports(1 + len(NODES))
        host = gethostname().split(".")[0]
        nodes = [
            f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={CORES}"
            for name, port in zip(NODES, ports, strict=True)
        ]
        for name in ("state", *(f"{kind}.{node}" for kind in ("spool", "tmp") for node in NODES)):
            (self.folder / name).mkdir()
        text = CONFIGURATION.format(
            host=host,
            controller=controller,
            folder=self.folder,
            prolog=self.prolog,
            epilog=self.epilog,
            nodes="\n".join(nodes),
            names=",".join(NODES),
        )
        (self.folder / "slurm.conf").write_text(text)
        self._start_munge()
        self._start("slurmctld", "-D", "-c")
        for name in NODES:
            self._start("slurmd", "-D", "-N", name)
        self.wait_until(lambda: self.idle_nodes() == len(NODES), "the nodes are not idle")

    def _start_munge(self) -> None:
        key, socket = self.folder / "munge.key", self.folder / "munge.sock"
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o400)
        words = [
            f"--{kind}-file={self.folder / f'munge.{kind}'}" for kind in ("pid", "log", "seed")
        ]
        words += [f"--key-file={key}", f"--socket={socket}"]
        self._start("munged", "--foreground", "--force", *words)
        self.wait_until(socket.exists, "munged does not answer")

    def _start(self, program: str, *words: str) -> None:
        path = find(program)
        assert path is not None
        with (self.folder / f"{program}.said").open("ab") as said:
            self._started.append(
                subprocess.Popen(
                    [path, *words],
                    env={**os.environ, **self.environment},
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=said,
                )
            )

    def wait_until(self, holds: Callable[[], bool], otherwise: str, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                logs = "".join(path.read_text()[-2000:] for path in self.folder.glob("*.log"))
                raise RuntimeError(f"{otherwise}\n{logs}")
            time.sleep(0.1)

    def idle_nodes(self) -> int:
        done = self.run("sinfo", "-h", "-t", "idle", "-o", "%D")
        return int(done.stdout.strip() or 0) if done.returncode == 0 else 0

    def state_of(self, job: str) -> str:
        done = self.run("scontrol", "show", "job", job, "-o")
        found = re.search(r"JobState=(\w+)", done.stdout)
        return found[1] if found else ""

    def write_prolog(self, script: str) -> None:
        """Each task's `TaskProlog`; what it prints as `export NAME=value` gives a variable."""
        self.prolog.write_text(script)
        self.prolog.chmod(0o755)

    def write_epilog(self, script: str) -> None:
        """What the controller runs when a job has ended."""
        self.epilog.write_text(script)
        self.epilog.chmod(0o755)

    def run(
        self, *words: str, timeout: float = 120, variables: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        clean = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("THINWIRE_", "SLURM_", "OMPI_", "PMI", "LD_PRELOAD"))
        }
        return subprocess.run(
            words,
            env={**clean, **self.environment, **(variables or {})},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            cwd=self.folder,
        )

    def stop(self) -> None:
        for each in reversed(self._started):
            each.terminate()
        for each in self._started:
            try:
                each.wait(10)
            except subprocess.TimeoutExpired:
                each.kill()
                each.wait()


@contextmanager
def running(folder: Path) -> Iterator[Cluster]:
    folder.chmod(0o755)
    cluster = Cluster(folder)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
