#include "run/transport.h"

#include <cstddef>
#include <utility>

#include "native/call_native.h"
#include "native/cuda.h"
#include "run/gathers.h"

namespace thinwire::nccl {
namespace {

thread_local ncclResult_t t_error = ncclSuccess;
thread_local bool t_in_progress = false;
thread_local ProgramGroup* t_group = nullptr;

tw_status told(ncclResult_t result) {
  if (result == ncclInProgress) t_in_progress = true;
  if (is_taken(result)) return TW_OK;
  t_error = result;
  return TW_INTERNAL;
}

struct End {
  ncclComm_t comm;
  int rank, ranks;
};

ncclComm_t comm_of(void* context) { return static_cast<const End*>(context)->comm; }
cudaStream_t stream_of(void* stream) { return static_cast<cudaStream_t>(stream); }

tw_status begin_group(void*) {
  ProgramGroup* const group = ProgramGroup::current();
  if (group == nullptr) return told(THINWIRE_PASS(GroupStart));
  group->begin();
  return TW_OK;
}

tw_status end_group(void*) {
  ProgramGroup* const group = ProgramGroup::current();
  return told(group == nullptr ? THINWIRE_PASS(GroupEnd) : group->end());
}

tw_status begin_call(void*, uint32_t call) {
  ProgramGroup* const group = ProgramGroup::current();
  return group == nullptr ? TW_OK : told(group->issue_after(call));
}

tw_status send(void* context, int32_t peer, const void* data, uint64_t bytes, void* stream) {
  return told(
      THINWIRE_PASS(Send, data, bytes, ncclUint8, peer, comm_of(context), stream_of(stream)));
}

tw_status receive(void* context, int32_t peer, void* data, uint64_t bytes, void* stream) {
  return told(
      THINWIRE_PASS(Recv, data, bytes, ncclUint8, peer, comm_of(context), stream_of(stream)));
}

// Within a group, as all messages are.
tw_status broadcast_by_messages(void* context, int32_t root, void* data, uint64_t bytes,
                                void* stream) {
  const End& end = *static_cast<const End*>(context);
  if (end.rank != root) return receive(context, root, data, bytes, stream);
  tw_status status = TW_OK;
  for (int rank = 0; status == TW_OK && rank < end.ranks; ++rank) {
    if (rank != root) status = send(context, rank, data, bytes, stream);
  }
  return status;
}

tw_status gather_by_messages(void* context, void* blocks, uint64_t bytes, void* stream) {
  const End& end = *static_cast<const End*>(context);
  const auto block = [&](int rank) {
    return static_cast<std::byte*>(blocks) + static_cast<uint64_t>(rank) * bytes;
  };
  tw_status status = TW_OK;
  // Each rank begins with the one after it, so that not all send to one.
  for (int far = 1; status == TW_OK && far < end.ranks; ++far) {
    const int to = (end.rank + far) % end.ranks, from = (end.rank + end.ranks - far) % end.ranks;
    status = send(context, to, block(end.rank), bytes, stream);
    if (status == TW_OK) status = receive(context, from, block(from), bytes, stream);
  }
  return status;
}

tw_status broadcast(void* context, int32_t root, void* data, uint64_t bytes, void* stream) {
  if (!broadcasts()) return broadcast_by_messages(context, root, data, bytes, stream);
  return told(THINWIRE_PASS(Broadcast, data, data, bytes, ncclUint8, root, comm_of(context),
                            stream_of(stream)));
}

tw_status call(void*, void (*function)(void*), void* argument, void* stream) {
  const Inside inside;
  return launch_on_host(stream_of(stream), function, argument) == 0 ? TW_OK : TW_DEVICE;
}

// A gather's own block lies in its place, by its rank; NCCL wants its address.
tw_status all_gather(void* context, void* blocks, uint64_t bytes, void* stream) {
  if (!gathers()) return gather_by_messages(context, blocks, bytes, stream);
  const auto rank = static_cast<uint64_t>(static_cast<const End*>(context)->rank);
  const void* const own = static_cast<const std::byte*>(blocks) + rank * bytes;
  return told(
      THINWIRE_PASS(AllGather, own, blocks, bytes, ncclUint8, comm_of(context), stream_of(stream)));
}

void release(void* context) { delete static_cast<End*>(context); }

}  // namespace

tw_stream_transport transport_over(ncclComm_t comm, int rank, int ranks) {
  tw_stream_transport table{};
  table.size = sizeof table;
  table.rank = rank;
  table.ranks = ranks;
  table.context = new End{comm, rank, ranks};
  table.begin_group = begin_group;
  table.end_group = end_group;
  table.send = send;
  table.receive = receive;
  table.all_gather = all_gather;
  table.broadcast = broadcast;
  table.call = streams() == Streams::kHost ? call : nullptr;
  table.release = release;
  table.begin_call = begin_call;
  return table;
}

ncclResult_t take_transport_error() { return std::exchange(t_error, ncclSuccess); }

bool take_in_progress() { return std::exchange(t_in_progress, false); }

// ---- The program's group ----

ncclResult_t pass_kept(const KeptRaw& kept) {
  const ncclResult_t result = pass(kept.call);
  // NCCL has taken what the reduction multiplies by.
  if (kept.ends_op) THINWIRE_PASS(RedOpDestroy, kept.call.op, kept.call.comm);
  return result;
}

ProgramGroup::ProgramGroup(std::span<const KeptRaw> raw, bool is_open) : raw_(raw) {
  if (!is_open) THINWIRE_PASS(GroupStart);
  t_group = this;
}

ProgramGroup::~ProgramGroup() {
  t_group = nullptr;
  if (!ended_) THINWIRE_PASS(GroupEnd);
}

ProgramGroup* ProgramGroup::current() {
  return t_group == nullptr || t_group->ended_ ? nullptr : t_group;
}

ncclResult_t ProgramGroup::issue_after(std::size_t coded) {
  while (issued_ < raw_.size() && raw_[issued_].after <= coded) {
    const ncclResult_t result = pass_kept(raw_[issued_++]);
    if (!is_taken(result)) return result;
  }
  return ncclSuccess;
}

ncclResult_t ProgramGroup::end() { return --begun_ > 0 ? ncclSuccess : close(); }

ncclResult_t ProgramGroup::close() {
  if (ended_) return ncclSuccess;
  const ncclResult_t issued = issue_after(SIZE_MAX);
  ended_ = true;
  const ncclResult_t result = THINWIRE_PASS(GroupEnd);
  return issued != ncclSuccess ? issued : result;
}

}  // namespace thinwire::nccl
