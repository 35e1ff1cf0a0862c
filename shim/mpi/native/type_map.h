// One element of a datatype as the bytes that it means, and copies between such elements and the
// stream of bytes in which they travel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// Repeats what lies below it, `stride` bytes apart.
struct Level {
  std::uint64_t count = 0;
  std::int64_t stride = 0;
};

// Immutable. A regular pattern, as of vectors and subarrays, is one block repeated by levels and
// takes no memory for each of its blocks.
class TypeMap {
 public:
  static constexpr std::size_t kMostLevels = 5;

  // Takes segments as flatten() gives them, in the order in which they travel.
  TypeMap(std::vector<tw_segment> segments, std::int64_t extent);

  // Takes loops as loops_of() gives them: a block, repeated by levels, outermost first.
  TypeMap(tw_segment block, std::vector<Level> levels, std::int64_t extent);

  std::uint64_t bytes() const { return bytes_; }
  std::int64_t extent() const { return extent_; }
  // The lowest byte's offset and the one after the highest byte's, of one element.
  std::int64_t low() const { return low_; }
  std::int64_t high() const { return high_; }

  // The part that the levels repeat, outermost first: a single block, or all segments and no level.
  const std::vector<tw_segment>& segments() const { return segments_; }
  const std::vector<Level>& levels() const { return levels_; }
  // The segments by address; empty if some share bytes, which no receive may have.
  const std::vector<tw_segment>& by_address() const {
    return by_address_.empty() && ascending_ ? segments_ : by_address_;
  }

  // The first `bytes` bytes of the stream of elements as rows of equal blocks:
  // row(offset, blocks, stride, block bytes).
  template <typename Row>
  void for_each_row(std::uint64_t bytes, Row&& row) const {
    if (bytes_ == 0) return;
    if (segments_.size() > 1) return for_each_segment(bytes, row);
    const Level elements{(bytes + bytes_ - 1) / bytes_, extent_};
    walk(elements, 0, segments_[0].offset, bytes, row);
  }

 private:
  void find_levels();
  void sort_segments();

  template <typename Row>
  void for_each_segment(std::uint64_t bytes, Row& row) const {
    for (std::int64_t element = 0; bytes > 0; element += extent_) {
      for (const tw_segment& segment : segments_) {
        const std::uint64_t part = std::min(bytes, segment.bytes);
        if (part == 0) return;
        row(element + segment.offset, std::uint64_t{1}, std::int64_t{0}, part);
        bytes -= part;
      }
    }
  }

  // `level` and those from levels_[next] on, below it.
  template <typename Row>
  void walk(Level level, std::size_t next, std::int64_t offset, std::uint64_t& bytes,
            Row& row) const {
    if (next < levels_.size()) {
      for (std::uint64_t at = 0; at < level.count && bytes > 0; ++at) {
        walk(levels_[next], next + 1, offset, bytes, row);
        offset += level.stride;
      }
      return;
    }
    const std::uint64_t block = segments_[0].bytes;
    const std::uint64_t whole = std::min(level.count, bytes / block);
    if (whole > 0) row(offset, whole, level.stride, block);
    bytes -= whole * block;
    if (whole == level.count || bytes == 0) return;
    offset += static_cast<std::int64_t>(whole) * level.stride;
    row(offset, std::uint64_t{1}, std::int64_t{0}, bytes);
    bytes = 0;
  }

  std::vector<tw_segment> segments_;
  std::vector<Level> levels_;
  std::vector<tw_segment> by_address_;
  bool ascending_ = false;
  std::uint64_t bytes_ = 0;
  std::int64_t extent_ = 0;
  std::int64_t low_ = 0;
  std::int64_t high_ = 0;
};
using TypeMapPointer = std::shared_ptr<const TypeMap>;

// Elements in host memory, from `buffer` on as a call of MPI names them. Without a map they lie in
// memory as they travel.
struct Elements {
  void* buffer = nullptr;
  TypeMapPointer map;

  std::byte* at(std::int64_t offset) const {
    // The buffer may be MPI_BOTTOM, which pointer arithmetic must not start from.
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::intptr_t>(buffer) + offset);
  }
};

// The first `bytes` bytes of the elements' stream.
void gather(const Elements& from, std::uint64_t bytes, void* stream);
void scatter(const void* stream, std::uint64_t bytes, const Elements& to);

}  // namespace thinwire::mpi
