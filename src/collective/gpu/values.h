// Reductions and statistics of values wherever they lie: on the GPU if that is in GPU memory.
// Complete on return; nothing waits for earlier work of the caller's. kDevice if a GPU fails.
#pragma once

#include "base/status.h"
#include "collective/reduce.h"
#include "collective/slots/sum.h"

namespace thinwire::collective {

// The bits of collective::combine(). What `from` has that the GPU of `into` does not reach is
// copied there first.
Status combine_anywhere(Reduction reduction, Dtype dtype, std::uint64_t count, std::byte* into,
                        const std::byte* from);

// The bits of collective::sum_arrays(): all arrays are in host memory, or on one GPU.
Status sum_anywhere(Dtype dtype, std::uint64_t count, const Operands& arrays, std::byte* to);

// Finds what collective::statistics() finds, wherever the values lie.
Result<Statistics> statistics_anywhere(Dtype dtype, std::uint64_t count, const std::byte* values);

}  // namespace thinwire::collective
