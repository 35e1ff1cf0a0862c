// A packet that came in the place of one coded against a reference.
#pragma once

#include "fuzz/target.h"

namespace thinwire::fuzz {

void run_delta(const Target& target, ByteView input);
std::size_t mend_delta(const Target& target, MutableByteView input, std::size_t length,
                       unsigned seed);
std::vector<Bytes> delta_seeds(const Target& target);

}  // namespace thinwire::fuzz
