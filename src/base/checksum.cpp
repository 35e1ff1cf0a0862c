#include "base/checksum.h"

#include <array>

namespace thinwire {
namespace {

constexpr std::size_t kBlockBytes = 1024;
constexpr std::size_t kLanes = kBlockBytes / sizeof(std::uint64_t);
constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15u;

// The finaliser of SplitMix64.
constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

constexpr std::array<std::uint64_t, kLanes> make_keys() {
  std::array<std::uint64_t, kLanes> keys{};
  for (std::size_t lane = 0; lane < kLanes; ++lane) keys[lane] = mix((lane + 1) * kGolden);
  return keys;
}

constexpr std::array<std::uint64_t, kLanes> kKeys = make_keys();

inline std::uint64_t product(std::uint64_t word, std::uint64_t key) {
  const std::uint64_t keyed = word ^ key;
  return (keyed & 0xFFFFFFFFu) * (keyed >> 32);
}

std::uint64_t full_block(const std::byte* block) {
  std::uint64_t sum = 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    sum += product(load<std::uint64_t>(block + lane * 8), kKeys[lane]);
  }
  return sum;
}

std::uint64_t partial_block(ByteView tail) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < tail.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, tail.data() + at, tail.size() - at < 8 ? tail.size() - at : 8);
    sum += product(word, kKeys[at / 8]);
  }
  return sum;
}

}  // namespace

std::uint64_t checksum(ByteView bytes) {
  std::uint64_t total = bytes.size();
  std::uint64_t salt = kGolden;
  std::size_t at = 0;
  for (; bytes.size() - at >= kBlockBytes; at += kBlockBytes, salt += kGolden) {
    total += mix(full_block(bytes.data() + at) + salt);
  }
  if (at < bytes.size()) total += mix(partial_block(bytes.subspan(at)) + salt);
  return mix(total);
}

}  // namespace thinwire
