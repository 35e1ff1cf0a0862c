#include "shim/mpi/native/element_bytes.h"

#include <algorithm>
#include <cstring>

namespace thinwire::mpi {

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
