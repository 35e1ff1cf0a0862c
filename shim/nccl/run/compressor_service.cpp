// The service thread's work for a communicator: mailboxes, reports.
#include <atomic>
#include <string>
#include <utility>

#include "native/refused.h"
#include "run/compressor.h"
#include "state/reason.h"
#include "state/settings.h"

namespace thinwire::nccl {
namespace {

// Numbers of calls stay far below; above them is how often a graph's block was spilled before.
constexpr unsigned kCallBits = 40;

agree::Block block_of(const tw_mailbox_chunk& chunk, int from, std::uint64_t before) {
  return {.from = from,
          .of_pair = (chunk.call & 1) != 0,
          .call = (chunk.call >> 1) | before << kCallBits,
          .number = static_cast<std::uint32_t>(chunk.block)};
}

tw_mailbox_chunk chunk_of(const void* mailbox, decltype(&tw_mailbox_offered) look) {
  tw_mailbox_chunk chunk{};
  chunk.size = sizeof chunk;
  look(mailbox, &chunk);
  return chunk;
}

// A sample encode sees NCCL's sums. Those of values that a codec has changed are rougher than
// these, by one or two of the codec's steps: so much more of 512 is two bits of 32. What is too
// much is given back by what calls need.
constexpr std::uint32_t kRougher = 32;

// Bytes that a call spills, times the ranks that get them, from which on it is much: 8 ms at 1
// Gbit/s, as long as the longest calls of a training step.
constexpr std::uint64_t kMuchSpilled = 1 << 20;

ncclResult_t as_nccl(tw_status status) {
  return status == TW_DAMAGED ? ncclInternalError : ncclRemoteError;
}

void add(std::atomic<std::uint64_t>& to, std::uint64_t more) {
  to.fetch_add(more, std::memory_order_relaxed);
}

}  // namespace

bool Compressor::serve() {
  {
    const std::lock_guard lock(stream_memories_mutex_);
    for (std::size_t at = served_.size(); at < stream_memories_.size(); ++at) {
      served_.push_back(stream_memories_[at].get());
    }
  }
  bool moved = false;
  for (StreamMemory* const each : served_) {
    if (void* const mailbox = each->mailbox()) moved = serve(*each, mailbox) || moved;
  }
  return moved;
}

bool Compressor::serve(StreamMemory& stream_memory, void* mailbox) {
  bool moved = false;
  const auto before = [&](const Replays::Name& name) {
    return stream_memory.is_of_graph ? stream_memory.replays.before(name) : 0;
  };
  const auto finish = [&](const Replays::Name& name, const tw_mailbox_chunk& chunk) {
    const bool whole = chunk.offset + chunk.bytes == chunk.block_bytes;
    if (stream_memory.is_of_graph && whole) stream_memory.replays.finish(name);
  };
  if (const auto chunk = chunk_of(mailbox, tw_mailbox_offered); chunk.bytes > 0) {
    const int to = chunk.rank < 0 ? agree::kToAll : chunk.rank;
    if (chunk.offset == 0) note_spilled(stream_memory, chunk);
    const Replays::Name name{chunk.call, chunk.block, to, true};
    agreed_->give(block_of(chunk, rank_, before(name)), to, chunk.block_bytes,
                  {static_cast<const std::byte*>(chunk.data), chunk.bytes});
    finish(name, chunk);
    tw_mailbox_taken(mailbox);
    moved = true;
  }
  if (const auto chunk = chunk_of(mailbox, tw_mailbox_wanted); chunk.bytes > 0) {
    auto* const to = static_cast<std::byte*>(chunk.data);
    const Replays::Name name{chunk.call, chunk.block, chunk.rank, false};
    const agree::Taken taken =
        agreed_->take(block_of(chunk, chunk.rank, before(name)),
                      {to + stream_memory.given, chunk.bytes - stream_memory.given});
    stream_memory.given += taken.bytes;
    moved = moved || taken.bytes > 0;
    if (stream_memory.given == chunk.bytes) {
      stream_memory.given = 0;
      finish(name, chunk);
      tw_mailbox_given(mailbox);
    } else if (taken.bytes == 0 && taken.outcome != agree::Outcome::kKnown) {
      // Before the stream goes on without it: who waits for the stream and asks then has to see it.
      note_failure(ncclRemoteError, "a block that did not fit its slot will not come");
      tw_mailbox_abort(mailbox);
    }
    taken.bytes > 0 ? stream_memory.late.came() : stream_memory.late.missed(chunk.rank);
  }
  return moved;
}

void Compressor::note_spilled(StreamMemory& stream_memory, const tw_mailbox_chunk& chunk) const {
  Spilling& spilling = stream_memory.spilling;
  if (spilling.call != chunk.call) spilling = {.call = chunk.call};
  const std::uint64_t before = spilling.bytes;
  const int receivers = chunk.rank < 0 ? ranks_ - 1 : 1;
  spilling.bytes += chunk.block_bytes * static_cast<std::uint64_t>(receivers);
  spilling.is_to_all = chunk.rank < 0;
  if (before < kMuchSpilled && spilling.bytes >= kMuchSpilled) spilling.is_news = true;
}

void Compressor::report_spilling(StreamMemory& stream_memory) {
  if (!std::exchange(stream_memory.spilling.is_news, false)) return;
  for (const InFlight* each = stream_memory.first(); each != nullptr; each = each->next) {
    const bool is_it = each->plan != nullptr && !each->is_sample && !each->is_receive &&
                       each->number == stream_memory.spilling.call;
    if (!is_it) continue;
    // The second exchange of an Allreduce tells all the same.
    Kind* const of = each->of[stream_memory.spilling.is_to_all && each->of[1] != nullptr ? 1 : 0];
    if (of != nullptr) of->spills();
    return;
  }
}

bool Compressor::reap() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return true;
  bool busy = false;
  for (const auto& each : stream_memories_) {
    if (each->is_of_graph) {
      busy = reap_captured(*each) || busy;
      continue;
    }
    report_spilling(*each);
    while (InFlight* const in_flight = each->first()) {
      if (!has_landed(*in_flight)) {
        busy = true;
        break;
      }
      each->pop();
      in_flight_pool_.give_back(in_flight);
    }
    if (each->failed == nullptr || !has_ended(*each->failed)) continue;
    drop_in_flight(*each);
    in_flight_pool_.give_back(std::exchange(each->failed, nullptr));
  }
  if (busy && !(is_lost_ && ended_)) return true;
  if (ended_ && !released_ && (is_gone_ || !failed_)) release();
  listed = false;
  return false;
}

