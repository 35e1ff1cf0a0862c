// Bytes of a group's eight values moved together and apart, all of a group at once in a 64-bit
// word, so that compilers take several groups in a vector.
#pragma once

#include <cstdint>

namespace thinwire::codec::expack {

inline constexpr std::uint64_t kEach = 0x0101010101010101u;

// All bits of the bytes whose lowest bit is set; `bits` has no others.
inline std::uint64_t whole_bytes(std::uint64_t bits) { return (bits << 8) - bits; }

// ---- Bytes to fields and back ----

// The lowest two bits of each byte.
inline std::uint16_t join_pairs(std::uint64_t bytes) {
  bytes &= 3 * kEach;
  bytes = (bytes | bytes >> 6) & 0x000F000F000F000Fu;
  bytes = (bytes | bytes >> 12) & 0x000000FF000000FFu;
  return static_cast<std::uint16_t>(bytes | bytes >> 24);
}

inline std::uint64_t split_pairs(std::uint16_t pairs) {
  std::uint64_t bytes = pairs;
  bytes = (bytes | bytes << 24) & 0x000000FF000000FFu;
  bytes = (bytes | bytes << 12) & 0x000F000F000F000Fu;
  return (bytes | bytes << 6) & 3 * kEach;
}

// The lowest four bits of each byte, of which the others are 0.
inline std::uint32_t join_fours(std::uint64_t bytes) {
  bytes = (bytes | bytes >> 4) & 0x00FF00FF00FF00FFu;
  bytes = (bytes | bytes >> 8) & 0x0000FFFF0000FFFFu;
  return static_cast<std::uint32_t>(bytes | bytes >> 16);
}

inline std::uint64_t split_fours(std::uint32_t fours) {
  std::uint64_t bytes = fours;
  bytes = (bytes | bytes << 16) & 0x0000FFFF0000FFFFu;
  bytes = (bytes | bytes << 8) & 0x00FF00FF00FF00FFu;
  return (bytes | bytes << 4) & 15 * kEach;
}

// The lowest bit of each byte.
inline std::uint8_t join_bits(std::uint64_t bytes) {
  bytes &= kEach;
  bytes = (bytes | bytes >> 7) & 0x0003000300030003u;
  bytes = (bytes | bytes >> 14) & 0x0000000F0000000Fu;
  return static_cast<std::uint8_t>(bytes | bytes >> 28);
}

inline std::uint64_t split_bits(std::uint8_t bits) {
  std::uint64_t bytes = bits;
  bytes = (bytes | bytes << 28) & 0x0000000F0000000Fu;
  bytes = (bytes | bytes << 14) & 0x0003000300030003u;
  return (bytes | bytes << 7) & kEach;
}

// The lowest three bits of each byte, of which the others are 0.
inline std::uint32_t join_threes(std::uint64_t bytes) {
  bytes = (bytes | bytes >> 5) & 0x003F003F003F003Fu;
  bytes = (bytes | bytes >> 10) & 0x00000FFF00000FFFu;
  return static_cast<std::uint32_t>(bytes | bytes >> 20) & 0xFFFFFFu;
}

inline std::uint64_t split_threes(std::uint32_t threes) {
  std::uint64_t bytes = threes & 0xFFFFFFu;
  bytes = (bytes | bytes << 20) & 0x00000FFF00000FFFu;
  bytes = (bytes | bytes << 10) & 0x003F003F003F003Fu;
  return (bytes | bytes << 5) & 7 * kEach;
}

// ---- Bytes together and apart ----

// Masks of the bytes that go down by one byte, then by two, then by four, after which the `chosen`
// ones (a lowest bit each) follow one another from the lowest byte on.
struct Moves {
  std::uint64_t by_one;
  std::uint64_t by_two;
  std::uint64_t by_four;
};

inline Moves find_moves(std::uint64_t chosen) {
  // How far each has to go: how many below it are not chosen.
  const std::uint64_t others = chosen ^ kEach;
  std::uint64_t far = others + (others << 8);
  far += far << 16;
  far += far << 32;
  far = (far - others) & whole_bytes(chosen);
  Moves moves{};
  moves.by_one = whole_bytes(far & kEach);
  far = (far & ~moves.by_one) | (far & moves.by_one) >> 8;
  moves.by_two = whole_bytes(far >> 1 & kEach);
  far = (far & ~moves.by_two) | (far & moves.by_two) >> 16;
  moves.by_four = whole_bytes(far >> 2 & kEach);
  return moves;
}

// The bytes that `moves` was made for, together; all others are 0 before.
inline std::uint64_t together(std::uint64_t bytes, const Moves& moves) {
  bytes = (bytes & ~moves.by_one) | (bytes & moves.by_one) >> 8;
  bytes = (bytes & ~moves.by_two) | (bytes & moves.by_two) >> 16;
  return (bytes & ~moves.by_four) | (bytes & moves.by_four) >> 32;
}

// The reverse; what becomes of bytes that were not chosen is any.
inline std::uint64_t apart(std::uint64_t bytes, const Moves& moves) {
  bytes = (bytes & ~moves.by_four) | (bytes << 32 & moves.by_four);
  bytes = (bytes & ~moves.by_two) | (bytes << 16 & moves.by_two);
  return (bytes & ~moves.by_one) | (bytes << 8 & moves.by_one);
}

// The sum of bytes that are 0 or 1.
inline std::uint32_t sum_bytes(std::uint64_t bytes) {
  bytes += bytes >> 32;
  bytes += bytes >> 16;
  return static_cast<std::uint32_t>(bytes + (bytes >> 8)) & 0xFF;
}

}  // namespace thinwire::codec::expack
