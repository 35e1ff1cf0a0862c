#include "shim/common/trace/kinds.h"

#include <algorithm>
#include <string>

namespace thinwire::shim {
namespace {

static_assert(kBuckets == TW_HISTOGRAM_BUCKETS);

template <std::size_t kRoom>
void copy(const std::string& from, char (&to)[kRoom]) {
  const std::size_t length = std::min(from.size(), kRoom - 1);
  std::fill(std::copy_n(from.begin(), length, to), to + kRoom, '\0');
}

void copy(const std::array<Counter, kBuckets>& from, std::uint64_t (&to)[kBuckets]) {
  std::ranges::transform(from, to, &Counter::read);
}

}  // namespace

void read_kind(const Cell& cell, const Names& names, const Describe& describe,
               tw_stats_kind& kind) {
  const bool is_rest = cell.key == Cells::kOfAllOthers;
  const CellKey key = unpacked(cell.key);
  const CellText text = is_rest ? CellText{"others"} : describe(key);
  copy(text.operation, kind.operation);
  copy(is_rest ? "" : names.at(key.name), kind.communicator);
  copy(text.place, kind.place);
  copy(text.codec, kind.codec);
  copy(text.raw, kind.raw);
  kind.peer = key.peer;
  kind.calls = cell.calls.read();
  kind.bytes = cell.bytes.read();
  kind.wire_bytes = cell.wire_bytes.read();
  kind.nanoseconds = cell.nanoseconds.read();
  kind.predicted_nanoseconds = cell.predicted_nanoseconds.read();
  kind.raw_nanoseconds = cell.raw_nanoseconds.read();
  kind.whole_nanoseconds = cell.whole_nanoseconds.read();
  copy(cell.sizes, kind.sizes);
  copy(cell.times, kind.times);
  copy(cell.predictions, kind.predictions);
}

}  // namespace thinwire::shim
