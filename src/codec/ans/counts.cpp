#include "codec/ans/counts.h"

#include "base/vector_units.h"

namespace thinwire::codec::ans {
namespace {

// Several tables: in a single one, equal bytes in a row would each wait until the count of the one
// before is stored.
constexpr std::size_t kTables = 4;
using Tables = std::uint32_t[kTables][kBytes];

// Bytes that one load takes.
constexpr std::size_t kAtOnce = sizeof(std::uint64_t);

THINWIRE_VECTOR_CLONES void clear(Tables& tables) {
  for (auto& table : tables) {
    for (std::uint32_t& times : table) times = 0;
  }
}

THINWIRE_VECTOR_CLONES void add_up(const Tables& tables, Counts& counts) {
  for (std::size_t byte = 0; byte < kBytes; ++byte) {
    counts[byte] = tables[0][byte] + tables[1][byte] + tables[2][byte] + tables[3][byte];
  }
}

}  // namespace

Counts count(ByteView plane) {
  alignas(64) Tables tables;
  clear(tables);
  std::size_t at = 0;
  for (; at + kAtOnce <= plane.size(); at += kAtOnce) {
    const auto bytes = load<std::uint64_t>(plane.data() + at);
    for (std::size_t byte = 0; byte < kAtOnce; ++byte) {
      ++tables[byte % kTables][bytes >> (8 * byte) & 0xff];
    }
  }
  for (; at < plane.size(); ++at) ++tables[0][static_cast<std::uint8_t>(plane[at])];
  Counts counts;
  add_up(tables, counts);
  return counts;
}

}  // namespace thinwire::codec::ans
