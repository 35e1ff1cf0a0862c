#include "shim/mpi/observe/reservoir.h"

#include <algorithm>

namespace thinwire::mpi {

// SplitMix64.
std::uint64_t Reservoir::next_mark() {
  std::uint64_t mark = random_ += 0x9e3779b97f4a7c15;
  mark = (mark ^ (mark >> 30)) * 0xbf58476d1ce4e5b9;
  mark = (mark ^ (mark >> 27)) * 0x94d049bb133111eb;
  return mark ^ (mark >> 31);
}

// The number of an array of the kind that has the most bytes: the one of the highest mark.
std::uint64_t Reservoir::drop_one() {
  Kind& largest = std::ranges::max_element(kinds_, {}, [](const auto& each) {
                    return each.second.bytes;
                  })->second;
  const auto last = std::prev(largest.kept.end());
  const auto [mark, kept] = *last;
  largest.below = mark;
  largest.bytes -= kept.bytes;
  bytes_ -= kept.bytes;
  largest.kept.erase(last);
  return kept.number;
}

Reservoir::Verdict Reservoir::offer(std::uint32_t kind, std::uint64_t bytes) {
  Verdict verdict{false, offered_++, {}};
  Kind& own = kinds_[kind];
  const std::uint64_t mark = next_mark();
  if (mark >= own.below || bytes > most_) return verdict;
  own.kept.emplace(mark, Kept{verdict.number, bytes});
  own.bytes += bytes;
  bytes_ += bytes;
  verdict.keep = true;
  while (bytes_ > most_) {
    const std::uint64_t dropped = drop_one();
    if (dropped == verdict.number) {
      verdict.keep = false;
    } else {
      verdict.dropped.push_back(dropped);
    }
  }
  return verdict;
}

}  // namespace thinwire::mpi
