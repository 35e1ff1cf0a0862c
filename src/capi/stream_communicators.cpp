#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "capi/boundary.h"
#include "capi/convert.h"
#include "capi/handles.h"
#include "capi/stream_transports.h"
#include "collective/slots/device_slots.h"
#include "collective/slots/enqueue.h"
#include "collective/slots/host_slots.h"
#include "collective/slots/prepare.h"
#include "device/work_stream.h"

using namespace thinwire;
using namespace thinwire::capi;
using namespace thinwire::collective;

struct tw_stream_comm {
  SlotLink link;
  codec::Spec spec;
  frame::Mark mark;
  std::shared_ptr<const SlotNodes> nodes;
  Enqueuer enqueuer = nullptr;
};

struct tw_stream_plan {
  std::unique_ptr<SlotPlan> plan;
  tw_stream_comm* comm;
};

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

tw_stream_report report_of(const SlotReport& from) {
  tw_stream_report to{};
  to.complete = from.complete ? 1 : 0;
  to.encoded = from.encoded;
  to.declined = from.declined;
  to.spilled_out = from.spilled_out;
  to.spilled_in = from.spilled_in;
  for (const std::size_t number : {0, 1}) to.needed[number] = from.needed[number];
  to.raw_bytes = from.raw_bytes;
  to.frame_bytes = from.frame_bytes;
  to.difference_bytes = from.difference_bytes;
  return to;
}

// A plan that is there, of a communicator that is.
bool is_usable(const tw_stream_plan* plan) { return is_open(plan) && is_open(plan->comm); }

// The calls of an array, whose elements have the caller's size.
class Calls final : public SlotRuns {
 public:
  Calls(const tw_stream_call* first, std::uint32_t count) : first_(first), count_(count) {}

  // Whether all are sound as far as that can be seen without their plans.
  bool usable() const {
    for (std::uint32_t at = 0; at < count_; ++at) {
      const Taken<tw_stream_call> call(element(at));
      if (!call || element(at)->size != first_->size || call->reserved != 0 ||
          !is_usable(call->plan) || call->clears_workspace > 1 || call->clears_references > 1) {
        return false;
      }
    }
    return true;
  }

  std::uint32_t count() const override { return count_; }

  SlotRun run(std::uint32_t at) const override {
    const Taken<tw_stream_call> call(element(at));
    const SlotCall& planned = call->plan->plan->call();
    const SlotFactor factor{planned.premultiplied, planned.dtype, call->factor, call->factor_at};
    return {.plan = call->plan->plan.get(),
            .number = call->number,
            .send = bytes_at(call->send),
            .receive = bytes_at(call->receive),
            .lent = bytes_at(call->device),
            .kept = bytes_at(call->workspace),
            .clears = call->clears_workspace != 0,
            .mailbox = static_cast<Mailbox*>(call->mailbox),
            .record = bytes_at(call->record),
            .references = bytes_at(call->references),
            .forgets = call->clears_references != 0,
            .stream = static_cast<device::StreamHandle>(call->stream),
            .factor = factor};
  }

  SlotLink& link(std::uint32_t at) const override {
    return Taken<tw_stream_call>(element(at))->plan->comm->link;
  }

  Enqueuer& enqueuer(std::uint32_t at) const {
    return Taken<tw_stream_call>(element(at))->plan->comm->enqueuer;
  }

 private:
  const tw_stream_call* element(std::uint32_t at) const {
    const auto* const bytes = reinterpret_cast<const std::byte*>(first_);
    return reinterpret_cast<const tw_stream_call*>(bytes + std::size_t{at} * first_->size);
  }

  const tw_stream_call* first_;
  std::uint32_t count_;
};

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

namespace {

tw_status misused_calls(const char* what) {
  return misuse((std::string(what) + ": null pointer, no plan, one that is destroyed or whose "
                                     "communicator is, or a size or field that is not known")
                    .c_str());
}

tw_status two_enqueue() {
  return misuse("another thread enqueues on this communicator: one at a time may");
}

}  // namespace

tw_status tw_stream_enqueue(const tw_stream_call* calls, uint32_t count) {
  return guarded([&] {
    if (count == 0) return TW_OK;
    if (!has_size(calls)) return misused_calls("tw_stream_enqueue");
    const Calls runs(calls, count);
    if (!runs.usable()) return misused_calls("tw_stream_enqueue");
    const StreamTurns turns(runs);
    return turns ? report(enqueue_slots(runs)) : two_enqueue();
  });
}

tw_status tw_stream_enqueue_stage(const tw_stream_call* calls, uint32_t count, uint32_t stage,
                                  uint32_t* stages) {
  return guarded([&] {
    if (count == 0 || !has_size(calls) || stages == nullptr || stage > kMostExchanges) {
      return misused_calls("tw_stream_enqueue_stage");
    }
    const Calls runs(calls, count);
    if (!runs.usable()) return misused_calls("tw_stream_enqueue_stage");
    const StreamTurns turns(runs);
    if (!turns) return two_enqueue();
    int all = 0;
    const Status status = enqueue_slots(runs, static_cast<int>(stage), &all);
    *stages = static_cast<uint32_t>(all);
    return report(status);
  });
}

tw_status tw_stream_time(tw_stream_comm* comm, int32_t device, uint64_t* at, void* stream) {
  return guarded([&] {
    if (!is_open(comm) || at == nullptr) {
      return misuse("tw_stream_time: null pointer, or destroyed communicator");
    }
    return report(
        enqueue_time(*comm->link.transport, device, at, static_cast<device::StreamHandle>(stream)));
  });
}

tw_status tw_stream_check(const tw_stream_plan* plan, const void* record,
                          tw_stream_report* result) {
  return guarded([&] {
    if (!is_usable(plan) || record == nullptr || !has_size(result)) {
      return misuse(
          "tw_stream_check: null pointer, destroyed plan or communicator, or size not set");
    }
    const SlotReport own = check_record(*plan->plan, bytes_at(record));
    give(report_of(own), result);
    return report(own.complete ? own.status : plan->comm->link.transport->check());
  });
}
