// The bench's own kernels: holding a stream, warming clocks, comparing, and ceilings.
#pragma once

#include "device.h"

namespace thinwire::bench {

// Keeps the stream busy for `microseconds`, so that what is enqueued meanwhile starts at once.
void hold(const Stream& stream, std::uint64_t microseconds);

// Keeps every processor of the GPU busy until its clocks have risen.
void warm_clocks(const Stream& stream, double seconds);

// Adds to *differences, device memory, how many bytes differ. Both sides begin at a multiple of 8.
void count_differences(const Stream& stream, const std::byte* left, const std::byte* right,
                       std::uint64_t bytes, unsigned long long* differences);

// Reads `bytes` bytes at `source` and writes half as many at `target`: the traffic of a codec that
// halves its input. `bytes` is a multiple of 32.
void halve(const Stream& stream, const std::byte* source, std::byte* target, std::uint64_t bytes);

}  // namespace thinwire::bench
