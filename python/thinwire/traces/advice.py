"""What docs/reference/report.md says of each reason, in plain text: a test holds them together."""

# ruff: noqa: E501

import re

ADVICE = {
    "codec off": "`THINWIRE_CODEC`, or the rule of a policy that takes it, is `off`, or wrong: the log then says how; or what takes a collective depends on a size that no rank knows. Name a codec",
    "the link's rate is not known": "nobody has stated it (`--link`), and it is not measured yet. What the machine says of its port is not enough for messages. Over TCP: the first messages; over other networks: all of them. State `--link`",
    "below the threshold": "too few bytes. `--threshold` sets another; small messages seldom pay",
    "datatype not taken by the codec": "`thinwire codecs` lists the types. Through MPI only fp32 and fp64 are compressed, complex numbers of them, and what a policy says of bytes",
    "peer on the same node": "a node's memory is faster than any codec. `--same-node` compresses all the same, as for a test",
    "peer without this Thinwire": "the peer runs without the library or another version of it, is of another job, or the launcher does not tell (launchers)",
    "would not gain": "raw is predicted to be faster. Try a faster codec (`thinwire advise`); `THINWIRE_LOG=plan` says by which rate, and `--force` compresses all the same",
    "synchronous or buffered send": "never compressed",
    "data declined by the codec": "NaN or infinity under a fixed rate, fill values under a codec without a bound on each value, or the data would not get smaller. Try another codec",
    "out of memory": "no scratch memory for the frame; of NCCL calls, not enough GPU memory, and a warning has the figures",
    "shape does not fit the count": "a lossy codec has `shape=`, and the message has another number of elements. Leave `?` for one extent",
    "bounded for reductions alone": "the spec has `allreduce-abs=` or `-rel=` and nothing else. Add a bound, as `abs=`, for what is no reduction",
    "reductions left as they are": "another order of additions changes the last bits. Name a codec, or `lossless:reductions=coded`",
    "a reduction, which the codec leaves native": "another order of additions changes the last bits. Name a codec, or `lossless:reductions=coded`",
    "bound too small for these values and ranks": "the additions alone may come near the bound, or exceed it. Give a larger one",
    "operation not done compressed": "there is no bound of its result, as of products, or no algorithm for it",
    "not tried: data declined lately": "messages to this rank, or pieces, before it were declined. Tried again ever more rarely",
    "holds integers in the bits of doubles": "integers under lossy codecs: sent exactly. `THINWIRE_INTEGERS=code` encodes them",
    "the codec's cost is not agreed yet": "a non-blocking call must not wait for the other ranks. A blocking collective on the communicator settles it",
    "left raw by the schedule": "for example between ranks of one node, in an operation that is compressed between nodes",
    "came raw from another rank": "and was sent on; that rank counts its reason",
    "not named in THINWIRE_COLLECTIVES": "the v forms that only ranks in pairs know are off unless named: `on,alltoallv`",
    "an operation without a compressed form": "a reduction other than `MPI_SUM`, `MPI_PROD`, `MPI_MIN`, `MPI_MAX`",
    "between groups or of one process": "an intercommunicator, or a communicator of one rank",
    "the settings of the ranks differ": "the log names the difference. Give all ranks the same",
    "no private communicator": "the MPI has no communicator left, or few for a process",
    "non-blocking before the first blocking one": "the communicator is not prepared: a blocking collective on it, or `MPI_Barrier` after this call, prepares it",
    "the program is making communicators": "some rank makes a communicator, a window or a file meanwhile, in another thread or by `MPI_Comm_idup`, so that the library cannot make its own, which the communicator's first compressed collective needs. Tried again ever more rarely, after 64 calls at last. Not under MPICH",
    "non-blocking without MPI_THREAD_MULTIPLE": "a rank has not asked for it in `MPI_Init_thread`",
    "arguments for the MPI to judge": "for example a root that there is not, one buffer on both sides (under Open MPI of a reduction alone), a type that is not committed: the MPI gives the error",
    "no schedule": "no algorithm of that name for this operation (`THINWIRE_ALGORITHM`)",
    "not known what a rank runs": "the launcher did not answer: the call fails",
    "being timed, raw and compressed": "some calls of each operation, type and size go each way first, to see which is faster",
    "faster raw, as timed": "calls of this operation, type and size took longer compressed. Timed again ever more rarely; `THINWIRE_LOG=plan` has both times, and `--force` compresses all the same",
    "siblings not known": "NCCL and the hooks of `thinwire.torch`, under lossy codecs, and for sums of siblings that a policy names under lossless ones: it is not known which other communicators have to be compressed from the same call on, so that ranks with the same values keep the same bits (NCCL programs)",
    "a rank has no thread to serve compressed calls": "a rank's system refused one (`ulimit -u`, `pids.max` of its cgroup). NCCL: tried again as for memory. MPI: non-blocking and persistent collectives; after the first non-blocking collective that stays raw for this reason, and after every 1024 more, the next call that may wait for the other ranks tries again to make the thread. Persistent collectives also have this reason if the process has 64 compressed ones already",
}


def plain(markdown: str) -> str:
    """A cell of the page without links."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", markdown)


def advice_on(reason: str) -> str:
    return ADVICE.get(reason, "")
