// What blocks of a class have needed, and when that is worth an offer to the other ranks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace thinwire::nccl {

// More is offered at once, as blocks that do not fit are spilled. Less is offered once a whole run
// of calls has needed less: a change is in force many calls later, so that a rank that
// lowers what it needs again soon spills that many. Where that happens the next run is twice as
// long: data that comes and goes is taken for what it needs at its most.
class Needs {
 public:
  static constexpr std::uint32_t kNone = 513;  // no capacity would do
  static constexpr std::uint64_t kShortestRun = 256;
  static constexpr std::uint64_t kLongestRun = 1 << 16;

  // The need of one call, in 512ths of the raw bytes; `again`: the earlier ones count no more, as
  // the class was raw. What is to be offered now, if anything.
  std::optional<std::uint16_t> take(std::uint32_t needed, bool again) {
    needed = std::min(needed, kNone);
    most_ = std::max(most_, needed);
    ++calls_;
    if (!has_offered_ || needed > offered_ + offered_ / kReserve) {
      if (lowered_) run_ = std::min(2 * run_, kLongestRun);
      lowered_ = false;
      return offer(needed);
    }
    if (again && needed < offered_) return offer(needed);
    if (calls_ < run_) return std::nullopt;
    const bool falls = most_ + offered_ / kFall < offered_;
    if (!falls) {
      begin_run();
      return std::nullopt;
    }
    lowered_ = true;
    return offer(most_);
  }

 private:
  // A decision leaves that much room above what was offered (agree/decide.cpp).
  static constexpr std::uint32_t kReserve = 32;
  static constexpr std::uint32_t kFall = 8;  // less than an eighth is not worth a change

  std::uint16_t offer(std::uint32_t needed) {
    has_offered_ = true;
    offered_ = needed;
    begin_run();
    return static_cast<std::uint16_t>(needed);
  }
  void begin_run() {
    calls_ = 0;
    most_ = 0;
  }

  bool has_offered_ = false;
  bool lowered_ = false;  // since more was offered
  std::uint32_t offered_ = 0;
  std::uint64_t run_ = kShortestRun;
  std::uint64_t calls_ = 0;  // of this run, and the most that one of them needed
  std::uint32_t most_ = 0;
};

}  // namespace thinwire::nccl
