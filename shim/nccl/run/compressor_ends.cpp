// How a communicator's compressed calls end: by a failure, and with the communicator.
#include <atomic>
#include <utility>

#include "native/refused.h"
#include "run/compressor.h"
#include "run/memory.h"
#include "run/service.h"
#include "state/communicators.h"
#include "state/settings.h"

namespace thinwire::nccl {
namespace {

// Whether nobody refers to one that its program has ended in order: neither what its streams have,
// nor the service thread. One that was aborted or has failed is kept: threads may still be in it.
bool is_free(const Communicator& ended) {
  if (!ended.is_let_go || ended.revoked || ended.out_of_step || ended.is_unfinished) return false;
  const Compressor* const compressor = ended.compressor.load(std::memory_order_acquire);
  return compressor == nullptr || compressor->is_free();
}

}  // namespace

// NCCL may still put work of a communicator that does not block on the stream.
void Compressor::fail(const Call& call) {
  failed_ = true;
  bool is_known = false;
  if (blocks_ && !call.is_captured()) allowed([&] { is_known = marks_failure(call); });
  if (!is_known) lose();
}

bool Compressor::marks_failure(const Call& call) {
  StreamMemory& stream_memory = memory_for(call.stream, kNoGroup, false);
  if (stream_memory.idle() || stream_memory.failed != nullptr) return true;
  stream_memory.failed = take_clock(nullptr);
  look_after(*this);
  return stream_memory.failed != nullptr && enqueue_time(call, stream_memory.failed, 1);
}

void Compressor::drop_in_flight(StreamMemory& stream_memory) {
  while (stream_memory.first() != nullptr) {
    InFlight* const in_flight = stream_memory.pop();
    if (in_flight->plan != nullptr) in_flight->plan->users.fetch_sub(1, std::memory_order_release);
    InFlight* const before = std::exchange(in_flight->after, nullptr);
    if (before != nullptr) in_flight_pool_.give_back(before);
    in_flight_pool_.give_back(in_flight);
  }
}

// First what needs no memory.
void Compressor::abort() {
  abort_mailboxes();
  agreed_->abort();
}

void Compressor::revoke() {
  abort_mailboxes();
  agreed_->revoke();
}

void Compressor::abort_mailboxes() {
  const std::lock_guard lock(stream_memories_mutex_);
  aborted_ = true;
  for (const auto& each : stream_memories_) tw_mailbox_abort(each->mailbox());
}

void Compressor::end(bool is_gone) {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  is_gone_ = is_gone_ || is_gone;
}

// After an abort the thread that makes the calls may be in decide().
void Compressor::release() {
  released_ = true;
  agreed_->close();
  if (!is_lost_) give_back();
  is_over_.store(true, std::memory_order_release);
}

void Compressor::give_back() {
  if (!aborted_) {
    plans_.clear();
    tw_stream_comm_destroy(stream_comm_);
  }
  const std::lock_guard lock(stream_memories_mutex_);  // an abort may come now
  for (const auto& each : stream_memories_) each->release_all();
  if (last_end_ != nullptr) in_flight_pool_.give_back(std::exchange(last_end_, nullptr));
  in_flight_pool_.release_all();
  if (references_ == nullptr) return;
  held_.give(settings().references);
  give_working(std::exchange(references_, nullptr));
}

void let_go(Communicator& ended) {
  for (Communicator* const each : note_let_go(ended, is_free)) {
    delete each->compressor.load();
    delete each;
  }
}

// The numbers of a communicator's calls: by them ranks agree which calls are coded.

Track& Compressor::track_of(const Call& call) {
  if (call.is_of_all_pairs()) connected_.note_messages_with_all();
  if (!call.is_message()) return collectives_;
  const bool outgoing = call.operation == kSend;
  const auto found = messages_.find({call.peer, outgoing});
  if (found != messages_.end()) return found->second;
  connected_.note_message(call.peer, outgoing);
  agree::Channel& channel = outgoing ? agreed_->to(call.peer) : agreed_->from(call.peer);
  return messages_.try_emplace({call.peer, outgoing}, channel).first->second;
}

CallNumber Compressor::number_of(const Call& call) {
  Track& track = track_of(call);
  return {this, &track, track.next()};
}

void Compressor::confirm(const CallNumber& made) { made.track->confirm(); }

}  // namespace thinwire::nccl
