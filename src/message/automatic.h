// "auto": which lossless codec a message gets, by its dtype and a sample of its data.
#pragma once

#include <span>

#include "codec/spec.h"
#include "message/message.h"

namespace thinwire::message {

// The codecs that auto may choose for a dtype, in the order of preference, each once; all lossless.
// A slow one is the last.
std::span<const Coder> automatic_candidates(Dtype dtype);

// Whether it is a candidate for some dtype.
bool may_choose(const codec::Codec& codec);

// A ratio below this one is not worth a message of its own.
inline constexpr double kLeastRatio = 1.02;

// The terms of a choice.
struct AutomaticTerms {
  double least_ratio = kLeastRatio;  // below it raw is as good
  // Time that a fast codec takes to encode and decode, as a part of the time that the array takes
  // raw on its link; 1 if no link is known. A slow codec is chosen if what it leaves away is
  // worth its time.
  double codec_share = 1;
};

// Terms from the least ratio at which a plan says that a codec pays; 0 if it knew no link.
AutomaticTerms terms_of(double least_ratio);

struct AutomaticChoice {
  Coder coder;       // raw if nothing pays
  double ratio = 1;  // of the sample
};

// The candidate that makes the least of a sample out of many places of the array, in the array's
// shape or as one line, with the stride of its values if it has one; raw if that is a ratio
// below the least one. The same wherever the array lies, slow codecs aside. On a GPU the candidates
// run side by side, after what is on `stream`, and their sizes are waited for.
Result<AutomaticChoice> choose_automatically(const codec::Chunk& array, const std::byte* source,
                                             const AutomaticTerms& terms,
                                             device::StreamHandle stream);

// As encode(), with the codec that the data chooses; kDeclined or a raw frame if none pays.
Result<std::uint64_t> encode_automatically(const codec::Chunk& array, const std::byte* source,
                                           MutableByteView destination, const AutomaticTerms& terms,
                                           const EncodeOptions& options);

// The choice by dtype and shape alone, for work that may not wait: what a sender and a receiver
// come to without the data.
Coder automatic_in_stream(const codec::Chunk& array);

// Most bytes that a frame can take, whichever candidate is chosen.
Result<std::uint64_t> automatic_bound(const codec::Chunk& array);

// Foresees what coding an array would leave of a byte, from a sample of it; 1 if it would stay raw.
// `spec` is a lossless codec, or "auto", under which a ratio below `least_ratio` is not worth a
// frame.
Result<double> foreseen_share(const codec::Spec& spec, const codec::Chunk& array,
                              const std::byte* source, double least_ratio);

}  // namespace thinwire::message
