// Memory, a thread, and connections that kinds need before ranks agree to code their calls.
#include <algorithm>
#include <atomic>
#include <bit>
#include <string>

#include "base/dtype.h"
#include "native/cuda.h"
#include "run/compressor.h"
#include "run/memory.h"
#include "run/prediction.h"
#include "run/service.h"
#include "state/reason.h"
#include "state/settings.h"

namespace thinwire::nccl {
namespace {

// More than what ranks say of a block and its reference takes, of each.
constexpr std::uint64_t kSaid = 1024;

// Bytes of the GPU's memory that stay the program's: a step of training takes and gives back as
// much.
constexpr std::uint64_t kLeftFree = 512 << 20;

// False for a gather in one level: NCCL's own collective moves its slots.
bool exchanges_messages(const Call& call, const Plan& plan) {
  const bool gathers = plan.info.way == TW_STREAM_GATHER && call.operation != kReduce;
  return plan.info.in_levels != 0 || (call.reduces() && !gathers);
}

Exchange exchange_of(const Call& call, const Plan& plan) {
  const bool in_levels = plan.info.in_levels != 0;
  return {.in_levels = in_levels,
          .root = in_levels && call.operation == kReduce ? call.peer : -1,
          .of_ranks = call.operation == kAllGather || call.operation == kReduceScatter};
}

void say_short(std::uint64_t free, std::uint64_t own, const Connections& missing) {
  const auto mebibytes = [](std::uint64_t bytes) {
    return std::to_string((bytes + 0xFFFFF) >> 20);
  };
  std::string text =
      "calls of NCCL stay raw for want of GPU memory: " + std::to_string(free >> 20) +
      " MiB are free, and compressing them takes " + mebibytes(own);
  if (!missing.ranks.empty()) {
    text += " and, as NCCL connects with " + std::to_string(missing.ranks.size()) +
            " ranks more, up to " + mebibytes(missing.bytes);
  }
  text += "; " + mebibytes(kLeftFree) + " are left to the program";
  tw_log(TW_LOG_WARNING, text.c_str());
}

// The bytes of the largest call of its kind.
std::uint64_t most_bytes(const Call& call) {
  return std::bit_ceil(call.elements * element_bytes(call.type) + 1) - 1;
}

}  // namespace

int Compressor::largest_needs(const Call& call, PlanKey& key, Working& needs) {
  const std::uint64_t size = dtype_size(static_cast<Dtype>(key.dtype));
  key.count = most_bytes(call) / size;
  // Whole slots of what is added in the order of the ranks would be none.
  key.capacity[0] = key.capacity[1] = settings().codecs[key.codec].orders ? 511 : 512;
  tw_status why = TW_OK;
  Plan* const plan = plans_.take(stream_comm_, key, &why);
  if (plan == nullptr) {
    return is_of_memory(why) ? int{TW_RAW_NO_MEMORY} : reason_without_plan(call.reduces(), why);
  }
  plan->users.fetch_sub(1);
  std::uint64_t device_bytes = plan->info.device_bytes;
  // If the largest call has no room among results, smaller ones may have.
  if (key.reference_bytes > 0 && plan->info.has_references == 0) {
    device_bytes += key.count * size + kSaid * static_cast<std::uint64_t>(ranks_ + 2);
  }
  needs.device_bytes = std::max(needs.device_bytes, device_bytes);
  needs.workspace_bytes = std::max(needs.workspace_bytes, plan->info.workspace_bytes);
  return 0;
}

// Finds what the largest call of the kind lacks here, so that the ranks must not agree to code it.
// Returns a veto; 0: it lacks nothing.
int Compressor::lacks(const Call& call, PlanKey key, const Decision& made) {
  if (unable_ != TW_OK) return TW_RAW_NO_MEMORY;
  if (!start_service()) return kNoThread;
  key.reference_bytes = reference_bytes_of(call, made.codec);
  Working needs;
  const int veto = call.operation == kRecv ? largest_needs_of_any_type(call, needs)
                                           : largest_needs(call, key, needs);
  if (veto != 0) return veto;
  made.of[0]->set_working(needs);
  tw_status why = TW_OK;
  Plan* const plan = call.is_message() ? nullptr : plans_.take(stream_comm_, key, &why);
  Connections missing;
  if (plan != nullptr) {
    plan->users.fetch_sub(1);
    missing = missing_connections(call, *plan);
  }
  if (const int why = why_not_tried(call, most_bytes(call), plan, settings().codecs[made.codec],
                                    hosts_, rank_, ranks_)) {
    return why;
  }
  if (missing.ranks.size() > settings().most_connected) return kManyConnections;
  StreamMemory& stream_memory = memory_for(call.stream, kNoGroup);
  const bool refers = key.reference_bytes > 0;
  const std::uint64_t kept = refers && references_ == nullptr ? settings().references : 0;
  if (!has_room(stream_memory.missing(0, needs) + kept, missing)) return TW_RAW_NO_MEMORY;
  if (!stream_memory.reserve(0, needs) || open_mailbox(stream_memory) == nullptr)
    return TW_RAW_NO_MEMORY;
  return refers && references() == nullptr ? int{TW_RAW_NO_MEMORY} : 0;
}

bool Compressor::reserve(const Call& call, const PlanKey& key, const Decision& made) {
  const std::lock_guard lock(mutex_);
  if (failed_ || ended_) return false;
  const int veto = lacks(call, key, made);
  if (veto == 0) has_reserved_ = true;
  for (Kind* const of : made.of) {
    if (of == nullptr) continue;
    veto == 0 ? of->lift_veto() : of->veto(static_cast<std::uint16_t>(veto));
  }
  return veto == 0;
}

// Whether the kind is raw for this rank's want of memory or of a thread, and it is time to see if
// that has ended.
bool Compressor::looks_for_memory(const Decision& made) {
  bool looks = false;
  for (Kind* const of : made.of) looks = (of != nullptr && of->looks_for_memory()) || looks;
  if (!looks) return false;
  most_reserved_ = 0;  // groups ask again, too
  const std::lock_guard lock(mutex_);
  for (Kind* const of : made.of) {
    if (of != nullptr) of->suspend_veto();
  }
  return true;
}

void Compressor::note_left_to_nccl(const Call& call, const Decision& made) {
  const bool leaves = call.left_to_nccl != 0;
  for (Kind* const of : made.of) {
    if (of == nullptr || (!leaves && !of->needs_no_leaving())) continue;
    const std::lock_guard lock(mutex_);
    leaves ? of->leave_to_nccl(static_cast<std::uint16_t>(call.left_to_nccl)) : of->come_back();
  }
}

bool Compressor::is_left_to_nccl(const Call& call, Decision& made) {
  const Kind& of = *made.of[0];
  if (call.left_to_nccl == 0 && !of.is_left_to_nccl()) return false;
  if (state_ == agree::State::kForming) state_ = agreed_->membership().state;
  if (state_ != agree::State::kReady) return false;
  know_nodes();
  if (!stays_inside(call)) note_left_to_nccl(call, made);
  if (call.left_to_nccl != 0) made.reason = call.left_to_nccl;
  return call.left_to_nccl != 0 || of.is_left_to_nccl();
}

Connections Compressor::missing_connections(const Call& call, const Plan& plan) const {
  if (!exchanges_messages(call, plan)) return {};
  return connected_.missing(hosts_, exchange_of(call, plan));
}

void Compressor::note_connections(const Call& call, const Plan& plan) {
  const Exchange with = exchange_of(call, plan);
  if (call.is_message() || connected_.are_made(with) || !exchanges_messages(call, plan)) return;
  const Connections missing = connected_.missing(hosts_, with);
  connected_.add(missing, with);
  connected_ranks_ += static_cast<int>(missing.ranks.size());
  connected_bytes_ += missing.bytes;
}

bool Compressor::has_room(std::uint64_t own, const Connections& missing) const {
  const std::uint64_t wanted = own + missing.bytes;
  if (wanted == 0) return true;
  const std::uint64_t free = free_bytes_of_gpu(device_);
  if (free >= wanted && free - wanted >= kLeftFree) return true;
  static std::atomic<bool> said{false};
  if (!said.exchange(true)) say_short(free, own, missing);
  return false;
}

// Between a sample encode and the first compressed call the program may have taken what was free
// then.
void Compressor::look_for_room_again(const Call& call, const PlanKey& key, const Decision& made) {
  const std::lock_guard lock(mutex_);
  if (failed_ || ended_ || connected_.are_made({})) return;
  tw_status why = TW_OK;
  Plan* const plan = plans_.take(stream_comm_, key, &why);
  if (plan == nullptr) return;
  plan->users.fetch_sub(1);
  if (has_room(0, missing_connections(call, *plan))) return;
  for (Kind* const of : made.of) {
    if (of != nullptr) of->veto(TW_RAW_NO_MEMORY);
  }
}

void* Compressor::references() {
  if (references_ != nullptr) return references_;
  references_ = take_exactly(device_, settings().references);
  if (references_ != nullptr) held_.take(settings().references);
  return references_;
}

void Compressor::reserve_together(std::span<const Grouped> calls) {
  const std::lock_guard lock(mutex_);
  if (failed_ || ended_) return;
  bool all_tried = true;
  std::uint64_t workspace = 0;
  for (const Grouped& each : calls) {
    all_tried = all_tried && !each.of->is_untried();
    workspace = std::max(workspace, each.of->working().workspace_bytes);
  }
  // Each of the streams gets memory of its own.
  const std::uint64_t group = kReservation | ++reservations_;
  std::size_t place = 0;
  for (std::size_t at = 0; at < calls.size(); ++at) {
    place = at > 0 && calls[at].stream == calls[at - 1].stream ? place + 1 : 0;
    Working needs = calls[at].of->working();
    if (needs.is_none()) continue;
    // Places go by the other memory, in calls that are no larger than these.
    needs.workspace_bytes = workspace;
    StreamMemory& stream_memory = memory_for(calls[at].stream, group);
    stream_memory.group = group;
    const bool has =
        has_room(stream_memory.missing(place, needs), {}) && stream_memory.reserve(place, needs);
    if (!has) calls[at].of->veto(TW_RAW_NO_MEMORY);
  }
  if (all_tried) most_reserved_ = std::max(most_reserved_, calls.size());
}

}  // namespace thinwire::nccl
