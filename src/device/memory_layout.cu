#include <algorithm>

#include "device/launch.h"
#include "device/memory_layout.h"

namespace thinwire::device {
namespace {

constexpr int kThreads = 256;
constexpr std::uint64_t kMostBlocks = 1u << 16;

template <typename Unit>
__global__ void pack_kernel(LayoutView view, const std::byte* elements, Unit* packed,
                            std::uint64_t units) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t at = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; at < units;
       at += step) {
    packed[at] = *reinterpret_cast<const Unit*>(elements + address_of(view, at * sizeof(Unit)));
  }
}

template <typename Unit>
__global__ void unpack_kernel(LayoutView view, const Unit* packed, std::byte* elements,
                              std::uint64_t units) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t at = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; at < units;
       at += step) {
    *reinterpret_cast<Unit*>(elements + address_of(view, at * sizeof(Unit))) = packed[at];
  }
}

unsigned blocks_for(std::uint64_t units) {
  return static_cast<unsigned>(std::min((units + kThreads - 1) / kThreads, kMostBlocks));
}

// Calls `start` with a value of the type of `unit` bytes.
template <typename Start>
Status with_unit(int unit, Start&& start) {
  switch (unit) {
    case 16:
      return start(uint4{});
    case 8:
      return start(std::uint64_t{});
    case 4:
      return start(std::uint32_t{});
    case 2:
      return start(std::uint16_t{});
    default:
      return start(std::uint8_t{});
  }
}

}  // namespace

Status enqueue_pack(const LayoutView& view, const std::byte* elements, std::byte* packed,
                    std::uint64_t bytes, int unit, StreamHandle stream) {
  return with_unit(unit, [&]<typename Unit>(Unit) {
    const std::uint64_t units = bytes / sizeof(Unit);
    return launch("cannot start a kernel", pack_kernel<Unit>, {blocks_for(units), kThreads}, stream,
                  view, elements, reinterpret_cast<Unit*>(packed), units);
  });
}

Status enqueue_unpack(const LayoutView& view, const std::byte* packed, std::byte* elements,
                      std::uint64_t bytes, int unit, StreamHandle stream) {
  return with_unit(unit, [&]<typename Unit>(Unit) {
    const std::uint64_t units = bytes / sizeof(Unit);
    return launch("cannot start a kernel", unpack_kernel<Unit>, {blocks_for(units), kThreads},
                  stream, view, reinterpret_cast<const Unit*>(packed), elements, units);
  });
}

}  // namespace thinwire::device
