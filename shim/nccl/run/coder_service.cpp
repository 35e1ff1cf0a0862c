// The service thread's work for a communicator: mailboxes, reports.
#include <atomic>
#include <string>
#include <utility>

#include "native/refused.h"
#include "run/coder.h"
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

bool Coder::serve() {
  {
    const std::lock_guard lock(lent_mutex_);
    for (std::size_t at = served_.size(); at < lent_.size(); ++at) {
      served_.push_back(lent_[at].get());
    }
  }
  bool moved = false;
  for (Lent* const each : served_) {
    if (void* const mailbox = each->mailbox()) moved = serve(*each, mailbox) || moved;
  }
  return moved;
}

bool Coder::serve(Lent& lent, void* mailbox) {
  bool moved = false;
  const auto before = [&](const Replays::Name& name) {
    return lent.is_of_graph ? lent.replays.before(name) : 0;
  };
  const auto finish = [&](const Replays::Name& name, const tw_mailbox_chunk& chunk) {
    const bool whole = chunk.offset + chunk.bytes == chunk.block_bytes;
    if (lent.is_of_graph && whole) lent.replays.finish(name);
  };
  if (const auto chunk = chunk_of(mailbox, tw_mailbox_offered); chunk.bytes > 0) {
    const int to = chunk.rank < 0 ? agree::kToAll : chunk.rank;
    if (chunk.offset == 0) note_spilled(lent, chunk);
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
    const agree::Taken taken = agreed_->take(block_of(chunk, chunk.rank, before(name)),
                                             {to + lent.given, chunk.bytes - lent.given});
    lent.given += taken.bytes;
    moved = moved || taken.bytes > 0;
    if (lent.given == chunk.bytes) {
      lent.given = 0;
      finish(name, chunk);
      tw_mailbox_given(mailbox);
    } else if (taken.bytes == 0 && taken.outcome != agree::Outcome::kKnown) {
      // Before the stream goes on without it: who waits for the stream and asks then has to see it.
      note_failure(ncclRemoteError, "a block that did not fit its slot will not come");
      tw_mailbox_abort(mailbox);
    }
    taken.bytes > 0 ? lent.late.came() : lent.late.missed(chunk.rank);
  }
  return moved;
}

void Coder::note_spilled(Lent& lent, const tw_mailbox_chunk& chunk) const {
  Spilling& spilling = lent.spilling;
  if (spilling.call != chunk.call) spilling = {.call = chunk.call};
  const std::uint64_t before = spilling.bytes;
  const int receivers = chunk.rank < 0 ? ranks_ - 1 : 1;
  spilling.bytes += chunk.block_bytes * static_cast<std::uint64_t>(receivers);
  spilling.is_to_all = chunk.rank < 0;
  if (before < kMuchSpilled && spilling.bytes >= kMuchSpilled) spilling.is_news = true;
}

void Coder::report_spilling(Lent& lent) {
  if (!std::exchange(lent.spilling.is_news, false)) return;
  for (const Flight* each = lent.first(); each != nullptr; each = each->next) {
    const bool is_it = each->plan != nullptr && !each->is_sample && !each->is_receive &&
                       each->number == lent.spilling.call;
    if (!is_it) continue;
    // The second exchange of an Allreduce tells all the same.
    Kind* const of = each->of[lent.spilling.is_to_all && each->of[1] != nullptr ? 1 : 0];
    if (of != nullptr) of->spills();
    return;
  }
}

bool Coder::reap() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return true;
  bool busy = false;
  for (const auto& each : lent_) {
    if (each->is_of_graph) {
      busy = reap_captured(*each) || busy;
      continue;
    }
    report_spilling(*each);
    while (Flight* const flight = each->first()) {
      if (!has_landed(*flight)) {
        busy = true;
        break;
      }
      each->pop();
      flights_.give_back(flight);
    }
    if (each->failed == nullptr || !has_ended(*each->failed)) continue;
    drop_flights(*each);
    flights_.give_back(std::exchange(each->failed, nullptr));
  }
  if (busy && !(is_lost_ && ended_)) return true;
  if (ended_ && !released_ && (is_gone_ || !failed_)) release();
  listed = false;
  return false;
}

