// Arrays of any rank and dtype, one block after the other.
#pragma once

#include <cstddef>

#include "base/dtype.h"

namespace thinwire::codec::zfp {

// Encodes the array at `source`, any alignment, into whole words at `out`. False if a value is
// NaN or infinite.
bool encode_blocks(const std::byte* source, Dtype dtype, const Shape& shape, int block_bits,
                   std::byte* out);

// Decodes what encode_blocks() writes, or any bytes as many, into the array at `out`.
void decode_blocks(const std::byte* encoded, Dtype dtype, const Shape& shape, int block_bits,
                   std::byte* out);

}  // namespace thinwire::codec::zfp
