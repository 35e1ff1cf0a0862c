#include "base/checksum.h"

#include <array>

namespace thinwire {
namespace {

constexpr std::array<std::uint64_t, kChecksumLanes> make_keys() {
  std::array<std::uint64_t, kChecksumLanes> keys{};
  for (int lane = 0; lane < kChecksumLanes; ++lane) keys[lane] = checksum_key(lane);
  return keys;
}

constexpr std::array<std::uint64_t, kChecksumLanes> kKeys = make_keys();

std::uint64_t full_block(const std::byte* block) {
  std::uint64_t sum = 0;
  for (int lane = 0; lane < kChecksumLanes; ++lane) {
    sum += checksum_product(load<std::uint64_t>(block + lane * 8), kKeys[lane]);
  }
  return sum;
}

std::uint64_t partial_block(ByteView tail) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < tail.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, tail.data() + at, tail.size() - at < 8 ? tail.size() - at : 8);
    sum += checksum_product(word, kKeys[at / 8]);
  }
  return sum;
}

}  // namespace

std::uint64_t checksum(ByteView bytes) {
  std::uint64_t sum = 0;
  std::uint64_t block = 0;
  std::size_t at = 0;
  for (; bytes.size() - at >= kChecksumBlockBytes; at += kChecksumBlockBytes, ++block) {
    sum += full_block(bytes.data() + at) * checksum_weight(block);
  }
  if (at < bytes.size()) sum += partial_block(bytes.subspan(at)) * checksum_weight(block);
  return checksum_finish(bytes.size(), sum);
}

}  // namespace thinwire
