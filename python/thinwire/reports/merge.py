"""The reports of a job, summed up file by file: only the sums are kept."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from thinwire.reports.read import NotAReport, read
from thinwire.reports.sums import Sums


@dataclass
class Merged:
    """Sums of the reports that could be read."""

    job: str
    sums: Sums = field(default_factory=Sums)
    reports: int = 0
    left_out: int = 0  # files that are damaged, or no reports
    ended: float = 0  # when the last was written, in seconds since 1970

    def as_dict(self) -> dict[str, Any]:
        sums = asdict(self.sums)
        for name, library in self.sums.libraries():
            raw: dict[str, dict[str, int]] = {}
            for (operation, reason), calls in library.raw.items():
                raw.setdefault(operation, {})[reason] = calls
            sums[name]["raw"] = raw
        about = {"job": self.job, "reports": self.reports, "left_out": self.left_out}
        return {**about, "ended": self.ended, **sums}


def merge(paths: Iterable[Path], job: str, say: Callable[[str], None]) -> Merged:
    """`say` is told of each file that is left out. A file that is named twice counts once."""
    merged = Merged(job)
    for path in dict.fromkeys(paths):
        try:
            sums, written = read(path)
        except NotAReport as error:
            say(str(error))
            merged.left_out += 1
            continue
        merged.sums.add(sums)
        merged.reports += 1
        merged.ended = max(merged.ended, written)
    return merged
