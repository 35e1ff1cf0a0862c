// Whether what was measured is what the codec promises.
#pragma once

#include "job.h"
#include "measure.h"

namespace thinwire::bench {

// max_error is the largest |x - x'|, over values that are finite in both; range is max - min of the
// array's finite values.
struct Verified {
  double max_error = 0;
  double range = 0;
};

// Holds every slot that the calls used to the CPU's frame and the CPU's decoded array, bit for bit,
// and a lossless codec's to the input. Throws std::runtime_error, which says what is wrong.
Verified verify(const Request& request, const Coder& coder, const Slots& slots,
                const Stream& stream, const Measured& measured);

}  // namespace thinwire::bench
