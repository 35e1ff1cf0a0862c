// Targets over what helpers of an NCCL job read.
#pragma once

#include "fuzz/target.h"

namespace thinwire::fuzz {

void run_helper(const Target& target, ByteView input);
std::vector<Bytes> helper_seeds(const Target& target);

void run_stamp(const Target& target, ByteView input);
std::vector<Bytes> stamp_seeds(const Target& target);

}  // namespace thinwire::fuzz
