"""Communicators between threads: every operation, exactly or within its bound."""

import numpy as np
import pytest
from thread_ranks import checked, combined, empty, on_ranks, ones_and_twos, smooth, typed, whole

import thinwire
from thinwire import IN_PLACE, dtypes
from thinwire.bench import float8
from thinwire.bench.samples import to_float

COUNT = 3001
# Several pieces: those are whole chunks of a codec.
MANY = 70001
DTYPES = ("f32", "f64", "f16", "bf16")
RANKS = (1, 2, 3, 4, 7, 8)
GROUPS = [(ranks, dtype) for dtype in DTYPES for ranks in (RANKS if dtype == "f32" else (2, 3, 8))]
REDUCTIONS = {"SUM": np.add, "PROD": np.multiply, "MIN": np.minimum, "MAX": np.maximum}


def lossless(dtype: str) -> str:
    """A codec that gives back every bit of such values on the CPU."""
    for row in thinwire.codecs():
        if row.lossless and row.name != "raw" and dtype in row.dtypes and not row.gpu_only:
            return row.example
    pytest.skip(f"no lossless codec takes {dtype}")


def make(ranks: int, codec: str, **options) -> list[thinwire.Communicator]:
    """Pieces are as small as they can be, and nothing is too small to be compressed."""
    options = {"threshold": 0, "piece": "2KiB"} | options
    return thinwire.local_ranks(ranks, codec=codec, **options)