// Looks at some of the thousands of calls that a graph may have each time: what a replay has met
// with comes late, but it comes.
bool Coder::reap_captured(Lent& lent) {
  if (lent.capture == 0) return false;
  for (const Replays::Name& each : lent.replays.take_finished()) {
    const bool of_pair = (each.call & 1) != 0;
    Flight* of = lent.first();
    const auto is_it = [&] {
      return of->number == each.call && !(of_pair && of->is_receive == each.outgoing);
    };
    while (of != nullptr && !is_it()) of = of->next;
    if (of == nullptr) continue;
    Counters& counters = *of->counters;
    add(each.outgoing ? counters.spilled_blocks : counters.spilled_blocks_received, 1);
  }
  constexpr int kAtOnce = 32;
  for (int looked = 0; looked < kAtOnce; ++looked) {
    const Flight* const flight = lent.next_to_look_at();
    if (flight == nullptr) break;
    tw_stream_report report{};
    report.size = sizeof report;
    const tw_status status = tw_stream_check(flight->plan->handle, flight->record, &report);
    if (status != TW_OK) note_failure(status);
    if (flight->next == nullptr) break;
  }
  if (!lent.graph_has_ended) return true;
  while (lent.first() != nullptr) {
    Flight* const flight = lent.pop();
    flight->plan->users.fetch_sub(1, std::memory_order_release);
    flights_.give_back(flight);
  }
  // Another graph may get it; its blocks have other calls' numbers.
  lent.release_all();
  lent.capture = 0;
  return false;
}

bool Coder::has_landed(Flight& flight) {
  if (flight.plan == nullptr) return has_ended(flight);
  tw_stream_report report{};
  report.size = sizeof report;
  const tw_status status = tw_stream_check(flight.plan->handle, flight.record, &report);
  if (report.complete == 0) return false;
  take_report(flight, status, report);
  flight.plan->users.fetch_sub(1, std::memory_order_release);
  return true;
}

void Coder::say_failed(std::string why) const {
  // Blocks that failed then are not the cause.
  const agree::Presence presence = agreed_->presence();
  if (presence.state == agree::State::kBroken) why = presence.text;
  tw_log(TW_LOG_ERROR, ("a compressed call of NCCL has failed: " + why).c_str());
}

void Coder::note_failure(tw_status status) { note_failure(as_nccl(status), tw_last_error()); }

void Coder::note_failure(ncclResult_t failure, const char* why) {
  ncclResult_t none = ncclSuccess;
  const bool first = error_.compare_exchange_strong(none, failure);
  if (first && !aborted_) say_failed(why);
}

void Coder::take_report(Flight& flight, tw_status status, const tw_stream_report& report) {
  if (status != TW_OK) return note_failure(status);
  for (const int exchange : {0, 1}) {
    Kind* const of = flight.of[exchange];
    if (of == nullptr || !(flight.is_sample || report.encoded > 0)) continue;
    const bool exact_sum = flight.is_sample && exchange == 1 && flight.sizes_follow_error;
    of->measured(report.needed[exchange] + (exact_sum ? kRougher : 0), flight.again, flight.dtype);
  }
  Counters& counters = *flight.counters;
  if (flight.is_sample) return add(counters.trials, 1);
  add(counters.frames, report.encoded - report.spilled_out);
  add(counters.difference_bytes, report.difference_bytes);
  add(counters.spilled_blocks, report.spilled_out);
  add(counters.spilled_blocks_received, report.spilled_in);
}

void Coder::lose_service() {
  set_error(ncclSystemError);
  allowed([&] { abort(); });
}

}  // namespace thinwire::nccl
