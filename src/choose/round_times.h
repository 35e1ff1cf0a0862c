// Times of the calls of a timing round (choose/timing_round.h), as they come in and as ranks agree
// on them.
//
// A wait for a late rank makes a time too long, never too short; so short times count, and of
// several ranks the one that needs longest. A way that is quick at times and slow at most others
// has a short least time all the same, so the sums of the times have to agree.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace thinwire::choose {

// Nanoseconds of each way; 0: none was measured.
struct RoundTimes {
  std::uint64_t raw = 0;
  std::uint64_t coded = 0;
  // Sums by the number of calls, as MeanTime has them; 0: not measured, and the others decide.
  std::uint64_t raw_mean = 0;
  std::uint64_t coded_mean = 0;
  constexpr bool has_means() const { return raw_mean != 0 && coded_mean != 0; }
  constexpr std::uint64_t of(bool is_coded) const { return is_coded ? coded : raw; }
  constexpr std::uint64_t mean_of(bool is_coded) const { return is_coded ? coded_mean : raw_mean; }
  bool operator==(const RoundTimes&) const = default;
};

// The times of two ranks together: each is that of the rank that needed longest.
constexpr RoundTimes slower(const RoundTimes& one, const RoundTimes& other) {
  return {std::max(one.raw, other.raw), std::max(one.coded, other.coded),
          std::max(one.raw_mean, other.raw_mean), std::max(one.coded_mean, other.coded_mean)};
}

// The typical time of one way, from the times that are known: the second least of four or more, as
// one may be short by chance; of fewer the least. Calls of a group have nearly one time.
class TypicalTime {
 public:
  // 0: nobody knows.
  constexpr void add(std::uint64_t nanoseconds) {
    if (nanoseconds == 0) return;
    ++known_;
    for (std::uint64_t& least : least_) {
      if (least == 0 || nanoseconds < least) std::swap(least, nanoseconds);
      if (nanoseconds == 0) return;
    }
  }
  constexpr std::uint64_t get() const { return least_[std::min(known_ / 4, kKept - 1)]; }

 private:
  static constexpr std::uint32_t kKept = 2;
  std::uint32_t known_ = 0;
  std::uint64_t least_[kKept] = {};
};

// The mean time of the calls of one way. The longest of four or more is left out: one slow moment
// of the network, or one late rank, is no property of a way and would hide all others.
class MeanTime {
 public:
  // 0: nobody knows.
  constexpr void add(std::uint64_t nanoseconds) {
    if (nanoseconds == 0) return;
    ++known_;
    others_ = sum(others_, std::min(longest_, nanoseconds));
    longest_ = std::max(longest_, nanoseconds);
  }
  constexpr std::uint64_t get() const {
    if (known_ == 0) return 0;
    return known_ < 4 ? sum(others_, longest_) / known_ : others_ / (known_ - 1);
  }

 private:
  static constexpr std::uint64_t sum(std::uint64_t one, std::uint64_t other) {
    return one + std::min(other, UINT64_MAX - one);
  }
  std::uint64_t known_ = 0, others_ = 0, longest_ = 0;
};

// Both figures of both ways.
class RoundTally {
 public:
  constexpr void add(bool is_coded, std::uint64_t nanoseconds) {
    typical_[is_coded ? 1 : 0].add(nanoseconds);
    means_[is_coded ? 1 : 0].add(nanoseconds);
  }
  constexpr RoundTimes get() const {
    return {typical_[0].get(), typical_[1].get(), means_[0].get(), means_[1].get()};
  }

 private:
  TypicalTime typical_[2];  // raw, coded
  MeanTime means_[2];
};

}  // namespace thinwire::choose
