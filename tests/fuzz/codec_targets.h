// The targets that every codec has.
#pragma once

#include "fuzz/target.h"

namespace thinwire::fuzz {

// A sound header and sound checksums around the input: what reaches the decoder is the input's.
void run_decode(const Target& target, ByteView input);
std::size_t mend_decode(const Target& target, MutableByteView input, std::size_t length,
                        unsigned seed);
std::vector<Bytes> decode_seeds(const Target& target);

// An array out of the input, encoded and decoded.
void run_round_trip(const Target& target, ByteView input);
std::vector<Bytes> round_trip_seeds(const Target& target);

}  // namespace thinwire::fuzz
