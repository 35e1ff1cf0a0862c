"""Jobs of a Slurm cluster: what each way to start ranks compresses, compared with mpirun's.

The cluster is this machine's (slurm_cluster.py), with Debian's Slurm; a node is a slurmd.
"""

import json
import os
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from slurm_cluster import NO_PROLOG, Cluster, running, why_not

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "shim"))

from mpis import ALL, SYSTEM, Mpi  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.multiproc]

if why_not():
    pytest.skip(why_not(), allow_module_level=True)

RANKS, ROUNDS = 4, 3
# Each rank sends as many messages as there are rounds, all to other nodes.
MESSAGES = RANKS * ROUNDS
PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "clusters.md"
THINWIRE = [sys.executable, "-m", "thinwire"]
SPREAD = ["-N4", f"-n{RANKS}"]
OPTIONS = ["--codec", "lossless", "--link", "1gbit", "--force"]

# The protocol that srun is asked for. Open MPI has PMIx alone; MPICH and Intel MPI, as built here,
# speak PMI-1 to the server of --mpi=pmi2.
SERVED = {"openmpi": "pmix", "mpich": "pmi2", "abi": "pmi2"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running(tmp_path_factory.mktemp("slurm")) as started:
        yield started


@dataclass
class Job:
    code: int
    output: str
    errors: str
    report: dict

    def expect_all_compressed(self) -> None:
        assert self.code == 0, self.output + self.errors
        assert self.output.count("difference 0\n") == RANKS, self.output
        assert self.report["compressed_messages"] == MESSAGES, self.report
        assert self.report["decoded_messages"] == MESSAGES


def exchange(mpi: Mpi) -> list[str]:
    return [str(mpi.programs / "shim_exchange"), str(1 << 20), str(ROUNDS)]


def job(cluster: Cluster, *words: str, variables: dict[str, str] | None = None) -> Job:
    report = cluster.folder / "report.json"
    report.unlink(missing_ok=True)
    given = {"THINWIRE_REPORT": str(report), **(variables or {})}
    done = cluster.run(*words, variables=given)
    found = json.loads(report.read_text()) if report.exists() else {}
    return Job(done.returncode, done.stdout, done.stderr, found)


def run_by_thinwire(cluster: Cluster, *words: str, **variables: str) -> Job:
    return job(cluster, *THINWIRE, "run", *OPTIONS, "--", *words, variables=variables)


@pytest.mark.parametrize("mpi", ALL, ids=lambda mpi: mpi.name)
def test_srun_starts_ranks_that_know_each_other(cluster: Cluster, mpi: Mpi) -> None:
    served = f"--mpi={SERVED[mpi.abi]}"
    done = run_by_thinwire(cluster, "srun", served, *SPREAD, *exchange(mpi))
    done.expect_all_compressed()
    assert "thinwire: warning" not in done.errors


@pytest.mark.parametrize("mpi", [mpi for mpi in ALL if mpi.abi != "openmpi"], ids=lambda m: m.name)
def test_a_program_is_as_without_the_library_where_nobody_is_known(
    cluster: Cluster, mpi: Mpi
) -> None:
    """Under --mpi=none each rank is a job of its own."""
    words = ["srun", "--mpi=none", *SPREAD, *exchange(mpi)]
    natively = cluster.run(*words)
    done = run_by_thinwire(cluster, *words)
    assert done.code == natively.returncode
    assert sorted(done.output.splitlines()) == sorted(natively.stdout.splitlines())


SCRIPT = """\
#!/bin/bash
#SBATCH -N4 -n4 -o {output}
{command}
"""


@pytest.mark.parametrize("launcher", ["srun --mpi=pmix", f"mpirun -n {RANKS}"])
def test_batch_scripts(cluster: Cluster, launcher: str) -> None:
    options, output = " ".join(OPTIONS), cluster.folder / "batch.out"
    run = f"{' '.join(THINWIRE)} run {options} -- {launcher} {' '.join(exchange(SYSTEM))}"
    script = cluster.folder / "job.sh"
    script.write_text(SCRIPT.format(output=output, command=run))
    allow = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = job(cluster, "sbatch", "--wait", str(script), variables=allow)
    done.output = output.read_text()
    done.expect_all_compressed()


def test_jobs_of_several_parts(cluster: Cluster) -> None:
    one = ["--mpi=pmix", "-N1", "-n1", *exchange(SYSTEM)]
    done = run_by_thinwire(cluster, "srun", *one, ":", "-N3", "-n3", *exchange(SYSTEM))
    done.expect_all_compressed()


@pytest.mark.parametrize("exported", ["NONE", "HOME", "ALL,OTHER=1"])
def test_srun_exports_what_it_is_told(cluster: Cluster, exported: str) -> None:
    words = ["srun", f"--export={exported}", "--mpi=pmix", *SPREAD, *exchange(SYSTEM)]
    run_by_thinwire(cluster, *words).expect_all_compressed()


def test_ranks_that_start_themselves(cluster: Cluster) -> None:
    words = [*THINWIRE, "exec", *OPTIONS, "--", *exchange(SYSTEM)]
    job(cluster, "srun", "--mpi=pmix", *SPREAD, *words).expect_all_compressed()


def shown_after(words: str) -> str:
    """The example of the page that follows these words."""
    _, found, rest = PAGE.read_text().partition(words)
    assert found, f"{PAGE} no longer has: {words}"
    return rest.split("```", 2)[1].partition("\n")[2]


def with_paths(script: str, paths: dict[str, Path]) -> str:
    for shown, here in paths.items():
        assert shown in script, f"{shown} is not in the page's example:\n{script}"
        script = script.replace(shown, str(here))
    return script


def test_a_site_turns_it_on_for_every_job(cluster: Cluster) -> None:
    """By the page's TaskProlog and file of settings, with paths of this machine: the user types
    what he always does."""
    settings = cluster.folder / "site.conf"
    # Nothing is known here to pay, and a user would name the codec.
    more = "THINWIRE_CODEC = lossless\nTHINWIRE_FORCE = 1\n"
    settings.write_text(shown_after("`site.conf` has the settings") + more)
    paths = {
        "/opt/thinwire/lib/libthinwire_mpi_openmpi4.so": SYSTEM.production,
        "/opt/thinwire/site.conf": settings,
    }
    cluster.write_prolog(with_paths(shown_after("if Slurm's TaskProlog loads"), paths))
    try:
        done = job(cluster, "srun", "--mpi=pmix", *SPREAD, *exchange(SYSTEM))
        done.expect_all_compressed()
        user = job(
            cluster,
            *("srun", "--mpi=pmix", *SPREAD, *exchange(SYSTEM)),
            variables={"THINWIRE_CODEC": "off"},
        )
        assert user.report["compressed_messages"] == 0
    finally:
        cluster.write_prolog(NO_PROLOG)


# `thinwire`, whose log is another's socket: the controller starts it with next to no environment.
REPORTING = """\
#!/bin/sh
PYTHONPATH={path} exec {python} -c '
from pathlib import Path
from thinwire.reports import line
line.SOCKET = Path("{log}")
from thinwire.start import main
main()' "$@"
"""


def test_a_site_sees_what_jobs_did(cluster: Cluster) -> None:
    """By the page's TaskProlog and epilog: a job's line is in the log and its sums in a file."""
    shared, out = cluster.folder / "shared", cluster.folder / "textfiles"
    shared.mkdir()
    out.mkdir()
    log, program = cluster.folder / "log", cluster.folder / "thinwire"
    path = os.environ.get("PYTHONPATH", "")
    program.write_text(REPORTING.format(python=sys.executable, path=path, log=log))
    program.chmod(0o755)
    paths = {
        "/shared/thinwire": shared,
        "/opt/thinwire/bin/thinwire": program,
        "/var/lib/node_exporter": out,
    }
    script = shown_after("`EpilogSlurmctld` (in `slurm.conf`)")
    cluster.write_epilog(with_paths(script, paths))
    report = shown_after("Let the TaskProlog name")
    cluster.write_prolog(NO_PROLOG + with_paths(report, {"/shared/thinwire": shared}))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as daemon:
        daemon.bind(str(log))
        daemon.settimeout(60)
        try:
            command = [*THINWIRE, "run", *OPTIONS, "--", "srun", "--mpi=pmix", *SPREAD]
            done = cluster.run(*command, *exchange(SYSTEM))
            assert done.returncode == 0, done.stderr
            line = daemon.recv(4096).decode()
        finally:
            cluster.write_prolog(NO_PROLOG)
            cluster.write_epilog(NO_PROLOG)
    (written,) = shared.iterdir()
    job = written.name.split(".")[0]
    begins = f"<14>thinwire: job={job} reports=1 left_out=0 codec=lossless calls="
    assert line.startswith(begins) and f" compressed_calls={MESSAGES} " in line, line
    (metrics,) = out.iterdir()
    assert metrics.name == f"thinwire-{job}.prom"
    assert f'thinwire_job_reports{{job_id="{job}",codec="lossless"}} 1\n' in metrics.read_text()


def test_a_rank_that_is_killed_ends_the_step_as_without_us(cluster: Cluster) -> None:
    script = cluster.folder / "killed.sh"
    script.write_text(
        '#!/bin/sh\n[ "$SLURM_PROCID" = 1 ] && (sleep 2; kill -9 $$) >/dev/null 2>&1 &\nexec "$@"\n'
    )
    script.chmod(0o755)
    long = [exchange(SYSTEM)[0], str(1 << 20), "1000000"]
    words = ["srun", "--mpi=pmix", *SPREAD, str(script), *long]
    natively = cluster.run(*words)
    done = run_by_thinwire(cluster, *words)
    assert natively.returncode != 0
    assert done.code == natively.returncode, done.errors


def test_a_job_that_is_requeued_runs_again(cluster: Cluster) -> None:
    """Each run is a job of its own to the ranks: nothing of the first is left for the second."""
    mark, output = cluster.folder / "first", cluster.folder / "requeued.out"
    options = " ".join(OPTIONS)
    run = f"{' '.join(THINWIRE)} run {options} -- srun --mpi=pmix {' '.join(exchange(SYSTEM))}"
    again = f"if mkdir {mark}; then scontrol requeue $SLURM_JOB_ID; sleep 60; fi"
    script = cluster.folder / "requeue.sh"
    script.write_text(SCRIPT.format(output=output, command=f"{run}\n{again}"))
    report = cluster.folder / "report.json"
    report.unlink(missing_ok=True)
    variables = {"THINWIRE_REPORT": str(report)}
    started = cluster.run("sbatch", "--parsable", "--requeue", str(script), variables=variables)
    number = started.stdout.strip()
    # A requeued job waits two minutes for its turn, unless it is told not to.
    cluster.wait_until(lambda: mark.exists(), "the first run does not end")
    report.unlink()
    cluster.wait_until(lambda: cluster.state_of(number) == "PENDING", "it is not requeued")
    cluster.run("scontrol", "update", f"jobid={number}", "StartTime=now")
    cluster.wait_until(lambda: cluster.state_of(number) == "COMPLETED", "it does not end", 180)
    found = json.loads(report.read_text())
    assert found["compressed_messages"] == MESSAGES
