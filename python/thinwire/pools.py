"""The GPUs of this process, and the library's pools of host, pinned and GPU memory."""

from dataclasses import dataclass

from thinwire.library import as_c, check, ffi_new, library, new_struct


@dataclass(frozen=True)
class PoolCounters:
    """Bytes that are kept for reuse and that are on loan; since the start, calls to the system or
    the driver for memory, loans, and the most bytes that were held, idle and on loan together."""

    idle_bytes: int
    loaned_bytes: int
    allocations: int
    loans: int
    peak_bytes: int


def gpu_count() -> int:
    """How many GPUs this process can use. Raises ThinwireError, which says why there are none:
    TW_DEVICE for no driver or no GPU, TW_UNSUPPORTED for a build without CUDA."""
    count = ffi_new("uint32_t *")
    check(library().tw_device_count(count))
    return count[0]


def pool_counters(gpu: int | None) -> PoolCounters:
    """The pool of a GPU's memory, or of pinned memory (None)."""
    lib = library()
    return _describe(lib.TW_MEMORY_PINNED if gpu is None else lib.TW_MEMORY_DEVICE, gpu or 0)


def host_pool_counters() -> PoolCounters:
    """The pool of host memory, which collectives and the preload library's messages work in."""
    return _describe(library().TW_MEMORY_HOST, -1)


def _describe(memory: int, device: int) -> PoolCounters:
    device = as_c("int", "gpu", device)
    counters = new_struct("tw_pool_counters")
    check(library().tw_pool_describe(memory, device, counters))
    return PoolCounters(
        idle_bytes=counters.idle_bytes,
        loaned_bytes=counters.loaned_bytes,
        allocations=counters.allocations,
        loans=counters.loans,
        peak_bytes=counters.peak_bytes,
    )
