// How others of a communicator compare to this rank, and which of them decides. Pure.
#pragma once

#include <cstddef>
#include <vector>

namespace thinwire::mpi {

enum class Standing : unsigned char {
  kNotAsked,  // or nobody could say
  kSame,      // this library, these settings
  kAbsent,    // no library, another version or other codecs, another job
  kOff,       // this library, collectives switched off
  kDiffers,   // this library, other settings
};

struct Odd {
  int rank = -1;  // none
  Standing standing = Standing::kSame;
};

// Asks about `count` ranks, from `first` on, until one is known not to be as this one, which
// decides whatever the others are; if there is none, until one that was not known stays so although
// standing_of(rank, true) insists.
template <typename StandingOf>
Odd find_odd(std::size_t count, std::size_t first, StandingOf&& standing_of) {
  std::vector<std::size_t> unknown;
  for (std::size_t at = 0; at < count; ++at) {
    const std::size_t rank = (first + at) % count;
    const Standing standing = standing_of(rank, false);
    if (standing == Standing::kSame) continue;
    if (standing != Standing::kNotAsked) return {static_cast<int>(rank), standing};
    unknown.push_back(rank);
  }
  for (const std::size_t rank : unknown) {
    const Standing standing = standing_of(rank, true);
    if (standing != Standing::kSame) return {static_cast<int>(rank), standing};
  }
  return {};
}

}  // namespace thinwire::mpi
