// The share of an array that coding would leave, foreseen from a sample of it.
#pragma once

#include "codec/spec.h"
#include "message/message.h"

namespace thinwire::message {

// Foresees what is left of a byte; 1 if the array would stay raw. `spec` is a lossless codec, or
// "auto", under which a ratio below `least_ratio` is not worth a frame.
Result<double> foreseen_share(const codec::Spec& spec, const codec::Chunk& array,
                              const std::byte* source, double least_ratio);

}  // namespace thinwire::message
