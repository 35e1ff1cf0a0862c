#include "shim/mpi/native/type_map.h"

#include <cstring>
#include <utility>

namespace thinwire::mpi {
namespace {

// The number of leading offsets that are as far apart as the first two.
std::size_t length_of_run(const std::vector<std::int64_t>& offsets) {
  std::size_t length = 2;
  const std::int64_t stride = offsets[1] - offsets[0];
  while (length < offsets.size() && offsets[length] - offsets[length - 1] == stride) ++length;
  return length;
}

// Takes the innermost level off: the offsets of its runs remain. False if runs differ.
bool take_level(std::vector<std::int64_t>& offsets, Level& level) {
  const std::size_t run = length_of_run(offsets);
  const std::int64_t stride = offsets[1] - offsets[0];
  if (offsets.size() % run != 0) return false;
  std::size_t kept = 0;
  for (std::size_t first = 0; first < offsets.size(); first += run) {
    for (std::size_t at = first + 1; at < first + run; ++at) {
      if (offsets[at] - offsets[at - 1] != stride) return false;
    }
    offsets[kept++] = offsets[first];
  }
  offsets.resize(kept);
  level = {run, stride};
  return true;
}

// Rows of the commonest blocks in moves of a size that the compiler knows.
template <std::size_t kBytes>
void gather_blocks(const std::byte* from, std::uint64_t blocks, std::int64_t stride,
                   std::byte*& stream) {
  for (; blocks > 0; --blocks, from += stride, stream += kBytes) std::memcpy(stream, from, kBytes);
}

template <std::size_t kBytes>
void scatter_blocks(const std::byte*& stream, std::byte* to, std::uint64_t blocks,
                    std::int64_t stride) {
  for (; blocks > 0; --blocks, to += stride, stream += kBytes) std::memcpy(to, stream, kBytes);
}

}  // namespace

TypeMap::TypeMap(std::vector<tw_segment> segments, std::int64_t extent)
    : segments_(std::move(segments)), extent_(extent) {
  if (segments_.empty()) return;
  low_ = segments_[0].offset;
  high_ = low_;
  for (const tw_segment& segment : segments_) {
    bytes_ += segment.bytes;
    low_ = std::min(low_, segment.offset);
    high_ = std::max(high_, segment.offset + static_cast<std::int64_t>(segment.bytes));
  }
  find_levels();
  sort_segments();
}

TypeMap::TypeMap(tw_segment block, std::vector<Level> levels, std::int64_t extent)
    : segments_{block},
      levels_(std::move(levels)),
      ascending_(true),
      bytes_(block.bytes),
      extent_(extent),
      low_(block.offset),
      high_(block.offset + static_cast<std::int64_t>(block.bytes)) {
  for (const Level& level : levels_) {
    bytes_ *= level.count;
    const std::int64_t last = static_cast<std::int64_t>(level.count - 1) * level.stride;
    (last < 0 ? low_ : high_) += last;
  }
}

void TypeMap::find_levels() {
  const std::uint64_t block = segments_[0].bytes;
  std::vector<std::int64_t> offsets;
  offsets.reserve(segments_.size());
  for (const tw_segment& segment : segments_) {
    if (segment.bytes != block) return;
    offsets.push_back(segment.offset);
  }
  std::vector<Level> levels;
  while (offsets.size() > 1) {
    Level level;
    if (levels.size() == kMostLevels || !take_level(offsets, level)) return;
    levels.push_back(level);
  }
  levels_.assign(levels.rbegin(), levels.rend());
  segments_.resize(1);
  segments_.shrink_to_fit();
}

void TypeMap::sort_segments() {
  const auto lower = [](const tw_segment& one, const tw_segment& other) {
    return one.offset < other.offset;
  };
  ascending_ = std::is_sorted(segments_.begin(), segments_.end(), lower);
  std::vector<tw_segment> sorted;
  if (!ascending_) {
    sorted = segments_;
    std::sort(sorted.begin(), sorted.end(), lower);
  }
  const std::vector<tw_segment>& all = ascending_ ? segments_ : sorted;
  for (std::size_t at = 1; at < all.size(); ++at) {
    if (all[at - 1].offset + static_cast<std::int64_t>(all[at - 1].bytes) <= all[at].offset) {
      continue;
    }
    ascending_ = false;
    return;
  }
  by_address_ = std::move(sorted);
}

void gather(const Elements& from, std::uint64_t bytes, void* stream) {
  if (!from.map) {
    std::memcpy(stream, from.buffer, bytes);
    return;
  }
  auto* out = static_cast<std::byte*>(stream);
  from.map->for_each_row(bytes, [&](std::int64_t offset, std::uint64_t blocks, std::int64_t stride,
                                    std::uint64_t block) {
    const std::byte* at = from.at(offset);
    if (block == 4) return gather_blocks<4>(at, blocks, stride, out);
    if (block == 8) return gather_blocks<8>(at, blocks, stride, out);
    for (; blocks > 0; --blocks, at += stride, out += block) std::memcpy(out, at, block);
  });
}

void scatter(const void* stream, std::uint64_t bytes, const Elements& to) {
  if (!to.map) {
    std::memcpy(to.buffer, stream, bytes);
    return;
  }
  const auto* in = static_cast<const std::byte*>(stream);
  to.map->for_each_row(bytes, [&](std::int64_t offset, std::uint64_t blocks, std::int64_t stride,
                                  std::uint64_t block) {
    std::byte* at = to.at(offset);
    if (block == 4) return scatter_blocks<4>(in, at, blocks, stride);
    if (block == 8) return scatter_blocks<8>(in, at, blocks, stride);
    for (; blocks > 0; --blocks, at += stride, in += block) std::memcpy(at, in, block);
  });
}

}  // namespace thinwire::mpi
