#include "shim/mpi/native/flatten.h"

#include <algorithm>
#include <cstdint>

#include "shim/mpi/native/contents.h"
#include "shim/mpi/native/real.h"

namespace thinwire::mpi {
namespace {

using Segments = std::vector<tw_segment>;

// A part of a type: its own segments, and the distance of one from the next.
struct Part {
  Segments segments;
  std::int64_t extent = 0;
};

void append(Segments& out, tw_segment segment) {
  if (segment.bytes == 0) return;
  if (!out.empty() &&
      out.back().offset + static_cast<std::int64_t>(out.back().bytes) == segment.offset) {
    out.back().bytes += segment.bytes;
  } else {
    out.push_back(segment);
  }
}

// `count` of `part`, one after the other.
void append_block(Segments& out, const Part& part, std::int64_t offset, std::int64_t count) {
  const bool solid =
      part.segments.size() == 1 && part.extent == static_cast<std::int64_t>(part.segments[0].bytes);
  if (solid && count > 0) {
    const tw_segment& one = part.segments[0];
    append(out, {offset + one.offset, one.bytes * static_cast<std::uint64_t>(count)});
    return;
  }
  for (std::int64_t at = 0; at < count; ++at) {
    for (const tw_segment& segment : part.segments) {
      append(out, {offset + at * part.extent + segment.offset, segment.bytes});
    }
  }
}

// One axis of an array, and which indices along it belong to the type.
struct Range {
  std::int64_t first;
  std::int64_t count;
};
struct Axis {
  std::int64_t size;
  std::vector<Range> ranges;
};

// `axes` slowest first, from the one at `at` on; `offset` in elements.
void append_grid(Segments& out, const Part& part, const std::vector<Axis>& axes, std::size_t at,
                 std::int64_t offset) {
  std::int64_t stride = 1;
  for (std::size_t inner = at + 1; inner < axes.size(); ++inner) stride *= axes[inner].size;
  for (const Range& range : axes[at].ranges) {
    if (at + 1 == axes.size()) {
      append_block(out, part, (offset + range.first) * part.extent, range.count);
      continue;
    }
    for (std::int64_t index = range.first; index < range.first + range.count; ++index) {
      append_grid(out, part, axes, at + 1, offset + index * stride);
    }
  }
}

std::vector<Axis> subarray_axes(const std::vector<std::int64_t>& integers) {
  const std::int64_t rank = integers[0];
  const std::int64_t *sizes = &integers[1], *counts = sizes + rank, *starts = counts + rank;
  std::vector<Axis> axes(rank);
  for (std::int64_t at = 0; at < rank; ++at) axes[at] = {sizes[at], {{starts[at], counts[at]}}};
  if (integers[1 + 3 * rank] == MPI_ORDER_FORTRAN) std::reverse(axes.begin(), axes.end());
  return axes;
}

// Ranges that process `place` of `places` along an axis owns.
std::vector<Range> owned_ranges(std::int64_t size, std::int64_t distribution, std::int64_t argument,
                                std::int64_t places, std::int64_t place) {
  if (distribution == MPI_DISTRIBUTE_NONE) return {{0, size}};
  const bool block_wise = distribution == MPI_DISTRIBUTE_BLOCK;
  std::int64_t block = argument;
  if (argument == MPI_DISTRIBUTE_DFLT_DARG) block = block_wise ? (size + places - 1) / places : 1;
  std::vector<Range> ranges;
  for (std::int64_t first = place * block; first < size; first += places * block) {
    ranges.push_back({first, std::min(block, size - first)});
    if (block_wise) break;
  }
  return ranges;
}

std::vector<Axis> distributed_axes(const std::vector<std::int64_t>& integers) {
  const std::int64_t rank = integers[2];
  const std::int64_t *sizes = &integers[3], *distributions = sizes + rank,
                     *arguments = distributions + rank, *places = arguments + rank;
  std::vector<Axis> axes(rank);
  std::int64_t process = integers[1];
  // Processes are numbered row by row whatever the order of the array.
  for (std::int64_t at = rank - 1; at >= 0; --at) {
    axes[at] = {sizes[at], owned_ranges(sizes[at], distributions[at], arguments[at], places[at],
                                        process % places[at])};
    process /= places[at];
  }
  if (integers[3 + 4 * rank] == MPI_ORDER_FORTRAN) std::reverse(axes.begin(), axes.end());
  return axes;
}

Part part_of(MPI_Datatype type, bool& known);

// Blocks of one part with a fixed or listed place each; places in bytes or in extents.
void append_blocks(Segments& out, const Contents& from, const Part& part) {
  const std::vector<std::int64_t>& integers = from.integers;
  const std::int64_t count = integers[0];
  for (std::int64_t at = 0; at < count; ++at) {
    std::int64_t length = 0, offset = 0;
    switch (from.combiner) {
      case MPI_COMBINER_VECTOR:
        length = integers[1];
        offset = at * integers[2] * part.extent;
        break;
      case MPI_COMBINER_HVECTOR:
        length = integers[1];
        offset = at * from.addresses[0];
        break;
      case MPI_COMBINER_INDEXED:
        length = integers[1 + at];
        offset = integers[1 + count + at] * part.extent;
        break;
      case MPI_COMBINER_INDEXED_BLOCK:
        length = integers[1];
        offset = integers[2 + at] * part.extent;
        break;
      case MPI_COMBINER_HINDEXED:
        length = integers[1 + at];
        offset = from.addresses[at];
        break;
      default:  // MPI_COMBINER_HINDEXED_BLOCK
        length = integers[1];
        offset = from.addresses[at];
    }
    append_block(out, part, offset, length);
  }
}

void append_struct(Segments& out, const Contents& from, bool& known) {
  for (std::size_t at = 0; at < from.parts.size(); ++at) {
    const Part part = part_of(from.parts[at], known);
    append_block(out, part, from.addresses[at], from.integers[1 + at]);
  }
}

// All predefined types but the pairs for MPI_MINLOC lie without a gap; a pair's int comes last.
Segments predefined_segments(MPI_Datatype type) {
  MPI_Count size = 0, lower = 0, extent = 0;
  real().Type_size_x(type, &size);
  real().Type_get_true_extent_x(type, &lower, &extent);
  Segments out;
  if (size <= 0) return out;
  if (size == extent) return {{0, static_cast<std::uint64_t>(size)}};
  constexpr std::int64_t kInt = sizeof(int);
  append(out, {0, static_cast<std::uint64_t>(size - kInt)});
  append(out, {extent - kInt, kInt});
  return out;
}

Segments derived_segments(const Contents& from, bool& known) {
  Segments out;
  if (from.combiner == MPI_COMBINER_STRUCT) {
    append_struct(out, from, known);
    return out;
  }
  const Part part = part_of(from.parts[0], known);
  switch (from.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return part.segments;
    case MPI_COMBINER_CONTIGUOUS:
      append_block(out, part, 0, from.integers[0]);
      break;
    case MPI_COMBINER_SUBARRAY:
      append_grid(out, part, subarray_axes(from.integers), 0, 0);
      break;
    case MPI_COMBINER_DARRAY:
      append_grid(out, part, distributed_axes(from.integers), 0, 0);
      break;
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
      append_blocks(out, from, part);
      break;
    default:
      known = false;
  }
  return out;
}

Part part_of(MPI_Datatype type, bool& known) {
  const Contents from(type);
  Part part;
  MPI_Count lower = 0, extent = 0;
  real().Type_get_extent_x(type, &lower, &extent);
  part.extent = extent;
  if (from.combiner == MPI_COMBINER_NAMED) {
    part.segments = predefined_segments(type);
  } else if (!from.parts.empty()) {
    part.segments = derived_segments(from, known);
  } else if (!from.integers.empty() && from.integers[0] != 0) {
    known = false;
  }
  return part;
}

}  // namespace

std::optional<std::vector<tw_segment>> flatten(MPI_Datatype type) {
  bool known = true;
  Part part = part_of(type, known);
  MPI_Count size = 0;
  real().Type_size_x(type, &size);
  std::uint64_t bytes = 0;
  for (const tw_segment& segment : part.segments) bytes += segment.bytes;
  // A constructor misread would scatter data over somebody else's.
  if (!known || bytes != static_cast<std::uint64_t>(size)) return std::nullopt;
  return std::move(part.segments);
}

}  // namespace thinwire::mpi
