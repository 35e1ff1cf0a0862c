// Lends a call what it works in: the memory and mailbox of its stream or graph, and the record that
// the stream writes.
#include <atomic>
#include <utility>

#include "native/cuda.h"
#include "run/compressor.h"
#include "run/memory.h"
#include "state/reason.h"
#include "state/settings.h"

namespace thinwire::nccl {

StreamMemory& Compressor::memory_for(cudaStream_t stream, std::uint64_t group, bool works) {
  const std::uint64_t identity = identity_of(stream);
  StreamMemory* idle = nullptr;
  for (const auto& each : stream_memories_) {
    if (each->is_of_graph) continue;
    if (each->stream == identity) return *each;
    const std::uint64_t reserved = each->reserved_bytes();
    const bool serves = each->idle() && each->group != group && (works || reserved == 0);
    if (serves && (idle == nullptr || reserved > idle->reserved_bytes())) idle = each.get();
  }
  // Programs may make streams as they go.
  StreamMemory& found = idle != nullptr ? *idle : add_stream_memory();
  found.stream = identity;
  return found;
}

StreamMemory& Compressor::add_stream_memory() {
  const std::lock_guard lock(stream_memories_mutex_);
  stream_memories_.push_back(std::make_unique<StreamMemory>(device_, held_));
  return *stream_memories_.back();
}

// Calls on one stream follow each other in a graph as they do without, so they may share memory.
StreamMemory* Compressor::memory_for_graph(const Call& call) {
  const std::uint64_t handle = reinterpret_cast<std::uintptr_t>(call.stream);
  StreamMemory* idle = nullptr;
  for (const auto& each : stream_memories_) {
    if (!each->is_of_graph) continue;
    if (each->capture == call.capture.id && each->stream == handle) return each.get();
    if (each->capture == 0) idle = each.get();
  }
  if (idle == nullptr) {
    idle = &add_stream_memory();
    idle->is_of_graph = true;
  }
  idle->graph_has_ended = false;
  const auto release = [](void* stream_memory) {
    static_cast<StreamMemory*>(stream_memory)->graph_has_ended = true;
  };
  if (!keep_with_graph(call.capture, release, idle)) return nullptr;
  idle->stream = handle;
  idle->capture = call.capture.id;
  return idle;
}

void* Compressor::open_mailbox(StreamMemory& stream_memory) {
  // Not under the list's mutex, which the service thread takes: it may pin memory. An abort either
  // finds the mailbox or is seen here.
  void* const mailbox = stream_memory.open_mailbox();
  if (mailbox != nullptr && aborted_) tw_mailbox_abort(mailbox);
  return mailbox;
}

Where Compressor::lend(StreamMemory& stream_memory, const tw_stream_plan_info& needs,
                       tw_stream_call* made) {
  if (needs.device_bytes == 0) return Where::kOnDevice;
  return stream_memory.lend(stream_memory.places++, {needs.device_bytes, needs.workspace_bytes},
                            made);
}

// All ranks have agreed on this call, which is slow; on later ones they can agree anew.
void Compressor::leave_device(const Decision& decision) {
  for (Kind* const of : decision.of) {
    if (of != nullptr) of->veto(TW_RAW_NO_MEMORY);
  }
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  tw_log(TW_LOG_WARNING,
         "a compressed call of NCCL found no memory on its GPU and works in the host's, which is "
         "slow; calls like it will not be compressed any more");
}

InFlight* Compressor::prepare(const Call& call, const Decision& decision, Part part,
                              std::uint64_t group, Counters* counters, tw_stream_call* made) {
  Plan* const plan = part == Part::kResultSample ? decision.result_sample : decision.plan;
  if (failed_ || ended_) {
    plan->users.fetch_sub(1);
    return nullptr;
  }
  StreamMemory* const found =
      call.is_captured() ? memory_for_graph(call) : &memory_for(call.stream, group);
  if (found == nullptr) {
    plan->users.fetch_sub(1);
    return nullptr;
  }
  StreamMemory& stream_memory = *found;
  if (stream_memory.group != group) {
    stream_memory.group = group;
    stream_memory.places = 0;
  }
  const tw_stream_plan_info& needs = plan->info;
  *made = {};
  made->size = sizeof *made;
  void* const mailbox = needs.needs_mailbox == 0 ? nullptr : open_mailbox(stream_memory);
  const bool refers = needs.has_references != 0;
  const bool lacks =
      (needs.needs_mailbox != 0 && mailbox == nullptr) || (refers && references() == nullptr);
  InFlight* const in_flight = lacks ? nullptr : in_flight_pool_.take(needs.record_bytes);
  const Where where = in_flight == nullptr ? Where::kNowhere : lend(stream_memory, needs, made);
  if (where == Where::kNowhere) {
    if (in_flight != nullptr) in_flight_pool_.give_back(in_flight);
    plan->users.fetch_sub(1);
    if (part == Part::kCall) {
      tw_log(TW_LOG_ERROR, "neither the GPU nor the host has memory for a compressed call of NCCL");
    }
    return nullptr;
  }
  if (where == Where::kOnHost) leave_device(decision);
  in_flight->plan = plan;
  in_flight->of[0] = part == Part::kResultSample ? nullptr : decision.of[0];
  in_flight->of[1] = part == Part::kSample ? nullptr : decision.of[1];
  in_flight->is_sample = part != Part::kCall;
  in_flight->dtype = decision.dtype;
  in_flight->again = decision.again;
  in_flight->sizes_follow_error = settings().codecs[decision.codec].sizes_follow_error;
  in_flight->counters = counters;
  in_flight->number = decision.number;
  in_flight->is_receive = call.operation == kRecv;
  // The needs of replays are not looked at: their capacity stays as it is.
  if (call.is_captured()) in_flight->of[0] = in_flight->of[1] = nullptr;
  if (part == Part::kCall) note_connections(call, *plan);
  made->plan = plan->handle;
  made->number = decision.number;
  made->send = call.send;
  made->receive = call.receive;
  made->mailbox = mailbox;
  made->record = in_flight->record;
  made->stream = call.stream;
  if (refers) {
    made->references = references_;
    made->clears_references = std::exchange(has_referred_, true) ? 0 : 1;
  }
  if (call.factor) {
    made->factor = call.factor->number;
    made->factor_at = call.factor->at;
  }
  stream_memory.push(in_flight);
  return in_flight;
}

}  // namespace thinwire::nccl
