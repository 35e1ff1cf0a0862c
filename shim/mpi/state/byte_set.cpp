#include "shim/mpi/state/byte_set.h"

#include <algorithm>

namespace thinwire::mpi {
namespace {

// Rounds towards minus infinity.
std::int64_t divide_down(std::int64_t value, std::int64_t by) {
  return value >= 0 ? value / by : -((-value + by - 1) / by);
}

bool are_apart(Range one, Range other) {
  return one.last <= other.first || other.last <= one.first;
}

}  // namespace

ByteSet::ByteSet(Range range) : origin_(range.first) { spans_[0] = range.last - range.first; }

std::optional<ByteSet> ByteSet::of(const Elements& elements, std::uint64_t count) {
  const TypeMap& map = *elements.map;
  if (map.bytes() == 0 || count == 0 || map.by_address().empty()) return std::nullopt;
  ByteSet set;
  const bool listed = map.segments().size() > 1;
  set.origin_ = reinterpret_cast<std::intptr_t>(elements.buffer) +
                (listed ? map.low() : map.segments()[0].offset);
  if (listed) set.list_ = elements.map;
  bool fits = set.add({count, map.extent()});
  for (const Level& level : map.levels()) fits = fits && set.add(level);
  const std::int64_t repeated =
      listed ? map.high() - map.low() : static_cast<std::int64_t>(map.segments()[0].bytes);
  if (!fits || !set.arrange(repeated)) return std::nullopt;
  return set;
}

bool ByteSet::add(Level level) {
  if (level.count == 1) return true;
  if (level.stride == 0 || depth_ == kMostLevels) return false;
  if (level.stride < 0) {
    origin_ += static_cast<std::int64_t>(level.count - 1) * level.stride;
    level.stride = -level.stride;
  }
  levels_[depth_++] = level;
  return true;
}

// Sorts levels by stride, as the order in which MPI names them is no matter to a set of bytes,
// joins the innermost ones whose copies touch, and measures each. `span`: of what the levels
// repeat. False: copies on a level overlap.
bool ByteSet::arrange(std::int64_t span) {
  std::sort(levels_.begin(), levels_.begin() + static_cast<std::ptrdiff_t>(depth_),
            [](const Level& one, const Level& other) { return one.stride > other.stride; });
  while (depth_ > 0 && !list_ && levels_[depth_ - 1].stride == span) {
    span *= static_cast<std::int64_t>(levels_[--depth_].count);
  }
  spans_[depth_] = span;
  for (std::size_t level = depth_; level > 0; --level) {
    const auto& [count, stride] = levels_[level - 1];
    if (stride < spans_[level]) return false;
    spans_[level - 1] = static_cast<std::int64_t>(count - 1) * stride + spans_[level];
  }
  return true;
}

std::optional<Range> ByteSet::next_at(std::size_t level, std::int64_t origin, Range range) const {
  range.first = std::max(range.first, origin);
  range.last = std::min(range.last, origin + spans_[level]);
  if (range.first >= range.last) return std::nullopt;
  if (level == depth_) return list_ ? next_segment(origin, range) : range;
  const auto& [count, stride] = levels_[level];
  const std::int64_t at = (range.first - origin) / stride;
  if (auto found = next_at(level + 1, origin + at * stride, range)) return found;
  if (at + 1 == static_cast<std::int64_t>(count)) return std::nullopt;
  return next_at(level + 1, origin + (at + 1) * stride, range);
}

std::optional<Range> ByteSet::next_segment(std::int64_t origin, Range range) const {
  const std::vector<tw_segment>& segments = list_->by_address();
  const std::int64_t zero = origin - segments[0].offset;  // where offsets are counted from
  const auto end_of = [&](const tw_segment& segment) {
    return zero + segment.offset + static_cast<std::int64_t>(segment.bytes);
  };
  const auto found = std::partition_point(
      segments.begin(), segments.end(),
      [&](const tw_segment& segment) { return end_of(segment) <= range.first; });
  if (found == segments.end() || zero + found->offset >= range.last) return std::nullopt;
  return Range{std::max(range.first, zero + found->offset), std::min(range.last, end_of(*found))};
}

// A set's bytes on one level: `level` of its levels are fixed to one copy each, which begins at
// `origin`; the deeper ones repeat from there.
struct ByteSet::Part {
  const ByteSet& set;
  std::size_t level;
  std::int64_t origin;

  Range hull() const { return {origin, origin + set.spans_[level]}; }
  bool repeats() const { return level < set.depth_; }
  std::int64_t stride() const { return set.levels_[level].stride; }
  std::int64_t last_copy() const { return static_cast<std::int64_t>(set.levels_[level].count) - 1; }
  Part copy(std::int64_t at) const { return {set, level + 1, origin + at * stride()}; }
  std::optional<Range> next(Range range) const { return set.next_at(level, origin, range); }
};

bool may_share(const ByteSet& one, const ByteSet& other, int& steps) {
  return ByteSet::meet({one, 0, one.origin_}, {other, 0, other.origin_}, steps);
}

bool ByteSet::meet(const Part& one, const Part& other, int& steps) {
  if (are_apart(one.hull(), other.hull())) return false;
  if (--steps < 0) return true;
  if (one.repeats() && other.repeats() && one.stride() == other.stride()) {
    return meet_shifted(one, other, steps);
  }
  return meet_by_turns(one, other, steps);
}

// Rows or columns of one array: whether copy i of one meets copy j of the other depends on i - j
// alone, and few differences bring them near each other.
bool ByteSet::meet_shifted(const Part& one, const Part& other, int& steps) {
  const Range mine = one.copy(0).hull(), others = other.copy(0).hull();
  const std::int64_t stride = one.stride();
  const std::int64_t least =
      std::max(divide_down(others.first - mine.last, stride) + 1, -other.last_copy());
  const std::int64_t most =
      std::min(divide_down(others.last - mine.first - 1, stride), one.last_copy());
  for (std::int64_t shift = least; shift <= most; ++shift) {
    if (meet(one.copy(shift), other.copy(0), steps)) return true;
  }
  return false;
}

// From a stretch of the one to the next of the other, and so on: no more than twice as often as the
// sparser of the two has stretches.
bool ByteSet::meet_by_turns(const Part& one, const Part& other, int& steps) {
  Range rest{std::max(one.hull().first, other.hull().first),
             std::min(one.hull().last, other.hull().last)};
  const Part* turn = &one;
  const Part* next = &other;
  while (true) {
    const auto mine = turn->next(rest);
    if (!mine) return false;
    const auto theirs = next->next({mine->first, rest.last});
    if (!theirs) return false;
    if (theirs->first < mine->last) return true;
    if (--steps < 0) return true;
    rest.first = theirs->first;
    std::swap(turn, next);
    // The range that has just been found comes first again, and is compared with what follows on
    // the other side.
  }
}

}  // namespace thinwire::mpi
