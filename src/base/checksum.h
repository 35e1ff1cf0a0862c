// The checksum of headers and chunks; defined in spec/frame.md.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace thinwire {

// 64-bit checksum of `bytes`. Guards against damage, not against forgery.
std::uint64_t checksum(ByteView bytes);

}  // namespace thinwire