namespace {

// A few blocks at the time of a change are no reason to capture again.
constexpr std::uint64_t kManyAtReplays = 32;

void note_spilled_at_replay(Counters& counters) {
  add(counters.spilled_at_replays, 1);
  static std::atomic<bool> said{false};
  if (counters.spilled_at_replays < kManyAtReplays || said.exchange(true)) return;
  tw_log(TW_LOG_WARNING,
         "blocks of NCCL calls in a CUDA graph do not fit the slots any more that they had at its "
         "capture, and go by the hosts, which is slow: capture the graph again "
         "(spilled_at_replays in the report counts them)");
}

}  // namespace

// Looks at some of the thousands of calls that a graph may have each time: what a replay has met
// with comes late, but it comes.
bool Compressor::reap_captured(StreamMemory& stream_memory) {
  if (stream_memory.capture == 0) return false;
  for (const Replays::Name& each : stream_memory.replays.take_finished()) {
    const bool of_pair = (each.call & 1) != 0;
    InFlight* of = stream_memory.first();
    const auto is_it = [&] {
      return of->number == each.call && !(of_pair && of->is_receive == each.outgoing);
    };
    while (of != nullptr && !is_it()) of = of->next;
    if (of == nullptr) continue;
    Counters& counters = *of->counters;
    add(each.outgoing ? counters.spilled_blocks : counters.spilled_blocks_received, 1);
    if (each.outgoing) note_spilled_at_replay(counters);
  }
  constexpr int kAtOnce = 32;
  for (int looked = 0; looked < kAtOnce; ++looked) {
    const InFlight* const in_flight = stream_memory.next_to_look_at();
    if (in_flight == nullptr) break;
    tw_stream_report report{};
    report.size = sizeof report;
    const tw_status status = tw_stream_check(in_flight->plan->handle, in_flight->record, &report);
    if (status != TW_OK) note_failure(status);
    if (in_flight->next == nullptr) break;
  }
  if (!stream_memory.graph_has_ended) return true;
  while (stream_memory.first() != nullptr) {
    InFlight* const in_flight = stream_memory.pop();
    in_flight->plan->users.fetch_sub(1, std::memory_order_release);
    in_flight_pool_.give_back(in_flight);
  }
  // Another graph may get it; its blocks have other calls' numbers.
  stream_memory.release_all();
  stream_memory.capture = 0;
  return false;
}

bool Compressor::has_landed(InFlight& in_flight) {
  if (in_flight.plan == nullptr) return has_ended(in_flight);
  tw_stream_report report{};
  report.size = sizeof report;
  const tw_status status = tw_stream_check(in_flight.plan->handle, in_flight.record, &report);
  if (report.complete == 0) return false;
  take_report(in_flight, status, report);
  in_flight.plan->users.fetch_sub(1, std::memory_order_release);
  return true;
}

void Compressor::say_failed(std::string why) const {
  // Blocks that failed then are not the cause.
  const agree::Membership membership = agreed_->membership();
  if (membership.state == agree::State::kBroken) why = membership.text;
  tw_log(TW_LOG_ERROR, ("a compressed call of NCCL has failed: " + why).c_str());
}

void Compressor::note_failure(tw_status status) { note_failure(as_nccl(status), tw_last_error()); }

void Compressor::note_failure(ncclResult_t failure, const char* why) {
  ncclResult_t none = ncclSuccess;
  const bool first = error_.compare_exchange_strong(none, failure);
  if (first && !aborted_) say_failed(why);
}

void Compressor::take_report(InFlight& in_flight, tw_status status,
                             const tw_stream_report& report) {
  if (status != TW_OK) return note_failure(status);
  for (const int exchange : {0, 1}) {
    Kind* const of = in_flight.of[exchange];
    if (of == nullptr || !(in_flight.is_sample || report.encoded > 0)) continue;
    const bool exact_sum = in_flight.is_sample && exchange == 1 && in_flight.sizes_follow_error;
    of->measured(report.needed[exchange] + (exact_sum ? kRougher : 0), in_flight.again,
                 in_flight.dtype);
  }
  Counters& counters = *in_flight.counters;
  if (in_flight.is_sample) return add(counters.sample_encodes, 1);
  add(counters.frames, report.encoded - report.spilled_out);
  add(counters.difference_bytes, report.difference_bytes);
  add(counters.spilled_blocks, report.spilled_out);
  add(counters.spilled_blocks_received, report.spilled_in);
}

void Compressor::lose_service() {
  set_error(ncclSystemError);
  allowed([&] { abort(); });
}

}  // namespace thinwire::nccl
