// How often each byte is in a plane, on the host.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes.h"
#include "codec/ans/frequencies.h"

namespace thinwire::codec::ans {

using Counts = std::array<std::uint32_t, kBytes>;

Counts count(ByteView plane);

}  // namespace thinwire::codec::ans
