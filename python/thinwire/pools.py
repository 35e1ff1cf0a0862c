"""The GPUs of this process, and the library's pools of pinned and GPU memory."""

from dataclasses import dataclass

from thinwire.library import check, ffi_new, library, new_struct


@dataclass(frozen=True)
class PoolCounters:
    """Bytes kept for reuse and on loan; calls to the driver for memory and leases since the
    start."""

    idle_bytes: int
    loaned_bytes: int
    allocations: int
    loans: int


def gpu_count() -> int:
    """How many GPUs this process can use. Raises ThinwireError, which says why there are none:
    TW_DEVICE for no driver or no GPU, TW_UNSUPPORTED for a build without CUDA."""
    count = ffi_new("uint32_t *")
    check(library().tw_device_count(count))
    return count[0]


def pool_counters(gpu: int | None) -> PoolCounters:
    """The pool of a GPU's memory, or of pinned memory (None)."""
    lib = library()
    counters = new_struct("tw_pool_counters")
    memory = lib.TW_MEMORY_PINNED if gpu is None else lib.TW_MEMORY_DEVICE
    check(lib.tw_pool_describe(memory, gpu or 0, counters))
    return PoolCounters(
        idle_bytes=counters.idle_bytes,
        loaned_bytes=counters.loaned_bytes,
        allocations=counters.allocations,
        loans=counters.loans,
    )
