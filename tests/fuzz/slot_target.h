// Target over slots of collectives in stream order.
#pragma once

#include "fuzz/target.h"

namespace thinwire::fuzz {

// Which array is expected, and the slot that came.
void run_slot(const Target& target, ByteView input);
std::size_t mend_slot(const Target& target, MutableByteView input, std::size_t length,
                      unsigned seed);
std::vector<Bytes> slot_seeds(const Target& target);

}  // namespace thinwire::fuzz
