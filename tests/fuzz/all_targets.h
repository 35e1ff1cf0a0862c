// All fuzz targets: what each runs, its seeds, and how some mend an input so that it gets past
// checksums.
#pragma once

#include "frame/header.h"
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

// Targets over headers and whole frames, of whatever codec they name.

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

// Targets over what users write, and what ranks publish.

// A codec spec at the C boundary, and the arrays that it would code.
void run_spec(const Target& target, ByteView input);
std::vector<Bytes> spec_seeds(const Target& target);

// Sizes and link rates at the C boundary.
void run_quantity(const Target& target, ByteView input);
std::vector<Bytes> quantity_seeds(const Target& target);

// A policy's file at the C boundary, and calls that it would take.
void run_policy(const Target& target, ByteView input);
std::vector<Bytes> policy_seeds(const Target& target);

// A table of costs at the C boundary.
void run_costs(const Target& target, ByteView input);
std::vector<Bytes> costs_seeds(const Target& target);

// The input as text of the C boundary: up to its first NUL.
std::string text_of(ByteView input);
Bytes bytes_of(std::string_view text);

// A packet that came in the place of one coded against a reference.

void run_delta(const Target& target, ByteView input);
std::size_t mend_delta(const Target& target, MutableByteView input, std::size_t length,
                       unsigned seed);
std::vector<Bytes> delta_seeds(const Target& target);

// Targets over what helpers of an NCCL job read.

void run_helper(const Target& target, ByteView input);
std::vector<Bytes> helper_seeds(const Target& target);

void run_stamp(const Target& target, ByteView input);
std::vector<Bytes> stamp_seeds(const Target& target);

// Target over slots of collectives in stream order.

// Which array is expected, and the slot that came.
void run_slot(const Target& target, ByteView input);
std::size_t mend_slot(const Target& target, MutableByteView input, std::size_t length,
                      unsigned seed);
std::vector<Bytes> slot_seeds(const Target& target);

// Targets over what the MPI shim reads of other ranks and of launchers.

// A wire message: a frame under a job's mark, and the lengths that the shim gives it.
void run_wire(const Target& target, ByteView input);
std::size_t mend_wire(const Target& target, MutableByteView input, std::size_t length,
                      unsigned seed);
std::vector<Bytes> wire_seeds(const Target& target);

// The capabilities that a rank publishes.
void run_capabilities(const Target& target, ByteView input);
std::vector<Bytes> capabilities_seeds(const Target& target);

// Answers of a launcher of MPICH's kin: lines, and which rank runs on which node.
void run_launcher(const Target& target, ByteView input);
std::vector<Bytes> launcher_seeds(const Target& target);

}  // namespace thinwire::fuzz
