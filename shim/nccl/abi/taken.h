// The functions of NCCL that this library has wrappers of, as exports.map names them.
#pragma once

// clang-format off
#define THINWIRE_NCCL_TAKEN(X)                                                           \
  X(CommGetUniqueId) X(CommGrow) X(CommResume) X(CommSuspend)                                                           \
  X(AllGather) X(AllReduce) X(AlltoAll) X(Bcast) X(Broadcast) X(CommAbort)               \
  X(CommDestroy) X(CommFinalize) X(CommGetAsyncError) X(CommInitAll) X(CommInitRank)     \
  X(CommInitRankConfig) X(CommInitRankScalable) X(CommRevoke) X(CommShrink) X(CommSplit) \
  X(Gather) X(GetUniqueId) X(GroupEnd) X(GroupSimulateEnd) X(GroupStart) X(Recv)         \
  X(RedOpCreatePreMulSum) X(RedOpDestroy) X(Reduce) X(ReduceScatter) X(Scatter) X(Send)
// clang-format on
