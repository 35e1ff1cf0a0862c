#include "shim/mpi/native/element_bytes.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <vector>

#include "shim/mpi/native/real.h"

namespace thinwire::mpi {
namespace {

// The type that is being built; each step takes the place of the one before.
class Steps {
 public:
  Steps() : type_(MPI_BYTE) {}
  ~Steps() { free(); }
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;

  // `create(from, &to)` as the MPI's constructors return.
  template <typename Create>
  bool take(Create&& create) {
    MPI_Datatype made;
    if (create(type_, &made) != MPI_SUCCESS) return false;
    free();
    type_ = made;
    owned_ = true;
    return true;
  }

  MPI_Datatype release() {
    owned_ = false;
    return type_;
  }

 private:
  void free() {
    if (owned_) real().Type_free(&type_);
  }
  MPI_Datatype type_;
  bool owned_ = false;
};

// Not backwards: Open MPI (4.1.4, 5.0.11) lays a vector of single bytes with a stride of -1 down as
// one with a stride of 1.
bool add_levels(Steps& steps, const TypeMap& map) {
  for (auto level = map.levels().rbegin(); level != map.levels().rend(); ++level) {
    if (level->count > INT_MAX || level->stride == -1) return false;
    const auto repeat = [&](MPI_Datatype from, MPI_Datatype* to) {
      return real().Type_create_hvector(static_cast<int>(level->count), 1, level->stride, from, to);
    };
    if (!steps.take(repeat)) return false;
  }
  return true;
}

// The segments, as one block each: the first level of a regular pattern starts at an offset too.
bool add_segments(Steps& steps, const TypeMap& map) {
  const std::vector<tw_segment>& segments = map.segments();
  std::vector<int> lengths;
  std::vector<MPI_Aint> places;
  lengths.reserve(segments.size());
  places.reserve(segments.size());
  for (const tw_segment& segment : segments) {
    if (segment.bytes > INT_MAX) return false;
    lengths.push_back(static_cast<int>(segment.bytes));
    places.push_back(segment.offset);
  }
  return lengths.size() <= INT_MAX && steps.take([&](MPI_Datatype from, MPI_Datatype* to) {
    return real().Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(),
                                       places.data(), from, to);
  });
}

}  // namespace

std::optional<MPI_Datatype> make_byte_type(const TypeMap& map) {
  Steps steps;
  const bool made = map.bytes() > 0 && add_segments(steps, map) && add_levels(steps, map) &&
                    steps.take([&](MPI_Datatype from, MPI_Datatype* to) {
                      return real().Type_create_resized(from, 0, map.extent(), to);
                    });
  if (!made) return std::nullopt;
  MPI_Datatype type = steps.release();
  real().Type_commit(&type);
  return type;
}

// A single block, repeated by the levels, the innermost last, and by the elements.
ElementBytes::Run ElementBytes::run_of_levels(std::uint64_t offset) const {
  const TypeMap& map = *elements_.map;
  const tw_segment& block = map.segments()[0];
  std::uint64_t index = offset / block.bytes;
  const std::uint64_t inside = offset % block.bytes;
  std::int64_t place = block.offset + static_cast<std::int64_t>(inside);
  for (auto level = map.levels().rbegin(); level != map.levels().rend(); ++level) {
    place += static_cast<std::int64_t>(index % level->count) * level->stride;
    index /= level->count;
  }
  return {elements_.at(place + static_cast<std::int64_t>(index) * map.extent()),
          block.bytes - inside};
}

ElementBytes::Run ElementBytes::run_of_segments(std::uint64_t offset) {
  const TypeMap& map = *elements_.map;
  const auto element = static_cast<std::int64_t>(offset / map.bytes()) * map.extent();
  const std::uint64_t wanted = offset % map.bytes();
  if (wanted < before_) segment_ = before_ = 0;
  for (; wanted >= before_ + map.segments()[segment_].bytes; ++segment_) {
    before_ += map.segments()[segment_].bytes;
  }
  const tw_segment& segment = map.segments()[segment_];
  const std::uint64_t inside = wanted - before_;
  return {elements_.at(element + segment.offset + static_cast<std::int64_t>(inside)),
          segment.bytes - inside};
}

ElementBytes::Run ElementBytes::run_at(std::uint64_t offset, std::uint64_t bytes) {
  if (!elements_.map) return {elements_.at(static_cast<std::int64_t>(offset)), bytes};
  Run run = elements_.map->segments().size() == 1 ? run_of_levels(offset) : run_of_segments(offset);
  run.bytes = std::min(run.bytes, bytes);
  return run;
}

void ElementBytes::read(std::uint64_t offset, std::uint64_t bytes, std::byte* to) {
  while (bytes > 0) {
    const Run run = run_at(offset, bytes);
    std::memcpy(to, run.at, run.bytes);
    to += run.bytes, offset += run.bytes, bytes -= run.bytes;
  }
}

void ElementBytes::write(std::uint64_t offset, std::uint64_t bytes, const std::byte* from) {
  while (bytes > 0) {
    const Run run = run_at(offset, bytes);
    std::memcpy(run.at, from, run.bytes);
    from += run.bytes, offset += run.bytes, bytes -= run.bytes;
  }
}

}  // namespace thinwire::mpi
