// The options that nvCOMP's engines are called with, and how they see a payload.
#pragma once

#include "codec/nvcomp/library.h"
#include "codec/nvcomp/settings.h"

namespace thinwire::codec::nvcomp {

Options encode_options(const Row& row, const Settings& settings, Dtype dtype);
Options decode_options(const Row& row, const Settings& settings, Dtype dtype);

// Payloads of these are filled up with zeros to multiples of what their decoders want of addresses,
// so that these can read them in the frame. The others must be told the exact size.
THINWIRE_HOST_DEVICE constexpr std::uint32_t payload_unit(Engine engine) {
  if (engine == Engine::kAns) return 16;
  return engine == Engine::kBitcomp ? 8 : 1;
}

// Zeros in front of the first payload, if it is coded: so nvCOMP's bytes lie at multiples of the
// unit in the frame. `head` is of header and chunk table, a multiple of 8.
THINWIRE_HOST_DEVICE constexpr std::uint32_t payload_lead(std::uint32_t unit, std::uint64_t head) {
  return unit == 16 ? static_cast<std::uint32_t>(head % 16) : 0;
}

// Whether the decoder waits for the stream on the host, and refuses a batch with one bad chunk.
constexpr bool decodes_behind_host(Engine engine) { return engine == Engine::kBitcomp; }

}  // namespace thinwire::codec::nvcomp