def pairs(ranks: int) -> list[int]:
    """Nodes of two ranks each; two ranks on one would leave nothing to compress."""
    return [rank // 2 if ranks > 2 else rank for rank in range(ranks)]


@pytest.fixture(params=GROUPS, ids=str)
def group(request):
    """Communicators and the dtype to use on them."""
    ranks, dtype = request.param
    return make(ranks, lossless(dtype)), dtype


def test_bcast(group):
    comms, dtype = group
    for root in {0, len(comms) - 1}:

        def body(comm, root=root):
            array = whole(dtype, COUNT, root).copy() if comm.rank == root else empty(dtype, COUNT)
            comm.Bcast(typed(array, dtype), root=root)
            return array

        for array in checked(on_ranks(comms, body)):
            np.testing.assert_array_equal(array, whole(dtype, COUNT, root))


@pytest.mark.parametrize("in_place", [False, True])
def test_allgather(group, in_place):
    comms, dtype = group
    expected = np.concatenate([whole(dtype, COUNT, rank) for rank in range(len(comms))])

    def body(comm):
        array = empty(dtype, COUNT * comm.size)
        own = whole(dtype, COUNT, comm.rank)
        if in_place:
            array[COUNT * comm.rank :][:COUNT] = own
        comm.Allgather(IN_PLACE if in_place else typed(own, dtype), typed(array, dtype))
        return array

    for array in checked(on_ranks(comms, body)):
        np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize("in_place", [False, True])
def test_gather_and_scatter(group, in_place):
    comms, dtype = group
    root = len(comms) - 1
    blocks = [whole(dtype, COUNT, rank) for rank in range(len(comms))]

    def body(comm):
        own, all_blocks = whole(dtype, COUNT, comm.rank), empty(dtype, COUNT * comm.size)
        everything, block = np.concatenate(blocks), empty(dtype, COUNT)
        if comm.rank != root:
            comm.Gather(typed(own, dtype), None, root=root)
            comm.Scatter(None, typed(block, dtype), root=root)
            return own, block
        if in_place:
            all_blocks[COUNT * root :][:COUNT] = own
        comm.Gather(IN_PLACE if in_place else typed(own, dtype), typed(all_blocks, dtype), root)
        np.testing.assert_array_equal(all_blocks, everything)
        comm.Scatter(typed(everything, dtype), IN_PLACE if in_place else typed(block, dtype), root)
        np.testing.assert_array_equal(everything, np.concatenate(blocks))
        return own, blocks[root] if in_place else block

    for rank, (own, block) in enumerate(checked(on_ranks(comms, body))):
        np.testing.assert_array_equal(own, blocks[rank])
        np.testing.assert_array_equal(block, blocks[rank])


@pytest.mark.parametrize("in_place", [False, True])
def test_alltoall(group, in_place):
    comms, dtype = group
    size = len(comms)
    sent = [whole(dtype, COUNT * size, rank).reshape(size, COUNT) for rank in range(size)]

    def body(comm):
        array = sent[comm.rank].copy() if in_place else empty(dtype, COUNT * size)
        own = IN_PLACE if in_place else typed(sent[comm.rank], dtype)
        comm.Alltoall(own, typed(array, dtype))
        return array

    for rank, array in enumerate(checked(on_ranks(comms, body))):
        np.testing.assert_array_equal(array.reshape(size, COUNT), [each[rank] for each in sent])


@pytest.mark.parametrize("in_place", [False, True])
def test_sums(group, in_place):
    comms, dtype = group
    size, root = len(comms), len(comms) // 2
    arrays = [whole(dtype, COUNT * size, rank) for rank in range(size)]
    expected = combined(arrays, dtype)

    def body(comm):
        found = []
        for call in (comm.Allreduce, comm.Reduce, comm.Reduce_scatter_block):
            words = {"root": root} if call == comm.Reduce else {}
            result = arrays[comm.rank].copy() if in_place else empty(dtype, COUNT * size)
            is_there = in_place and (call != comm.Reduce or comm.rank == root)
            own = IN_PLACE if is_there else typed(arrays[comm.rank], dtype)
            call(own, typed(result, dtype), **words)
            found.append(result)
        return found

    for rank, (everywhere, at_root, block) in enumerate(checked(on_ranks(comms, body))):
        np.testing.assert_array_equal(everywhere, expected)
        np.testing.assert_array_equal(block[:COUNT], expected[COUNT * rank :][:COUNT])
        if rank == root:
            np.testing.assert_array_equal(at_root, expected)


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_reduction(name, dtype):
    comms = make(4, lossless(dtype))
    arrays = [ones_and_twos(dtype, COUNT, rank) for rank in range(4)]

    def body(comm):
        result = empty(dtype, COUNT)
        op = getattr(thinwire, name)
        comm.Allreduce(typed(arrays[comm.rank], dtype), typed(result, dtype), op=op)
        return result

    for result in checked(on_ranks(comms, body)):
        np.testing.assert_array_equal(result, combined(arrays, dtype, REDUCTIONS[name]))


# ---- Blocks of different sizes ----


def uneven(size: int) -> tuple[list[int], list[int]]:
    """Counts, one of them 0, and displacements with gaps, the last rank's block first."""
    counts = [0 if rank == 1 else 400 + 37 * rank for rank in range(size)]
    places, at = [0] * size, 3
    for rank in reversed(range(size)):
        places[rank], at = at, at + counts[rank] + 5
    return counts, places


def with_gaps(blocks, counts, places, dtype):
    array = empty(dtype, max(c + p for c, p in zip(counts, places, strict=True)) + 9)
    for block, count, place in zip(blocks, counts, places, strict=True):
        array[place : place + count] = block[:count]
    return array


def test_allgatherv_and_gatherv(group):
    comms, dtype = group
    size = len(comms)
    counts, places = uneven(size)
    blocks = [whole(dtype, counts[rank], rank) for rank in range(size)]
    expected = with_gaps(blocks, counts, places, dtype)

    def body(comm):
        everywhere, at_root = np.full_like(expected, 0), np.full_like(expected, 0)
        everywhere.view(np.uint8).fill(0xA5)
        at_root.view(np.uint8).fill(0xA5)
        own = typed(blocks[comm.rank], dtype)
        comm.Allgatherv(own, [everywhere, counts, places, dtype])
        comm.Gatherv(own, [at_root, (counts, places), dtype] if comm.rank == 0 else None)
        return everywhere, at_root

    for rank, (everywhere, at_root) in enumerate(checked(on_ranks(comms, body))):
        np.testing.assert_array_equal(everywhere, expected)
        if rank == 0:
            np.testing.assert_array_equal(at_root, expected)


def test_scatterv(group):
    comms, dtype = group
    counts, places = uneven(len(comms))
    blocks = [whole(dtype, count, rank) for rank, count in enumerate(counts)]
    source = with_gaps(blocks, counts, places, dtype)

    def body(comm):
        block = empty(dtype, counts[comm.rank])
        spec = [source, counts, places, dtype] if comm.rank == 0 else None
        comm.Scatterv(spec, typed(block, dtype))
        return block

    for rank, block in enumerate(checked(on_ranks(comms, body))):
        np.testing.assert_array_equal(block, blocks[rank])


def test_alltoallv(group):
    comms, dtype = group
    size = len(comms)
    # Rank i sends j's neighbour nothing, and the others 100 * i + j values.
    table = [[0 if j == (i + 1) % size else 100 * i + j for j in range(size)] for i in range(size)]
    sent = [whole(dtype, sum(row) + 1, rank) for rank, row in enumerate(table)]

    def body(comm):
        own = table[comm.rank]
        of = [table[peer][comm.rank] for peer in range(size)]
        result = empty(dtype, sum(of) + 1)
        comm.Alltoallv([sent[comm.rank], own, None, dtype], [result, of, None, dtype])
        return result

    starts = [np.concatenate([[0], np.cumsum(row)]) for row in table]
    for rank, result in enumerate(checked(on_ranks(comms, body))):
        parts = [sent[i][starts[i][rank] : starts[i][rank + 1]] for i in range(size)]
        np.testing.assert_array_equal(result[:-1], np.concatenate(parts))
        np.testing.assert_array_equal(result[-1:], empty(dtype, 1))


@pytest.mark.parametrize("given", [False, True])
def test_reduce_scatter_of_counts(group, given):
    comms, dtype = group
    counts, _ = uneven(len(comms))
    arrays = [whole(dtype, sum(counts), rank) for rank in range(len(comms))]
    starts = np.concatenate([[0], np.cumsum(counts)])

    def body(comm):
        result = empty(dtype, counts[comm.rank])
        listed = counts if given else None
        comm.Reduce_scatter(typed(arrays[comm.rank], dtype), typed(result, dtype), listed)
        return result

    expected = combined(arrays, dtype)
    for rank, result in enumerate(checked(on_ranks(comms, body))):
        np.testing.assert_array_equal(result, expected[starts[rank] : starts[rank + 1]])


# ---- Every schedule ----


def call_of(comm, operation, dtype, values, count=MANY, **how):
    """One operation with rank 0 as root; what it leaves on this rank, and the exact result."""
    size, rank = comm.size, comm.rank
    of_all = operation in ("scatter", "alltoall", "reduce-scatter")
    ranks = [0] if operation in ("bcast", "scatter") else range(size)
    arrays = {each: values(dtype, count * size if of_all else count, each) for each in ranks}
    parts = {each: array.reshape(-1, count) for each, array in arrays.items()}
    own, one, many = arrays.get(rank), empty(dtype, count), empty(dtype, count * size)
    if operation == "bcast":
        one[:] = own if rank == 0 else one
        comm.Bcast(one, **how)
        return one, arrays[0]
    if operation in ("allgather", "gather"):
        (comm.Gather if operation == "gather" else comm.Allgather)(own, many, **how)
        is_there = operation == "allgather" or rank == 0
        return (many, np.concatenate(list(arrays.values()))) if is_there else (one, one)
    if operation == "scatter":
        comm.Scatter(own, one, **how)
        return one, parts[0][rank]
    if operation == "alltoall":
        comm.Alltoall(own, many, **how)
        return many, np.concatenate([each[rank] for each in parts.values()])
    if operation == "reduce-scatter":
        comm.Reduce_scatter_block(own, one, **how)
        return one, combined([each[rank] for each in parts.values()], dtype)
    (comm.Reduce if operation == "reduce" else comm.Allreduce)(own, one, **how)
    is_there = operation == "allreduce" or rank == 0
    return (one, combined(list(arrays.values()), dtype)) if is_there else (one, one)


@pytest.mark.parametrize("schedule", thinwire.schedules(), ids="-".join)
@pytest.mark.parametrize("ranks", [2, 3, 4, 7, 8])
def test_every_schedule_gives_the_same(schedule, ranks):
    operation, algorithm, coding = schedule
    comms = make(ranks, lossless("f32"), nodes=pairs(ranks))

    def body(comm):
        how = {"algorithm": algorithm, "coding": coding}
        found, expected = call_of(comm, operation, "f32", whole, **how)
        np.testing.assert_array_equal(found, expected)
        return comm.last_report

    for report in checked(on_ranks(comms, body)):
        assert (report.algorithm, report.coding) == (algorithm, coding)
        assert report.compressed


def test_every_operation_has_a_schedule():
    operations = {operation for operation, _, _ in thinwire.schedules()}
    assert operations == {
        *("bcast", "allgather", "gather", "scatter", "alltoall"),
        *("reduce", "allreduce", "reduce-scatter"),
    }


# ---- Lossy codecs ----


@pytest.mark.parametrize("operation", ["bcast", "allgather", "gather", "scatter", "alltoall"])
@pytest.mark.parametrize("ranks", [2, 3, 4, 8])
def test_moved_values_are_coded_once(operation, ranks):
    """Whatever the way: one coding's error, and no more."""
    comms = make(ranks, "szp:abs=1e-3")

    def body(comm):
        found, expected = call_of(comm, operation, "f32", smooth)
        return found, np.abs(found.astype(np.float64) - expected).max()

    for _, error in checked(on_ranks(comms, body)):
        assert error <= 1e-3


SHARED = [each for each in thinwire.schedules() if each[0] in ("bcast", "allgather", "allreduce")]


@pytest.mark.parametrize("spec", ["szp:abs=1e-3", "zfp:rate=16"])
@pytest.mark.parametrize("schedule", SHARED, ids="-".join)
@pytest.mark.parametrize("ranks", [2, 3, 4, 7])
def test_ranks_that_get_the_same_have_the_same_bits(spec, schedule, ranks):
    """But for the way that is there to compare with, of which each rank has its own errors."""
    operation, algorithm, coding = schedule
    comms = make(ranks, spec, nodes=pairs(ranks))

    def body(comm):
        how = {"algorithm": algorithm, "coding": coding}
        found, expected = call_of(comm, operation, "f32", smooth, **how)
        assert np.abs(found.astype(np.float64) - expected).max() < 0.1
        assert comm.last_report.compressed
        return found

    results = checked(on_ranks(comms, body))
    if operation == "bcast":  # the root has its own values, bit for bit
        np.testing.assert_array_equal(results.pop(0), smooth("f32", MANY, 0))
    first, *others = results
    for found in others if coding != "per-hop" else []:
        np.testing.assert_array_equal(found.view(np.uint32), first.view(np.uint32))


@pytest.mark.parametrize("spec", ["off", "mpc", "zfp:rate=8"])
@pytest.mark.parametrize("ranks", [2, 4])
def test_a_broadcasts_root_may_be_read_only(spec, ranks):
    comms = make(ranks, spec, nodes=pairs(ranks))

    def body(comm):
        array = smooth("f32", MANY, 0) if comm.rank == 0 else empty("f32", MANY)
        array.flags.writeable = comm.rank != 0
        comm.Bcast(array)
        return array

    exact, *received = checked(on_ranks(comms, body))
    np.testing.assert_array_equal(exact, smooth("f32", MANY, 0))
    for found in received:
        np.testing.assert_array_equal(found, received[0])


@pytest.mark.parametrize("ranks", [2, 4])
def test_a_broadcasts_root_decodes_where_it_is_asked(ranks):
    comms = make(ranks, "zfp:rate=8", nodes=pairs(ranks) if ranks > 2 else None)

    def body(comm):
        array = smooth("f32", MANY, 0).copy() if comm.rank == 0 else empty("f32", MANY)
        comm.Bcast(array, root_decodes=True)
        return array

    root, *received = checked(on_ranks(comms, body))
    assert (root != smooth("f32", MANY, 0)).any()
    for found in received:
        np.testing.assert_array_equal(found, root)


@pytest.mark.parametrize("operation", ["bcast", "allgather", "allreduce"])
def test_reports_tell_what_went_over_the_wire(operation):
    comms = make(4, "zfp:rate=16")

    def body(comm):
        call_of(comm, operation, "f32", smooth)
        return comm.last_report

    reports = checked(on_ranks(comms, body))
    raw, wire = (
        sum(getattr(each, name) for each in reports) for name in ("raw_bytes", "wire_bytes")
    )
    assert 1.9 < raw / wire <= 2
    assert all(1.9 < each.ratio <= 2 or not each.packets for each in reports)
    assert all(each.raw_packets == 0 < each.workspace_bytes for each in reports)


def why_raw(codec: str, values: np.ndarray, **options) -> dict[str, int]:
    """Of the packets of an Allgather on three ranks, each with these values."""
    algorithm = {key: options.pop(key) for key in ("algorithm",) if key in options}

    def body(comm):
        comm.Allgather(values, np.empty(len(values) * comm.size, values.dtype), **algorithm)
        return comm.last_report

    found: dict[str, int] = {}
    for report in checked(on_ranks(make(3, codec, **options), body)):
        assert report.raw_packets == sum(report.raw_packets_by_reason.values())
        for why, count in report.raw_packets_by_reason.items():
            found[why] = found.get(why, 0) + count
    return found


def test_reports_tell_why_packets_went_raw():
    noise = np.random.default_rng(1).integers(0, 1 << 32, MANY, np.uint32).view(np.float32)
    integers = np.arange(1, MANY + 1, dtype=np.int64).view(np.float64)
    declined, lately, passed = (
        "data declined by the codec",
        "not tried: data declined lately",
        "came raw from another rank",
    )
    assert set(why_raw("mpc", noise, algorithm="direct")) == {declined, lately}
    assert set(why_raw("mpc", noise, algorithm="ring")) == {declined, lately, passed}
    assert "holds integers in the bits of doubles" in why_raw("szp:abs=1e-3", integers)
    assert set(why_raw("off", noise)) == {"codec off"}
    assert "left raw by the schedule" in why_raw("mpc", noise, nodes=[0, 0, 1])
    assert why_raw("mpc", np.ones(MANY, np.float32)) == {}


@pytest.mark.parametrize("operation", ["reduce", "allreduce", "reduce-scatter"])
@pytest.mark.parametrize("ranks", [2, 4, 7])
def test_sums_stay_within_the_bound_that_is_reported(operation, ranks):
    comms = make(ranks, "szp:abs=1e-4")

    def body(comm):
        found, expected = call_of(comm, operation, "f64", smooth)
        error = np.abs(found - expected).max(initial=0, where=np.isfinite(expected))
        return error, comm.last_report.bound

    for error, bound in checked(on_ranks(comms, body)):
        assert bound > 0 and error <= bound


def test_verification_finds_the_error_that_there_is():
    comms = make(4, "szp:abs=1e-3")

    def body(comm):
        found, expected = call_of(comm, "allgather", "f32", smooth, verify=True)
        error = float(np.abs(found.astype(np.float64) - expected).max())
        return error, comm.last_report.max_error

    for error, reported in checked(on_ranks(comms, body)):
        assert 0 < error <= 1e-3 and reported == pytest.approx(error)


def test_what_no_codec_can_bound_survives():
    comms = make(3, "szp:abs=1e-3")
    array = smooth("f32", COUNT, 0).copy()
    array[[5, 900, 2999]] = np.nan, np.inf, -np.inf

    def body(comm):
        found = array.copy() if comm.rank == 0 else empty("f32", COUNT)
        comm.Bcast(found)
        return found

    for found in checked(on_ranks(comms, body)):
        finite = np.isfinite(array)
        np.testing.assert_array_equal(found[~finite], array[~finite])
        assert np.abs(found[finite] - array[finite]).max() <= 1e-3 * (1 + 1e-6)


# ---- What is no float, and nothing at all ----


def test_other_elements_travel_as_bytes():
    comms = make(3, lossless("f32"))

    def body(comm):
        numbers = np.zeros(3 * 50, np.int64)
        comm.Allgather(np.arange(50) + 100 * comm.rank, numbers)
        counts = np.zeros(60, np.int16)
        comm.Allgatherv(np.full(20, comm.rank, np.int16), [counts, [20] * 3, [40, 20, 0]])
        with pytest.raises(thinwire.ThinwireError, match="bytes"):
            comm.Allreduce(numbers, numbers.copy())
        return numbers, counts

    for numbers, counts in checked(on_ranks(comms, body)):
        expected = np.concatenate([np.arange(50) + 100 * rank for rank in range(3)])
        np.testing.assert_array_equal(numbers, expected)
        np.testing.assert_array_equal(counts, np.repeat([2, 1, 0], 20).astype(np.int16))


def test_empty_arrays():
    def body(comm):
        nothing = np.empty(0, np.float32)
        comm.Bcast(nothing)
        comm.Allreduce(nothing, nothing.copy())
        comm.Allgather(nothing, nothing.copy())

    checked(on_ranks(make(3, lossless("f32")), body))


def test_bf16_of_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    comms = make(2, lossless("bf16"))

    def body(comm):
        result = np.zeros(COUNT, ml_dtypes.bfloat16)
        comm.Allreduce(np.full(COUNT, 1.5, ml_dtypes.bfloat16), result)
        return result

    for result in checked(on_ranks(comms, body)):
        assert (result.astype(np.float32) == 3).all()


@pytest.mark.parametrize("dtype", ["e4m3", "e5m2"])
def test_8_bit_floats_are_moved_and_not_added(dtype: str):
    comms = make(3, "expack")
    normal = [np.random.default_rng(rank).standard_normal(MANY) for rank in range(3)]
    blocks = [float8.scaled(values, dtype) for values in normal]

    def body(comm):
        result = np.zeros(3 * MANY, np.uint8)
        report = comm.Allgather([blocks[comm.rank], dtype], [result, dtype])
        with pytest.raises(thinwire.ThinwireError, match=f"{dtype} cannot be reduced"):
            comm.Allreduce([blocks[comm.rank], dtype], [result[:MANY], dtype])
        return result, report

    for result, report in checked(on_ranks(comms, body)):
        assert (result == np.concatenate(blocks)).all()
        assert not report.why_raw and report.wire_bytes < 0.95 * 2 * MANY


def test_values_of_every_dtype_are_what_numpy_says():
    for dtype in DTYPES:
        assert to_float(whole(dtype, 100, 1), dtype).max() <= 22
        assert whole(dtype, 4, 0).dtype == dtypes.NUMPY[dtype]


def test_memory_is_back_in_the_pool_between_calls():
    before = thinwire.host_pool_counters()
    comms = make(2, "mpc")

    def body(comm):
        result = empty("f32", 2 * MANY)
        comm.Allgather(whole("f32", MANY, comm.rank), result)

    checked(on_ranks(comms, body))
    after = thinwire.host_pool_counters()
    assert after.loans > before.loans
    assert after.loaned_bytes == before.loaned_bytes
    assert after.idle_bytes > 0
