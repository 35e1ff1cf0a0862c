// The capacity that blocks of a kind have needed, and when that is worth an offer to the other
// ranks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace thinwire::nccl {

// More is offered at once, as blocks that do not fit are spilled. Less is offered after a whole run
// of calls has needed less: a change is in force many calls later, so that a rank that
// lowers what it needs again soon spills that many. If that happens the next run is twice as
// long: data that comes and goes is taken for what it needs at its most. With more comes room by
// how much calls differ, so that data that drifts is not raised a step at a time.
//
// Keeps what blocks needed. After a call that spills much the kind goes raw at once, before it is
// known what would have held it; that known, the kind comes back with room for it. If nothing
// would have, sample encodes find out when it gets smaller again: each time that this was in vain
// they are half as many.
class Needs {
 public:
  static constexpr std::uint32_t kNone = 513;  // no capacity would do
  static constexpr std::uint64_t kShortestRun = 256;
  static constexpr std::uint64_t kLongestRun = 1 << 16;

  // The need of one call, in 512ths of the raw bytes; `again`: the earlier ones count no more, as
  // the kind was raw. What is to be offered now, if anything.
  std::optional<std::uint16_t> take(std::uint32_t needed, bool again) {
    needed = std::min(needed, kNone);
    most_ = std::max(most_, needed);
    least_ = std::min(least_, needed);
    ++calls_;
    ++taken_;
    if (again) spills_ = false;
    if (spills_) return take_what_spilled(needed);
    const bool is_larger = needed > offered_ + offered_ / kReserve;
    // The first ones show how much calls differ.
    const bool has_room = taken_ > kFirst || with_room(most_) <= offered_ + offered_ / kReserve;
    if (!has_offered_ || is_larger || !has_room) {
      if (lowered_ && is_larger) run_ = std::min(2 * run_, kLongestRun);
      if (came_back_ && needed > kMost) back_in_vain();
      if (is_larger) lowered_ = false;
      return offer(with_room(most_));
    }
    if (again && needed < offered_ && needed <= kMost) {
      came_back_ = came_back_ || offered_ > kMost;
      return offer(needed);
    }
    if (calls_ < run_ || offered_ == kNone) return std::nullopt;
    const bool falls = most_ + offered_ / kFall < offered_;
    if (!falls) {
      begin_run();
      return std::nullopt;
    }
    lowered_ = true;
    return offer(most_);
  }

  // A call spills so much that no other may be begun: what is to be offered. take() tells later
  // what it needed; until then nothing would do.
  std::optional<std::uint16_t> spill() {
    if (offered_ == kNone) return std::nullopt;
    spills_ = true;
    before_ = offered_;
    if (std::exchange(lowered_, false)) run_ = std::min(2 * run_, kLongestRun);
    return offer(kNone);
  }

  // The capacity that was offered last.
  bool has_offered() const { return has_offered_; }
  std::uint16_t offered() const { return static_cast<std::uint16_t>(offered_); }

  // How often a kind that was raw has come back in vain: sample encodes are so many times half as
  // many.
  unsigned times_in_vain() const { return in_vain_; }

 private:
  // A decision leaves that much room above what was offered (agree/decide.cpp).
  static constexpr std::uint32_t kReserve = 32;
  // More than this gets no capacity.
  static constexpr std::uint32_t kMost = 480;
  static constexpr std::uint32_t kFall = 8;       // less than an eighth is not worth a change
  static constexpr std::uint32_t kMostRoom = 16;  // a sixteenth of what is needed
  static constexpr std::uint64_t kFirst = 4;      // sample encodes
  static constexpr unsigned kMostInVain = 8;

  // Half as much as calls of this run differ by.
  std::uint32_t with_room(std::uint32_t needed) const {
    const std::uint32_t room = std::min((most_ - least_) / 2, needed / kMostRoom);
    return std::max(needed, std::min(needed + room, kMost));
  }
  std::optional<std::uint16_t> take_what_spilled(std::uint32_t needed) {
    const bool is_another = needed <= before_ + before_ / kReserve;
    if (is_another) return std::nullopt;
    spills_ = false;
    if (needed > kMost) {
      if (came_back_) back_in_vain();
      return std::nullopt;
    }
    return offer(std::max(with_room(needed), before_));
  }
  void back_in_vain() {
    came_back_ = false;
    in_vain_ = std::min(in_vain_ + 1, kMostInVain);
  }
  std::uint16_t offer(std::uint32_t needed) {
    has_offered_ = true;
    offered_ = needed;
    calls_ = 0;
    if (taken_ >= kFirst) begin_run();
    return static_cast<std::uint16_t>(needed);
  }
  void begin_run() {
    calls_ = 0;
    most_ = 0;
    least_ = kNone;
  }

  bool has_offered_ = false;
  bool lowered_ = false;    // since more was offered
  bool spills_ = false;     // until it is known what that call needed
  bool came_back_ = false;  // since nothing would do
  std::uint32_t offered_ = 0, before_ = 0;
  unsigned in_vain_ = 0;
  std::uint64_t run_ = kShortestRun;
  std::uint64_t taken_ = 0;
  std::uint64_t calls_ = 0;  // of this run, and what they needed at the most and the least
  std::uint32_t most_ = 0, least_ = kNone;
};

}  // namespace thinwire::nccl
