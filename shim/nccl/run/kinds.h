// Calls of one kind on one communicator: what has been measured of them, and what was offered to
// the other ranks.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agree/agree.h"
#include "choose/timing_round.h"
#include "run/needs.h"

namespace thinwire::nccl {

// How one call of a kind goes whose blocks would fit.
struct Turn {
  bool codes = true;
  std::uint16_t timing_round = 0;      // not 0: it is timed, in this one
  std::uint16_t calls = 0;             // that the timing round times of each way; 0: it is over
  choose::RoundTimes took{};           // what came of it then
  bool asks = false;                   // it is time for another timing round
  bool is_before_timed = false;        // the kind's next call is timed
  bool begins = false;                 // it is the first one of a timing round
  const agree::Value* news = nullptr;  // a decision that has not been seen before
};

// Memory that a call works in.
struct Working {
  std::uint64_t device_bytes = 0, workspace_bytes = 0;
  bool is_none() const { return device_bytes == 0 && workspace_bytes == 0; }
};

class Kind {
 public:
  // `guarded`: it is coded only if that is faster, as timed.
  Kind(agree::Channel& channel, std::uint64_t key, bool guarded)
      : channel_(&channel), key_(key), guarded_(guarded) {
    own_.asks = guarded ? 1 : 0;
  }

  bool is_joined() const { return agree::is_joined(key_); }
  agree::Answer value(std::uint64_t call) { return channel_->value(call, key_); }

  // ---- Of the host thread ----

  // Notes the type by which a sender calls its next message. is_of_one_type(): whether all so far
  // were called so, some of them at the least, or as many of the latest ones as lie between two
  // sample encodes of a kind that did not get smaller.
  void note_type(std::uint32_t dtype);
  bool is_of_one_type() const;
  // Whether this call, which goes raw for `reason`, is encoded beside to learn its size.
  bool wants_sample(std::uint16_t reason);

  // The way of a call with that value, which has a capacity; the same on all ranks, as each asks
  // for each of the calls that have one. `once`: what was decided is never asked for again.
  Turn turn(const agree::Value& value, bool once);
  // Sets whether the next call of this kind is timed; returns the old answer.
  bool waits(bool for_next) { return std::exchange(waits_, for_next); }
  // Undoes turn(): the last call was only simulated (ncclGroupSimulateEnd). A timing round that
  // began with it is undone too.
  void take_turn_back() {
    --turns_;
    while (!begun_.empty() && begun_.back().turn >= turns_) begun_.pop_back();
  }
  // Counts one call of the group that is ending. end_group(): the group has ended.
  void count_in_group() { ++grouped_; }
  void end_group();
  // Memory for the largest call, from the first sample encode on; none after it has to stay raw
  // here.
  Working working() const { return vetoed_ ? Working{} : working_; }
  // Sets what any of the messages, whose types may change, has taken.
  void set_working(const Working& working) {
    working_.device_bytes = std::max(working_.device_bytes, working.device_bytes);
    working_.workspace_bytes = std::max(working_.workspace_bytes, working.workspace_bytes);
  }
  // True if this rank looks for memory again now: it is the one for want of which the kind is raw,
  // and what it lacked may have been given back.
  bool looks_for_memory();
  // True for the first coded call of the kind.
  bool is_first_coded() { return !std::exchange(has_coded_, true); }
  bool is_untried() const { return !vetoed_ && working_.is_none(); }
  // A call comes that NCCL is to have as it is (run/call.h), or one that it need not have: true if
  // there have been so many of these since that the kind comes back.
  bool is_left_to_nccl() const { return left_; }
  bool needs_no_leaving() { return left_ && ++since_left_ >= kWhileRaw << came_back_; }
  // It has come back, and not been tried since.
  bool is_back() const { return own_.veto != 0 && !vetoed_; }

  // ---- Of whoever reports, one at a time ----

