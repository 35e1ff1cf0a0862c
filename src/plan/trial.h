// The rounds of a trial: raw, compressed, compressed and raw, or the other way round, in runs of
// one length; of a longer trial eight runs, so that whatever a program does by turns is in as many
// of one way as of the other.
#pragma once

#include <bit>
#include <cstdint>

namespace thinwire::plan {

// Pauses between trials are powers of two and trials begin at multiples of them: so those of
// several ranks meet.
constexpr std::uint64_t kTrialGrid = 8;

struct Trial {
  std::uint64_t began = 0;  // at the round of this number
  std::uint64_t runs = 4;   // or eight
  std::uint64_t run = 1;    // rounds in each
  bool is_coded_first = false;

  std::uint64_t rounds() const { return runs * run; }
  bool is_over(std::uint64_t position) const { return position >= began + rounds(); }
  bool is_coded(std::uint64_t position) const {
    return (std::popcount((position - began) / run) % 2 != 0) != is_coded_first;
  }
};

// Which way is first, by the number of the trial's first round alone. Were it the same one in all
// trials, a program that repeats itself after 16 or 64 rounds would have the same of its rounds
// compressed in each. Trials at powers of two, one after another, differ in it, and so do those
// at multiples of one.
inline bool begins_coded(std::uint64_t began) {
  constexpr std::uint64_t kEverySecondBit = 0xAAAAAAAAAAAAAAAA;
  return std::popcount(began & kEverySecondBit) % 2 != 0;
}

}  // namespace thinwire::plan
