// Lines of fp64 in blocks of up to 64 bits: the bytes are those of blocks.h.
//
// The stream of such a block holds planes of the upper half of the coefficients alone, so the coder
// of fp32's lines codes them. When encoding, some coefficient is at least 2^59, since values are
// below 15/4 of the largest coefficient and the largest one is 2^61 or more; so the highest plane
// with ones is among the first 6, each plane after it takes two bits or more, and 52 bits end
// before plane 31.
#pragma once

#include <cstddef>
#include <cstdint>

namespace thinwire::codec::zfp {

inline constexpr int kMaxDoubleLineBits = 64;

// As encode_line() and decode_line() for fp64; `block_bits` at most kMaxDoubleLineBits.
bool encode_double_line(const std::byte* source, std::uint64_t count, int block_bits,
                        std::byte* out);
void decode_double_line(const std::byte* encoded, std::uint64_t count, int block_bits,
                        std::byte* out);

}  // namespace thinwire::codec::zfp
