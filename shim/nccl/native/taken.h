// The functions of NCCL that this library has wrappers of.
#pragma once

// clang-format off
#define THINWIRE_NCCL_TAKEN(X)                                                           \
  X(CommGetUniqueId) X(CommGrow) X(CommResume) X(CommSuspend)                            \
  X(Bcast) X(CommAbort)                                                                  \
  X(CommDestroy) X(CommFinalize) X(CommGetAsyncError) X(CommInitAll) X(CommInitRank)     \
  X(CommInitRankConfig) X(CommInitRankScalable) X(CommRevoke) X(CommShrink) X(CommSplit) \
  X(GetUniqueId) X(GroupEnd) X(GroupSimulateEnd) X(GroupStart) X(Recv)                   \
  X(RedOpCreatePreMulSum) X(RedOpDestroy) X(Send)                                        \
  X(CommWindowRegister) X(CommWindowDeregister)

// Every operation, a row each; its place is its number in what ranks agree on, so new ones come last.
// C is a collective: its name, what it takes (SUM: a reduction, ROOT: a root, MOVES: neither), what
// rules of a policy and the core call it, and what it does (state/operation.h). Each has a twin
// since 2.31, whose name ends in Config and which takes a configuration of the call.
#define THINWIRE_NCCL_OPERATIONS(C, M)                                                          \
  C(AllReduce, SUM, TW_ALLREDUCE, TW_STREAM_ALLREDUCE, kReduces)                                \
  C(Reduce, SUM_AT_ROOT, TW_REDUCE, TW_STREAM_REDUCE, kReduces | kAtRoot)                       \
  C(ReduceScatter, SUM, TW_REDUCE_SCATTER, TW_STREAM_REDUCE_SCATTER, kReduces | kBlockEach)     \
  C(AllGather, MOVES, TW_ALLGATHER, TW_STREAM_ALLGATHER, kToAll)                                \
  C(Broadcast, ROOT, TW_BCAST, TW_STREAM_BCAST, kOfRoot | kToAll)                               \
  M(Send) M(Recv)                                                                               \
  C(AlltoAll, MOVES, TW_ALLTOALL, TW_STREAM_ALLTOALL, kOfMessages | kBlockEach)                 \
  C(Gather, ROOT, TW_GATHER, TW_STREAM_GATHER_AT_ROOT, kOfMessages | kAtRoot)                   \
  C(Scatter, ROOT, TW_SCATTER, TW_STREAM_SCATTER, kOfMessages | kOfRoot | kBlockEach)
// clang-format on

// The collectives alone.
#define THINWIRE_NCCL_COLLECTIVES(X) THINWIRE_NCCL_OPERATIONS(X, THINWIRE_NCCL_NO_MESSAGE)
#define THINWIRE_NCCL_NO_MESSAGE(name)

// Their parameters between the type and the communicator.
#define THINWIRE_NCCL_TAKES_MOVES
#define THINWIRE_NCCL_TAKES_ROOT int root,
#define THINWIRE_NCCL_TAKES_SUM ncclRedOp_t op,
#define THINWIRE_NCCL_TAKES_SUM_AT_ROOT ncclRedOp_t op, int root,
