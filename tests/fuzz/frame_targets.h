// Targets over headers and whole frames, of whatever codec they name.
#pragma once

#include "frame/header.h"
#include "fuzz/target.h"

namespace thinwire::fuzz {

// Fields of a header out of the input, sealed: taken or refused as spec/frame.md says.
void run_header(const Target& target, ByteView input);
std::vector<Bytes> header_seeds(const Target& target);

// The input is the frame, through the C ABI.
void run_frame(const Target& target, ByteView input);
std::size_t mend_frame(const Target& target, MutableByteView input, std::size_t length,
                       unsigned seed);
std::vector<Bytes> frame_seeds(const Target& target);

// Gives the frame at the front of `frame` the mark, and makes checksums right: the header's, and
// unless `header_only` those of the chunks. What is too short stays.
void reseal(MutableByteView frame, const frame::Mark& mark, bool header_only);

// Frames of every codec, dtype and rank under this mark.
std::vector<Bytes> sample_frames(const frame::Mark& mark);

}  // namespace thinwire::fuzz
