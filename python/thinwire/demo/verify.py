"""Whether a run did what it claims: a number is shown as good only where nothing is found here."""

from dataclasses import dataclass

import numpy as np

from .runs import NO_SHIM, SHIM_OFF, Run

# Largest error allowed, relative to the largest magnitude of the field without the shim. With
# messages taken as 1-D arrays the codec itself gives 2.7e-4 and 7.2e-2 at the full size, 2.0e-4 and
# 5.5e-2 at the quick one; the limits leave a factor of three and more for another machine.
ERROR_LIMITS = {"lossless": 0.0, "zfp:rate=16": 1e-3, "zfp:rate=8": 0.25}


@dataclass(frozen=True)
class FieldError:
    """The largest error of a field: absolute, and relative to the reference's largest magnitude."""

    absolute: float
    relative: float


def field_error(reference: np.ndarray, field: np.ndarray) -> FieldError:
    """Not finite where either field is not."""
    if np.array_equal(reference.view(np.uint32), field.view(np.uint32)):
        return FieldError(0.0, 0.0)
    absolute = float(np.max(np.abs(field.astype(np.float64) - reference)))
    return FieldError(absolute, absolute / float(np.max(np.abs(reference))))


def problems_of(run: Run, reference: np.ndarray) -> list[str]:
    """Sentences about what is wrong with `run`; empty when it is verified. `reference` is the
    field of a run without the shim."""
    found = []
    if not np.isfinite(run.field).all():
        found.append("the field is not finite")
    elif not run.field.any():
        found.append("the field is zero everywhere")
    if run.codec in (NO_SHIM, SHIM_OFF):
        if not np.array_equal(reference.view(np.uint32), run.field.view(np.uint32)):
            found.append("the field differs from that without the shim")
        return found
    return found + _problems_of_codec(run, reference)


def _problems_of_codec(run: Run, reference: np.ndarray) -> list[str]:
    found = []
    limit = ERROR_LIMITS[run.codec]
    relative = field_error(reference, run.field).relative
    if not relative <= limit:
        found.append(f"relative error {relative:.3g} is above the limit of {limit:g}")
    report = run.shim or {}
    encoded, decoded = report.get("compressed_messages"), report.get("decoded_messages")
    # If a codec would not gain, raw is what a user gets, and what the table is to show.
    if not encoded and not report.get("raw_by_reason", {}).get("would not gain"):
        found.append("no message was compressed")
    if encoded != decoded:
        found.append(f"{encoded} messages were encoded but {decoded} decoded")
    if report.get("bytes") != run.wave["bytes_sent"]:
        found.append(
            f"the shim saw {report.get('bytes')} bytes, the program sent {run.wave['bytes_sent']}"
        )
    return found
