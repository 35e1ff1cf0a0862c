"""What docs/reference/report.md says of each reason, in plain text: a test holds them together."""

# ruff: noqa: E501

import re

ADVICE = {
    "codec off": "`THINWIRE_CODEC`, or the policy's rule, is `off`, or wrong (the log says how), or depends on a size that no rank knows. Name a codec",
    "the link's rate is not known": "not stated, nor measured yet (over TCP by the first messages, over other networks never). State `--link`",
    "below the threshold": "`--threshold` sets another; small messages seldom pay",
    "datatype not taken by the codec": "`thinwire codecs` lists types. Through MPI: fp32, fp64, complex numbers of them, and bytes of which a policy says what they are",
    "peer on the same node": "memory is faster than any codec. `--same-node` compresses all the same",
    "peer without this Thinwire": "the peer runs without it or another version, is of another job, or the launcher does not tell (launchers)",
    "would not gain": "raw is predicted to be faster. Try a faster codec (`thinwire advise`); `THINWIRE_LOG=plan` says by which rate, `--force` compresses",
    "synchronous or buffered send": "never compressed",
    "data declined by the codec": "it would not get smaller, or has NaN, infinity or fill values that this codec cannot bound. Try another codec, or `fill=auto`",
    "out of memory": "no scratch memory for the frame; of NCCL calls too little GPU memory, of which a warning has the figures",
    "shape does not fit the count": "a lossy codec's `shape=` is of another number of elements. Leave `?` for one extent",
    "bounded for reductions alone": "the spec has only `allreduce-abs=` or `-rel=`. Add a bound for the rest, as `abs=`",
    "reductions left as they are": "another order of additions changes last bits. Name a codec, or `lossless:reductions=coded`",
    "a reduction, which the codec leaves native": "another order of additions changes last bits. Name a codec, or `lossless:reductions=coded`",
    "bound too small for these values and ranks": "additions alone may exceed it. Give a larger one",
    "operation not done compressed": "its result has no bound, as of products, it is a sum under `fill=`, or no algorithm has it",
    "not tried: data declined lately": "messages or pieces before it were declined. Tried again ever more rarely",
    "holds integers in the bits of doubles": "sent exactly under a lossy codec. `THINWIRE_INTEGERS=code` encodes them",
    "the codec's cost is not agreed yet": "a non-blocking call does not wait for that; the next blocking collective on the communicator does",
    "left raw by the schedule": "for example between ranks of one node",
    "came raw from another rank": "and was sent on; that rank counts its reason",
    "not named in THINWIRE_COLLECTIVES": "v forms that only pairs of ranks know are off unless named: `on,alltoallv`",
    "an operation without a compressed form": "a reduction other than `MPI_SUM`, `MPI_PROD`, `MPI_MIN`, `MPI_MAX`",
    "between groups or of one process": "an intercommunicator, or one rank",
    "the settings of the ranks differ": "the log names the difference. Give all ranks the same",
    "no private communicator": "the MPI has none left, or few for a process",
    "non-blocking before the first blocking one": "a blocking collective on the communicator, or `MPI_Barrier` after this call, prepares it",
    "the program is making communicators": "a rank makes a communicator, window or file meanwhile (another thread, `MPI_Comm_idup`), and the library needs its own. Tried again ever more rarely, at last after 64 calls. Not under MPICH",
    "non-blocking without MPI_THREAD_MULTIPLE": "a rank has not asked for it in `MPI_Init_thread`",
    "arguments for the MPI to judge": "such as a root that there is not, one buffer on both sides (Open MPI: reductions alone), an uncommitted type: the MPI gives the error",
    "no schedule": "`THINWIRE_ALGORITHM` names none for this operation",
    "not known what a rank runs": "the launcher did not answer: the call fails",
    "being timed, raw and compressed": "some calls of each operation, type and size go each way first",
    "faster raw, as timed": "calls of this kind took longer compressed. Timed again ever more rarely; `THINWIRE_LOG=plan` has both times, `--force` compresses",
    "siblings not known": "NCCL and hooks of `thinwire.torch`: it is not known which communicators have to be compressed from the same call on as this one, so that replicas stay equal (siblings)",
    "a rank has no thread to serve compressed calls": "a system refused one (`ulimit -u`, `pids.max`). NCCL: tried again as for memory. MPI: non-blocking and persistent collectives; tried again after the first raw non-blocking one and every 1024 more. Also persistent ones beyond 64 a process",
}


def plain(markdown: str) -> str:
    """A cell of the page without links."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", markdown)


def advice_on(reason: str) -> str:
    return ADVICE.get(reason, "")
