#include <memory>
#include <utility>
#include <vector>

#include "capi/boundary.h"
#include "capi/convert.h"
#include "capi/handles.h"
#include "capi/stream_handles.h"
#include "capi/stream_transports.h"
#include "collective/slots/device_slots.h"
#include "collective/slots/host_slots.h"
#include "collective/slots/prepare.h"
#include "device/work_stream.h"

using namespace thinwire;
using namespace thinwire::capi;
using namespace thinwire::collective;

namespace {

codec::Spec automatic() {
  codec::Spec spec;
  spec.kind = codec::Spec::Kind::kAuto;
  return spec;
}

SampleEncode sample_of(std::uint32_t flags) {
  if ((flags & TW_STREAM_TRIAL_RESULT) != 0) return SampleEncode::kResult;
  return (flags & TW_STREAM_TRIAL) != 0 ? SampleEncode::kFirst : SampleEncode::kNone;
}

bool known(const tw_stream_plan_options& from) {
  constexpr std::uint32_t kBoth = TW_STREAM_TRIAL | TW_STREAM_TRIAL_RESULT;
  constexpr std::uint32_t kAll =
      kBoth | TW_STREAM_PREMULTIPLIED | TW_STREAM_ROUNDS | TW_STREAM_AS_IS;
  return from.operation < kSlotOperationCount && from.dtype < kDtypeCount &&
         from.way < kSlotWayCount && (from.flags & ~kAll) == 0 && (from.flags & kBoth) != kBoth &&
         from.reserved == 0 && is_none_or_open(from.codec);
}

SlotCall to_call(const tw_stream_plan_options& from, const tw_stream_comm& comm) {
  SlotCall call;
  call.operation = static_cast<SlotOperation>(from.operation);
  call.dtype = static_cast<Dtype>(from.dtype);
  call.peer = from.peer;
  call.count = from.count;
  call.capacity = {from.capacity[0], from.capacity[1]};
  call.way = static_cast<SlotWay>(from.way);
  call.sample = sample_of(from.flags);
  call.scale = from.scale == 0 ? 1 : from.scale;
  call.premultiplied = (from.flags & TW_STREAM_PREMULTIPLIED) != 0;
  call.rounds = (from.flags & TW_STREAM_ROUNDS) != 0;
  call.as_is = (from.flags & TW_STREAM_AS_IS) != 0;
  call.spec = from.codec != nullptr ? from.codec->spec : comm.spec;
  call.reference_bytes = from.reference_bytes;
  call.mark = comm.mark;
  call.rank = comm.link.transport->rank();
  call.ranks = comm.link.transport->size();
  call.nodes = comm.nodes;
  return call;
}

tw_stream_plan_info info_of(const SlotPlan& plan) {
  tw_stream_plan_info info{};
  info.way = static_cast<uint32_t>(plan.way());
  info.device_bytes = plan.device_bytes();
  info.record_bytes = record_bytes(plan);
  info.needs_mailbox = plan.needs_mailbox() ? 1 : 0;
  for (const int number : {0, 1}) info.slot_bytes[number] = plan.slot_bytes(number);
  info.raw_bytes = plan.raw_bytes();
  info.wire_bytes = plan.wire_bytes();
  info.workspace_bytes = plan.kept_bytes();
  info.plain_bytes = plan.plain_bytes();
  info.in_levels = plan.in_levels() ? 1 : 0;
  info.has_references = plan.difference().exists ? 1 : 0;
  info.peers = plan.peers();
  info.launches = plan.launches();
  info.messages = plan.messages();
  return info;
}

}  // namespace

tw_status tw_stream_comm_create(const tw_stream_transport* transport,
                                const tw_stream_comm_options* options, tw_stream_comm** comm) {
  return guarded([&] {
    const Taken<tw_stream_transport> table(transport);
    if (!table || !is_usable(*table)) return misuse("tw_stream_comm_create: no sound transport");
    auto adopted = adopt(*table);
    tw_stream_comm_options none{};
    none.size = sizeof none;
    const Taken<tw_stream_comm_options> own(options != nullptr ? options : &none);
    if (!own || own->reserved != 0 || !is_none_or_open(own->codec) || comm == nullptr) {
      return misuse(
          "tw_stream_comm_create: null pointer, destroyed codec, or a size or field that is not "
          "known");
    }
    if (!adopted->on_host()) {
      // Without a GPU no stream could be CUDA's.
      const auto devices = device::device_count();
      if (!devices.ok()) return report(devices.status());
    }
    auto made = Shells<tw_stream_comm>::make();
    made->link.transport = std::move(adopted);
    made->spec = own->codec != nullptr ? own->codec->spec : automatic();
    made->mark = frame::file_mark();
    if (own->job != nullptr) {
      made->mark = frame::job_mark({bytes_at(static_cast<const void*>(own->job)), own->job_bytes});
    }
    if (own->nodes != nullptr) {
      const auto ranks = static_cast<std::size_t>(made->link.transport->size());
      made->nodes = std::make_shared<const SlotNodes>(
          std::vector<std::uint32_t>(own->nodes, own->nodes + ranks));
    }
    *comm = made.release();
    return TW_OK;
  });
}

tw_status tw_stream_comm_prepare(tw_stream_comm* comm, int32_t device) {
  return guarded([&] {
    if (!is_open(comm)) return misuse("tw_stream_comm_prepare: null pointer, or destroyed");
    if (comm->link.transport->on_host()) return TW_OK;
    return report(load_kernels(comm->spec, device));
  });
}

void tw_stream_comm_destroy(tw_stream_comm* comm) {
  close_handle(comm, "tw_stream_comm_destroy: the communicator is destroyed already");
}

tw_status tw_stream_plan_create(tw_stream_comm* comm, const tw_stream_plan_options* options,
                                tw_stream_plan** plan) {
  return guarded([&] {
    const Taken<tw_stream_plan_options> own(options);
    if (!is_open(comm) || !own || !known(*own) || plan == nullptr) {
      return misuse(
          "tw_stream_plan_create: null pointer, a destroyed handle, or a size, field or flag that "
          "is not known");
    }
    if (own->reduction != TW_SUM) {
      return report({StatusCode::kUnsupported, "collectives in stream order make sums alone"});
    }
    const bool on_host = comm->link.transport->on_host();
    auto made = SlotPlan::make(to_call(*own, *comm), on_host ? host_needs : device_needs);
    if (made.ok()) *plan = Shells<tw_stream_plan>::make(std::move(*made), comm).release();
    return report(made.status());
  });
}

void tw_stream_plan_destroy(tw_stream_plan* plan) {
  close_handle(plan, "tw_stream_plan_destroy: the plan is destroyed already");
}

tw_status tw_stream_plan_describe(const tw_stream_plan* plan, tw_stream_plan_info* info) {
  return guarded([&] {
    if (!is_open(plan) || !has_size(info)) {
      return misuse("tw_stream_plan_describe: null pointer, destroyed plan, or size not set");
    }
    give(info_of(*plan->plan), info);
    return TW_OK;
  });
}
