#include <string>

#include "capi/boundary.h"
#include "capi/convert.h"
#include "capi/handles.h"
#include "capi/stream_handles.h"
#include "capi/stream_transports.h"
#include "collective/slots/enqueue.h"

using namespace thinwire;
using namespace thinwire::capi;
using namespace thinwire::collective;

namespace {

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
