// nvCOMP as this process finds it when it runs: nothing of it is needed to build. Its entry points
// take 64 bytes of options by value whatever the engine, so that one table of types fits all.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "codec/nvcomp/rows.h"
#include "device/stream.h"

namespace thinwire::codec::nvcomp {

// nvCOMP's status codes; those that this project looks at.
using Code = int;
inline constexpr Code kSuccess = 0;

struct Options {
  alignas(8) std::byte bytes[64];
};

// Alignments of the memory that a call is given.
struct Alignments {
  std::size_t input;
  std::size_t output;
  std::size_t temporary;
};

// One engine's functions, "nvcompBatched" + its name + what is said here.
struct Entries {
  Code (*encode_alignments)(Options, Alignments*);  // CompressGetRequiredAlignments
  Code (*encode_temporary)(std::size_t chunks, std::size_t most_chunk_bytes, Options,
                           std::size_t* bytes, std::size_t array_bytes,
                           device::StreamHandle);  // CompressGetTempSize
  Code (*most_encoded)(std::size_t most_chunk_bytes, Options,
                       std::size_t* bytes);  // CompressGetMaxOutputChunkSize
  Code (*encode)(const void* const* sources, const std::size_t* source_bytes,
                 std::size_t most_chunk_bytes, std::size_t chunks, void* temporary,
                 std::size_t temporary_bytes, void* const* targets, std::size_t* encoded_bytes,
                 Options, Code* codes, device::StreamHandle);  // CompressAsync
  Code (*decode_alignments)(Options, Alignments*);             // DecompressGetRequiredAlignments
  Code (*decode_temporary)(std::size_t chunks, std::size_t most_chunk_bytes, Options,
                           std::size_t* bytes, std::size_t array_bytes,
                           device::StreamHandle);  // DecompressGetTempSize
  Code (*decode)(const void* const* sources, const std::size_t* source_bytes,
                 const std::size_t* target_bytes, std::size_t* decoded_bytes, std::size_t chunks,
                 void* temporary, std::size_t temporary_bytes, void* const* targets, Options,
                 Code* codes, device::StreamHandle);  // DecompressAsync
};

// Loads nvCOMP at the first call: kUnsupported, with how to get it, if it is not found or of
// another major version. Later calls answer as the first.
Status library_status();

// An engine's functions, after library_status() was kOk.
const Entries& entries_of(Engine engine);

}  // namespace thinwire::codec::nvcomp
