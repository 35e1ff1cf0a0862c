#include "device/launch.h"
#include "device/places.h"

namespace thinwire::device {
namespace {

constexpr unsigned kThreads = 256;

// A block a row: rows are short, and there are few.
__global__ void gather_rows(const __grid_constant__ Places places, const std::byte* array,
                            std::byte* out) {
  const std::byte* const from = array + places.row_offset(blockIdx.x);
  std::byte* const to = out + blockIdx.x * places.row_bytes;
  for (std::uint64_t at = threadIdx.x; at < places.row_bytes; at += blockDim.x) to[at] = from[at];
}

}  // namespace

Status enqueue_gather(const Places& places, const std::byte* array, std::byte* out,
                      StreamHandle stream) {
  if (places.bytes() == 0) return {};
  return launch("cannot gather a sample", gather_rows, {places.all_rows(), kThreads}, stream,
                places, array, out);
}

}  // namespace thinwire::device
