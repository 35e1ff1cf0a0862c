// One call of nvCOMP: what it is asked, and the workspace that it and our kernels around it share.
#pragma once

#include <cstddef>

#include "base/status.h"
#include "codec/layout.h"
#include "codec/nvcomp/engine.h"

namespace thinwire::codec::nvcomp {

// The very start of the workspace, zeros between calls. The bytes after it are left as they come.
struct State {
  unsigned status;    // the worst that a decode has met
  unsigned entries;   // chunks that nvCOMP is to decode, if these are counted
  unsigned integers;  // whether an encode has met such
  unsigned unused;
};

inline constexpr std::uint32_t kMostLead = 8;

// Addresses in the workspace; arrays have an entry for each chunk.
struct Batch {
  State* state;
  std::uint64_t* offsets;  // of payloads, from the first one's beginning
  const std::byte** sources;
  std::size_t* source_bytes;
  std::byte** targets;
  std::size_t* target_bytes;  // room for a decoded chunk, and what must come of it; 0 for none
  std::size_t* result_bytes;
  Code* codes;
  std::byte* temporary;
  std::byte* slots;  // an encoded chunk each; kMostLead bytes in front of the first
  std::byte* array;  // a whole raw array that lies well
};

struct Plan {
  const Row* row;
  Options encode, decode;
  Alignments encode_alignments, decode_alignments;
  std::uint64_t chunks;
  std::uint64_t chunk_bytes;  // raw, of every chunk but the last
  std::uint64_t array_bytes;
  std::size_t encode_temporary, decode_temporary;
  std::uint64_t slot_bytes;

  std::uint64_t workspace_bytes() const;
  Batch batch(std::byte* workspace) const;
};

// kUnsupported if nvCOMP is not there, kInternal if it refuses.
Result<Plan> make_plan(const Row& row, const Layout& layout, std::uint64_t parameter);

// "nvCOMP cannot ...: code", as kInternal.
Status engine_error(const Row& row, const char* what, Code code);

}  // namespace thinwire::codec::nvcomp
