// Lines of fp64 in blocks of up to 64 bits: the bytes of the blocks of blocks.h.
//
// Of such a block the stream reaches the upper half of the coefficients' planes alone. When
// encoding: some coefficient is 2^59 at least, since values are below 15/4 of the largest
// coefficient and the largest one is 2^61 or more; so the highest plane with ones is among the
// first 6, each plane behind it takes two bits, and 52 bits end before plane 31. So the coder of
// fp32's lines has them.
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
