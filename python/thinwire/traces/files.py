"""The files of a job's ranks: which they are, and their traces one after the other."""

import glob
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from thinwire.traces.read import NotATrace, RankTrace, Warn, read, read_head

RANK = re.compile(r"\.rank\d+$")
NCCL = ".nccl"  # before the rank, in files of NCCL calls


def _ranks_of(path: Path) -> list[Path]:
    found = path.parent.glob(f"{glob.escape(path.name)}.rank*")
    return [each for each in found if RANK.search(each.name) and each.is_file()]


def files_of(paths: list[Path]) -> list[Path]:
    """The files that `paths` mean: each one, or if there is none of that name, its ranks'."""
    found: list[Path] = []
    for path in paths:
        if path.is_file():
            found.append(path)
            continue
        ranks = _ranks_of(path) or _ranks_of(path.with_name(path.name + NCCL))
        if not ranks:
            raise NotATrace(f"{path}: there is no such file, nor {path}.rank0")
        found += sorted(ranks, key=lambda each: int(each.name.rsplit("rank", 1)[1]))
    return found


@dataclass
class Outline:
    """What the first lines of a job's files say."""

    ranks: int  # of the job; 0: no file says
    files: dict[int, Path]  # by rank, in order
    nodes: dict[int, str]  # by rank
    without: list[str]  # why other files have no such line


def outline(paths: list[Path]) -> Outline:
    """NotATrace if the files are not of one job."""
    by_rank: dict[int, Path] = {}
    nodes: dict[int, str] = {}
    without: list[str] = []
    ranks, first = 0, Path()
    for path in files_of(paths):
        try:
            head = read_head(path)
        except (NotATrace, OSError) as error:
            without.append(str(error))
            continue
        if not by_rank:
            ranks, first = head["ranks"], path
        if head["ranks"] != ranks:
            raise NotATrace(
                f"{path}:1: of a job of {head['ranks']} ranks, and {first} of one of {ranks}: "
                "they are not of one job"
            )
        rank = head["rank"]
        if rank in by_rank:
            raise NotATrace(f"{path}:1: rank {rank} is in {by_rank[rank]} already")
        by_rank[rank], nodes[rank] = path, head["node"]
    return Outline(ranks, dict(sorted(by_rank.items())), nodes, without)


def _read_as_outlined(job: Outline, rank: int, warn: Warn) -> RankTrace:
    """NotATrace also if the file is no longer that of the rank, as it would count as another's."""
    path = job.files[rank]
    trace = read(path, warn)
    head = trace.head
    if (head["rank"], head["ranks"], head["node"]) != (rank, job.ranks, job.nodes[rank]):
        raise NotATrace(
            f"{path}:1: it has changed since it was first read: it is no longer of rank {rank} of "
            f"{job.ranks}, or of the same node"
        )
    return trace


def each(job: Outline, warn: Warn, leave_out: Callable[[Exception], None]) -> Iterator[RankTrace]:
    """The ranks' traces, by rank. `leave_out` is told of a file that is damaged, and raises, or
    the others follow; of those without a first line in the end."""
    count = 0
    for rank in job.files:
        try:
            trace = _read_as_outlined(job, rank, warn)
        except (NotATrace, OSError) as error:
            leave_out(error)
            continue
        count += 1
        yield trace
    for why in job.without:
        leave_out(NotATrace(why))
    if count == 0:
        raise NotATrace("no trace could be read")
    if count < job.ranks:
        warn(f"{job.ranks - count} of {job.ranks} ranks have no trace here: they are left out")


def _refuse(error: Exception) -> None:
    raise error


def read_all(paths: list[Path], warn: Warn) -> list[RankTrace]:
    """The ranks' traces of one job, by rank. NotATrace if one is damaged, or if they are not of one
    job."""
    return list(each(outline(paths), warn, _refuse))
