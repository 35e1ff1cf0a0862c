// MPC's units on the host: the words of a unit stand in columns, one for each group, so that the
// loops over a row are what the compiler vectorises. See spec/codec-mpc.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"

namespace thinwire::codec::mpc {

// Write the bitmaps of `values` values at `source`, any alignment, to `bitmaps`, and the words that
// are not zero to `out`; return where they end. One word more than those may be written.
std::byte* encode_f32(const std::byte* source, std::uint64_t values, int stride, std::byte* bitmaps,
                      std::byte* out);
std::byte* encode_f64(const std::byte* source, std::uint64_t values, int stride, std::byte* bitmaps,
                      std::byte* out);

// The reverse: `words` are exactly as many as the bitmaps count.
void decode_f32(const std::byte* bitmaps, ByteView words, std::uint64_t values, int stride,
                std::byte* out);
void decode_f64(const std::byte* bitmaps, ByteView words, std::uint64_t values, int stride,
                std::byte* out);

}  // namespace thinwire::codec::mpc
