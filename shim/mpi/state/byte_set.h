// The bytes of memory that a receive may write, to be compared with those of another.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "shim/mpi/native/type_map.h"

namespace thinwire::mpi {

// Addresses from `first` up to, without, `last`. Signed: user memory ends far below 2^63, and
// differences are taken.
struct Range {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

// An exact set of bytes in little memory: one range; or a range, or a datatype's list of segments,
// repeated at regular distances, and these repetitions again, on several levels, as the rows,
// planes and boxes of an array are.
class ByteSet {
 public:
  explicit ByteSet(Range range);

  // All bytes of `count` elements; nothing if there are none, if copies on a level overlap or lie
  // within each other's gaps, or if there are too many levels.
  static std::optional<ByteSet> of(const Elements& elements, std::uint64_t count);

  // The range from the lowest byte to the highest; both belong to it.
  Range hull() const { return {origin_, origin_ + spans_[0]}; }

  // The lowest stretch of bytes of the set within `range`. With a range that begins at its end the
  // next call returns the stretch after it.
  std::optional<Range> next(Range range) const { return next_at(0, origin_, range); }

  // False: no byte is in both. Each comparison takes one off `steps`; if none are left the answer
  // is true.
  friend bool may_share(const ByteSet& one, const ByteSet& other, int& steps);

 private:
  static constexpr std::size_t kMostLevels = TypeMap::kMostLevels + 1;
  struct Part;

  ByteSet() = default;
  bool add(Level level);
  bool arrange(std::int64_t span);
  std::optional<Range> next_at(std::size_t level, std::int64_t origin, Range range) const;
  std::optional<Range> next_segment(std::int64_t origin, Range range) const;
  // Whether two parts may have a byte in common.
  static bool meet(const Part& one, const Part& other, int& steps);
  static bool meet_shifted(const Part& one, const Part& other, int& steps);
  static bool meet_by_turns(const Part& one, const Part& other, int& steps);

  std::int64_t origin_ = 0;  // the lowest byte
  std::size_t depth_ = 0;
  std::array<Level, kMostLevels> levels_{};            // outermost and widest stride first
  std::array<std::int64_t, kMostLevels + 1> spans_{};  // from a level's lowest byte to its highest
  TypeMapPointer list_;                                // whose segments the levels repeat
};

bool may_share(const ByteSet& one, const ByteSet& other, int& steps);

}  // namespace thinwire::mpi
