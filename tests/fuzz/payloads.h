// Payloads of chunks, and frames made of them.
#pragma once

#include "fuzz/recipe.h"

namespace thinwire::fuzz {

// Whether only a version of the codec before this one writes frames with such a parameter.
bool is_older(const codec::Codec& codec, std::uint64_t parameter);

// The parameter of this version that means the same.
std::uint64_t newest_parameter(const codec::Codec& codec, std::uint64_t parameter);

// The payload of each chunk of an array, those of older versions, too. Empty if the codec declines.
std::vector<Bytes> encode_chunks(const Recipe& recipe, ByteView values);

// A frame of exactly these payloads, all its checksums right.
Bytes seal_frame(const Recipe& recipe, const std::vector<Bytes>& payloads);

// Flags of a recipe that say how it is made.
enum SealFlag : std::uint8_t {
  kNoChecksums = 1,
  kRawChunks = 4,  // the chunks say that they are stored raw
  // Under a codec that takes "fill=": payloads begin with a mask.
  kHoled = 8,
};

bool is_holed(const Recipe& recipe);

}  // namespace thinwire::fuzz
