#include "shim/mpi/choose/came.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>

namespace thinwire::mpi {
namespace {

struct OfSize {
  std::atomic<std::uint64_t> raw{0}, coded{0};
};

std::array<OfSize, 65> came;

}  // namespace

void note_came(std::uint64_t bytes, std::uint64_t raw_bytes) {
  OfSize& of = came[static_cast<std::size_t>(std::bit_width(raw_bytes))];
  (bytes < raw_bytes ? of.coded : of.raw).fetch_add(1, std::memory_order_relaxed);
}

choose::Came came_so_far(std::uint32_t size_bits) {
  const OfSize& of = came[size_bits];
  return {of.raw.load(std::memory_order_relaxed), of.coded.load(std::memory_order_relaxed)};
}

}  // namespace thinwire::mpi
