// Enqueues the kernels of reductions and statistics; kUnsupported in a build without CUDA, kDevice
// where a kernel does not start.
#pragma once

#include "base/status.h"
#include "collective/key_range.h"
#include "collective/slots/sum.h"
#include "device/stream.h"

namespace thinwire::collective {

// As collective::combine(), of at least one value. `into` is memory of the stream's device, `from`
// any memory that it reaches.
Status enqueue_combine(Reduction reduction, Dtype dtype, std::uint64_t count, std::byte* into,
                       const std::byte* from, device::StreamHandle stream);

// As sum_arrays(), of memory that the stream's device reaches.
Status enqueue_sum_of_arrays(Dtype dtype, std::uint64_t count, const Operands& arrays,
                             std::byte* to, device::StreamHandle stream);

inline constexpr std::uint64_t kMostKeyRanges = 1024;

// How many ranges enqueue_key_ranges() leaves for `count` values: 1 to kMostKeyRanges.
std::uint64_t key_ranges(std::uint64_t count);

// The ranges of parts of an array, which joined are that of all; `ranges` is memory that the
// stream's device reaches.
Status enqueue_key_ranges(Dtype dtype, std::uint64_t count, const std::byte* values,
                          KeyRange* ranges, device::StreamHandle stream);

}  // namespace thinwire::collective