  // Notes what blocks needed in 512ths, as values of that type; `again`: the earlier ones count no
  // more, as the kind was raw.
  void measured(std::uint32_t needed, bool again, std::uint32_t dtype = 0);
  // A call spills blocks, so large that no other may: the kind goes raw at once.
  void spills();
  // Notes what a timed call took; 0: nobody knows.
  void timed(const Turn& turn, std::uint64_t nanoseconds);
  // Requests the timing round after `timing_round`.
  void ask(std::uint16_t timing_round);
  // Says that the kind has to stay raw here.
  void veto(std::uint16_t reason);
  // Says that NCCL is to have the kind's calls for that reason, whatever else keeps them raw; and
  // that it need not any more.
  void leave_to_nccl(std::uint16_t reason);
  void come_back();
  // There is memory again, of which it is taken; before that the veto is only out of the way.
  void suspend_veto();
  void lift_veto();
  // Whether the system refused to hand on the last offer, which is to be made again.
  bool owes_offer() const { return owes_offer_.load(std::memory_order_relaxed); }
  void offer();

 private:
  struct Begun {
    std::uint16_t timing_round;
    std::uint64_t turn;  // the first one
  };
  // Times of the last timing round that something was timed of.
  struct Seen {
    std::uint16_t timing_round = 0;
    std::uint32_t calls = 0;
    choose::RoundTally times{};
  };

  // Calls after which a kind that did not get smaller is tried again: data changes its nature
  // seldom.
  static constexpr std::uint64_t kWhileRaw = 256;
  // The same for one that had no memory: the first time, and then twice as many up to the most.
  static constexpr std::uint64_t kWhileShort = 1024, kMostShort = 1 << 16;

  std::uint64_t position_in(std::uint16_t timing_round);
  void take_need(std::optional<std::uint16_t> offered, std::uint32_t dtype);
  void watch(const Turn& turn, std::uint64_t nanoseconds);

  agree::Channel* channel_;
  std::uint64_t key_;
  bool guarded_;

  std::uint64_t messages_ = 0, alike_ = 0;  // and the latest ones of one type
  std::uint32_t dtype_ = 0;
  std::uint64_t raw_calls_ = 0;
  std::uint64_t short_ = 0;  // of memory, since the last look
  std::uint64_t to_look_ = kWhileShort;
  std::uint64_t not_smaller_ = 0;                    // since the last sample encode
  std::atomic<std::uint64_t> to_sample_{kWhileRaw};  // of so many of these one
  std::uint32_t grouped_ = 0;
  std::uint64_t turns_ = 0;
  std::vector<Begun> begun_;
  agree::Value last_;            // decision that was seen
  std::uint32_t confirmed_ = 0;  // in a row
  std::uint64_t next_ask_ = 0;   // turn
  std::atomic<std::uint32_t> span_{1};
  Working working_;

  bool waits_ = false;
  bool has_coded_ = false;
  std::uint32_t watched_ = 0;  // since the last look at their times
  choose::RoundTally watched_times_;
  bool vetoed_ = false;
  bool left_ = false;  // to NCCL, which is a veto
  std::uint64_t since_left_ = 0;
  unsigned came_back_ = 0;  // times, as many as count
  Needs needs_;
  std::atomic<bool> owes_offer_{false};
  Seen seen_;
  agree::Offer own_;
};

// Calls that are numbered together.
class Track {
 public:
  explicit Track(agree::Channel& channel) : channel_(channel) {}

  std::uint64_t next() { return next_++; }
  // The last call was none.
  void take_back() { --next_; }
  // All so far have been made for good.
  void confirm() { channel_.confirm(next_); }
  Kind& of(std::uint64_t key, bool guarded) {
    if (last_ != nullptr && last_key_ == key) return *last_;
    last_key_ = key;
    last_ = &kinds_.try_emplace(key, channel_, key, guarded).first->second;
    return *last_;
  }

 private:
  agree::Channel& channel_;
  std::uint64_t next_ = 0;
  std::uint64_t last_key_ = 0;
  Kind* last_ = nullptr;
  std::unordered_map<std::uint64_t, Kind> kinds_;
};

}  // namespace thinwire::nccl
