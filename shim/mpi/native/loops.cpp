#include "shim/mpi/native/loops.h"

#include "shim/mpi/native/contents.h"
#include "shim/mpi/native/real.h"

namespace thinwire::mpi {
namespace {

std::int64_t extent_in_bytes(MPI_Datatype type) {
  MPI_Count lower = 0, extent = 0;
  real().Type_get_extent_x(type, &lower, &extent);
  return extent;
}

// Repeats the type so far `count` times, `stride` bytes apart: as one more level around all others,
// or by a longer block or level if the repetitions follow without a gap. False if there are then
// too many levels, or no elements.
bool repeat(Loops& loops, std::int64_t count, std::int64_t stride) {
  if (count <= 0) return false;
  if (count == 1) return true;
  const auto times = static_cast<std::uint64_t>(count);
  std::vector<Level>& levels = loops.levels;
  if (levels.empty() && stride == static_cast<std::int64_t>(loops.block.bytes)) {
    loops.block.bytes *= times;
  } else if (!levels.empty() &&
             stride == static_cast<std::int64_t>(levels[0].count) * levels[0].stride) {
    levels[0].count *= times;
  } else {
    levels.insert(levels.begin(), {times, stride});
  }
  return levels.size() <= TypeMap::kMostLevels;
}

// Repeats the type along the axes of a subarray, the innermost first; `stride` is the extent of all
// axes inside the present one.
bool repeat_along_axes(Loops& loops, const std::vector<std::int64_t>& integers) {
  const std::int64_t rank = integers[0];
  const std::int64_t *sizes = &integers[1], *counts = sizes + rank, *starts = counts + rank;
  const bool is_fortran = integers[1 + 3 * rank] == MPI_ORDER_FORTRAN;
  std::int64_t stride = loops.extent;
  for (std::int64_t at = 0; at < rank; ++at) {
    const std::int64_t axis = is_fortran ? at : rank - 1 - at;
    if (!repeat(loops, counts[axis], stride)) return false;
    loops.block.offset += starts[axis] * stride;
    stride *= sizes[axis];
  }
  return true;
}

std::optional<Loops> of_named(MPI_Datatype type) {
  MPI_Count size = 0;
  real().Type_size_x(type, &size);
  const std::int64_t extent = extent_in_bytes(type);
  // A pair for MPI_MINLOC may have a gap.
  if (size <= 0 || size != extent) return std::nullopt;
  return Loops{.block = {0, static_cast<std::uint64_t>(size)}, .levels = {}, .extent = extent};
}

// Turns the loops of the element type into those of the derived type. False if its constructor is
// none of loops.
bool apply(const Contents& from, Loops& loops) {
  const std::vector<std::int64_t>& integers = from.integers;
  const std::int64_t extent = loops.extent;
  switch (from.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return true;
    case MPI_COMBINER_CONTIGUOUS:
      return repeat(loops, integers[0], extent);
    case MPI_COMBINER_VECTOR:
      return repeat(loops, integers[1], extent) && repeat(loops, integers[0], integers[2] * extent);
    case MPI_COMBINER_HVECTOR:
      return repeat(loops, integers[1], extent) && repeat(loops, integers[0], from.addresses[0]);
    case MPI_COMBINER_SUBARRAY:
      return repeat_along_axes(loops, integers);
    default:
      return false;
  }
}

bool may_be_loops(int combiner) {
  return combiner == MPI_COMBINER_DUP || combiner == MPI_COMBINER_RESIZED ||
         combiner == MPI_COMBINER_CONTIGUOUS || combiner == MPI_COMBINER_VECTOR ||
         combiner == MPI_COMBINER_HVECTOR || combiner == MPI_COMBINER_SUBARRAY;
}

}  // namespace

std::optional<Loops> loops_of(MPI_Datatype type) {
  const int combiner = combiner_of(type);
  if (combiner == MPI_COMBINER_NAMED) return of_named(type);
  if (!may_be_loops(combiner)) return std::nullopt;
  const Contents from(type);
  if (from.parts.size() != 1) return std::nullopt;
  std::optional<Loops> loops = loops_of(from.parts[0]);
  if (!loops || !apply(from, *loops)) return std::nullopt;
  loops->extent = extent_in_bytes(type);
  return loops;
}

}  // namespace thinwire::mpi
