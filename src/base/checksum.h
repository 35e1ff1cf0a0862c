// The checksum of headers and chunks; defined in spec/frame.md.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace thinwire {

// 64-bit checksum of `bytes`. It is a sum over independent 1 KiB blocks, so that any number of
// threads may add their blocks in any order. Guards against damage, not against forgery.
std::uint64_t checksum(ByteView bytes);

}  // namespace thinwire
