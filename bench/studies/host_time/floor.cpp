#include "host_time/floor.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace thinwire::bench::host_time {
namespace {

using Step = Floor::Step;
using What = Step::What;

// Slots of about the size that a lossless codec of floats comes to.
constexpr std::uint32_t kCapacity = 400;
constexpr std::size_t kAlignment = 256;

void check(tw_status status, const char* what) {
  if (status != TW_OK) throw std::runtime_error(std::string(what) + ": " + tw_last_error());
}

tw_status note(void* steps, const Step& step) {
  static_cast<std::vector<Step>*>(steps)->push_back(step);
  return TW_OK;
}

// A transport that writes down what is posted. Its streams pass for the host's, so that no kernel
// is launched.
tw_stream_transport recorder(std::vector<Step>& steps, int rank, int ranks) {
  tw_stream_transport table{};
  table.size = sizeof table;
  table.rank = rank;
  table.ranks = ranks;
  table.context = &steps;
  table.begin_group = [](void* to) { return note(to, {What::kBeginGroup}); };
  table.end_group = [](void* to) { return note(to, {What::kEndGroup}); };
  table.send = [](void* to, int32_t peer, const void* data, uint64_t bytes, void*) {
    return note(to, {What::kSend, peer, static_cast<const std::byte*>(data), bytes});
  };
  table.receive = [](void* to, int32_t peer, void* data, uint64_t bytes, void*) {
    return note(to, {What::kReceive, peer, static_cast<const std::byte*>(data), bytes});
  };
  table.all_gather = [](void* to, void* blocks, uint64_t bytes, void*) {
    return note(to, {What::kAllGather, 0, static_cast<const std::byte*>(blocks), bytes});
  };
  table.call = [](void* to, void (*)(void*), void*, void*) { return note(to, {What::kKernels}); };
  return table;
}

std::byte* aligned(void* at) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  return reinterpret_cast<std::byte*>((address + kAlignment - 1) / kAlignment * kAlignment);
}

}  // namespace

Floor::Floor(const Planned& planned, nccl::Device& device) : device_(device), rank_(planned.rank) {
  const auto ranks = static_cast<int>(planned.nodes.size());
  const tw_stream_transport transport = recorder(steps_, rank_, ranks);
  tw_codec* codec = nullptr;
  check(tw_codec_create(planned.codec, &codec), "the codec");
  tw_stream_comm_options options{};
  options.size = sizeof options;
  options.codec = codec;
  options.nodes = planned.nodes.data();
  tw_stream_comm* comm = nullptr;
  check(tw_stream_comm_create(&transport, &options, &comm), "a communicator");
  tw_stream_plan_options call{};
  call.size = sizeof call;
  call.operation = planned.operation;
  call.dtype = TW_F32;
  call.count = planned.count;
  call.capacity[0] = call.capacity[1] = kCapacity;
  call.reduction = TW_SUM;
  tw_stream_plan* plan = nullptr;
  check(tw_stream_plan_create(comm, &call, &plan), "a plan");
  tw_stream_plan_info info{};
  info.size = sizeof info;
  check(tw_stream_plan_describe(plan, &info), "a plan's description");

  // The program's buffers, and what is lent to the call.
  const std::size_t values = planned.count * sizeof(float) * static_cast<std::size_t>(ranks);
  memory_ = std::make_unique<nccl::Buffer>(
      device, 2 * values + info.device_bytes + info.workspace_bytes + 5 * kAlignment);
  std::byte* const send = aligned(memory_->at());
  std::byte* const receive = aligned(send + values);
  std::byte* const lent = aligned(receive + values);
  std::vector<std::byte> record(info.record_bytes + kAlignment);
  std::vector<std::byte> mailbox((1 << 20) + kAlignment);
  check(tw_mailbox_open(aligned(mailbox.data()), 1 << 20), "a mailbox");
  tw_stream_call made{};
  made.size = sizeof made;
  made.plan = plan;
  made.send = send;
  made.receive = receive;
  made.device = lent;
  made.workspace = aligned(lent + info.device_bytes);
  made.mailbox = aligned(mailbox.data());
  made.record = aligned(record.data());
  check(tw_stream_enqueue(&made, 1), "a call");

  messages_ = static_cast<int>(info.messages);
  const auto groups = std::ranges::count(steps_, What::kBeginGroup, &Step::what);
  kernels_ = static_cast<int>(info.launches) - static_cast<int>(groups);
  auto stages = static_cast<int>(std::ranges::count(steps_, What::kKernels, &Step::what));
  int left = kernels_;
  for (Step& each : steps_) {
    if (each.what != What::kKernels) continue;
    each.peer = (left + stages - 1) / stages;
    left -= each.peer;
    --stages;
  }
  tw_stream_plan_destroy(plan);
  tw_stream_comm_destroy(comm);
  tw_codec_destroy(codec);
}

void Floor::post(const Step& step, const nccl::Calls& calls, ncclComm_t comm) const {
  auto* const at = const_cast<std::byte*>(step.at);
  const cudaStream_t stream = device_.stream();
  switch (step.what) {
    case What::kBeginGroup:
      return nccl::check(calls.group_start(), "ncclGroupStart");
    case What::kEndGroup:
      return nccl::check(calls.group_end(), "ncclGroupEnd");
    case What::kSend:
      return nccl::check(calls.send(at, step.bytes, ncclUint8, step.peer, comm, stream),
                         "ncclSend");
    case What::kReceive:
      return nccl::check(calls.receive(at, step.bytes, ncclUint8, step.peer, comm, stream),
                         "ncclRecv");
    case What::kAllGather:
      return nccl::check(calls.all_gather(at + static_cast<std::size_t>(rank_) * step.bytes, at,
                                          step.bytes, ncclUint8, comm, stream),
                         "ncclAllGather");
    case What::kKernels:
      break;
  }
}

void Floor::enqueue(Part part, const nccl::Calls& calls, ncclComm_t comm) const {
  for (const Step& each : steps_) {
    if (each.what != What::kKernels) {
      if (part == Part::kExchanges || part == Part::kAll) post(each, calls, comm);
      continue;
    }
    if (part == Part::kExchanges) continue;
    for (int kernel = 0; kernel < each.peer; ++kernel) {
      device_.launch_nothing(part == Part::kLargeLaunches);
    }
  }
}

}  // namespace thinwire::bench::host_time
