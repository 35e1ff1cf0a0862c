// The payload of one chunk of version 0, which is decoded alone, on the host. See
// spec/codec-ans.md.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/status.h"

namespace thinwire::codec::ans::v0 {

template <typename Word>
Status decode_values(ByteView encoded, std::uint32_t values, std::uint32_t tuple, std::byte* out);

}  // namespace thinwire::codec::ans::v0
