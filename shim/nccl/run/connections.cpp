#include "run/connections.h"

#include <algorithm>
#include <cstdlib>

namespace thinwire::nccl {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

// Values that NCCL has unless told otherwise: bytes of a buffer of its protocol Simple, and
// channels of a pair within a node, at the most, and between nodes.
constexpr std::uint64_t kBuffer = 4 * kMiB;
constexpr std::uint64_t kChannels = 32, kChannelsBetween = 2;

// Buffers of the protocols LL and LL128, which are 5.2 MiB, as memory of a GPU is given out; within
// a node one end has them, between nodes both.
constexpr std::uint64_t kOthersWithin = 7 * kMiB, kOthersBetween = 6 * kMiB;

}  // namespace

// With these figures 480 MiB within a node. From 1.06 to 4.34 GB were seen for the first exchange
// of all with all on a node of 8 H100, which is 447 MiB a rank (NVIDIA/nccl#1685).
BytesOfPair bytes_of_pair(const std::function<const char*(const char* name)>& named) {
  const auto number = [&](const char* name, std::uint64_t usual) {
    const char* const text = named(name);
    const long long found = text == nullptr ? 0 : std::strtoll(text, nullptr, 0);
    return found > 0 ? static_cast<std::uint64_t>(found) : usual;
  };
  const std::uint64_t buffer = number("NCCL_BUFFSIZE", kBuffer);
  const std::uint64_t channels = std::min(number("NCCL_NCHANNELS_PER_PEER", kChannels),
                                          number("NCCL_MAX_P2P_NCHANNELS", kChannels));
  const std::uint64_t between = number("NCCL_NCHANNELS_PER_NET_PEER", kChannelsBetween);
  return {.mate = channels * (2 * buffer + kOthersWithin),
          .another = between * 2 * (buffer + kOthersBetween)};
}

const BytesOfPair& bytes_of_pair() {
  static const BytesOfPair made =
      bytes_of_pair([](const char* name) -> const char* { return std::getenv(name); });
  return made;
}

}  // namespace thinwire::nccl
