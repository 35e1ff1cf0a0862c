// Lines of fp32: the bytes of encode_block<float, 1>(), several blocks side by side.
#pragma once

#include <cstddef>
#include <cstdint>

namespace thinwire::codec::zfp {

// Encodes the `count` values at `source`, any alignment, into whole words at `out`. False if a
// value is NaN or infinite.
bool encode_line(const std::byte* source, std::uint64_t count, int block_bits, std::byte* out);

// Decodes what encode_line() writes, or any bytes as many, into `count` values at `out`.
void decode_line(const std::byte* encoded, std::uint64_t count, int block_bits, std::byte* out);

}  // namespace thinwire::codec::zfp
