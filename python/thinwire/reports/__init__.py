"""Reports of jobs (THINWIRE_REPORT): read one by one, summed up, for who watches a cluster."""

from thinwire.reports.merge import Merged, merge
from thinwire.reports.read import NotAReport, read
from thinwire.reports.sums import Sums

__all__ = ["Merged", "NotAReport", "Sums", "merge", "read"]
