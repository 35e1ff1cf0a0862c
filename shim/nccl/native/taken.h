// The functions of NCCL that this library has wrappers of, as exports.map names them.
#pragma once

// clang-format off
#define THINWIRE_NCCL_TAKEN(X)                                                           \
  X(CommGetUniqueId) X(CommGrow) X(CommResume) X(CommSuspend)                            \
  X(Bcast) X(CommAbort)                                                                  \
  X(CommDestroy) X(CommFinalize) X(CommGetAsyncError) X(CommInitAll) X(CommInitRank)     \
  X(CommInitRankConfig) X(CommInitRankScalable) X(CommRevoke) X(CommShrink) X(CommSplit) \
  X(GetUniqueId) X(GroupEnd) X(GroupSimulateEnd) X(GroupStart) X(Recv)                   \
  X(RedOpCreatePreMulSum) X(RedOpDestroy) X(Send)

// The collectives, each of which has a twin since 2.31, whose name ends in Config and which takes a
// configuration of the call. What is alike of them comes from this table. SUM: it takes a
// reduction; ROOT: a root; MOVES: neither.
#define THINWIRE_NCCL_COLLECTIVES(X)                                                     \
  X(AllReduce, SUM) X(Reduce, SUM_AT_ROOT) X(ReduceScatter, SUM) X(AllGather, MOVES)     \
  X(Broadcast, ROOT) X(AlltoAll, MOVES) X(Gather, ROOT) X(Scatter, ROOT)
// clang-format on

// Their parameters between the type and the communicator.
#define THINWIRE_NCCL_TAKES_MOVES
#define THINWIRE_NCCL_TAKES_ROOT int root,
#define THINWIRE_NCCL_TAKES_SUM ncclRedOp_t op,
#define THINWIRE_NCCL_TAKES_SUM_AT_ROOT ncclRedOp_t op, int root,
