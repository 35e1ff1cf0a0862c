// The work of the kernels on one array, and the memory between them.
#pragma once

#include "codec/accumulate.h"
#include "codec/fill.h"
#include "codec/layout.h"
#include "device/stream.h"
#include "frame/seal.h"
#include "message/float_words.h"

namespace thinwire::message::fills {

// Knowledge that kernels hand on; zeros before the first.
struct State {
  unsigned status;  // StatusCode of a frame that is decoded
  unsigned has_fill;
  unsigned long long fill;
  unsigned long long parameter;  // of a frame that is decoded
  device::Outcome coded;         // of the codec's own work
  // Findings of look(). Positions are kept as their complements, so that the first one is the most.
  unsigned long long largest;  // magnitude of the finite values
  unsigned long long nan;      // the first NaN
  unsigned long long there;    // some value that is not missing
  unsigned equal;              // whether a value has the bits that the spec names
  unsigned integers;           // whether a value reads as an integer
  // The kinds of values that stand apart, for "auto"; 0 for none. NaN is counted after the last.
  unsigned long long kind[kMostFills];
  unsigned too_many;  // of them
  unsigned others;    // whether others are below
  unsigned long long times[kMostFills + 1];
  unsigned long long first[kMostFills + 1];
};
inline constexpr std::uint64_t kStateBytes = 256;
static_assert(sizeof(State) <= kStateBytes);

// A chunk's mask, as spec/frame.md has it.
struct ChunkMask {
  enum Kind : std::uint32_t { kNone = 0, kAll = 1, kRuns = 2, kBits = 3, kRaw = 4 };
  std::uint32_t kind;   // kRaw: the chunk has none
  std::uint32_t bytes;  // with the one that says the kind; 0 in frames in which nothing is missing
  std::uint32_t row;    // the low half of the codec's row of the chunk table, on the way back
};

// The work of either direction.
struct Common {
  codec::Layout layout;
  State* state;
  ChunkMask* masks;         // one a chunk
  std::uint64_t* holed_at;  // one a chunk: where its payload begins after the chunk table
  std::uint64_t* plain_at;  // the same in the codec's frame
  std::uint32_t* bits;      // `words` a chunk, a bit for each value, 1 for a missing one
  std::uint64_t words;
  std::byte* values;          // an array in the layout of the caller's
  std::byte* plain;           // the codec's frame, without checksums of chunks
  frame::HeaderWords header;  // of a frame that misses nothing
  bool checksums;
  bool fixed;  // payloads of the codec have a fixed size
};

struct EncodeWork : Common {
  const std::byte* source;
  codec::Fill::Kind kind;
  std::uint64_t wanted;  // the bits that a value has which the spec names
  bool looks_for_integers;
  std::uint32_t* before;  // `words` a chunk: the number after that of the last word before it
  std::uint32_t* after;   // in which a value is there; likewise the next, counted from the end
  std::byte* frame;
  std::uint64_t limit;
  device::Outcome* outcome;
  unsigned long long* told;  // two words, or nullptr
};

struct DecodeWork : Common {
  const std::byte* frame;
  std::uint64_t length;
  frame::HeaderWords plain_header;
  bool open;                  // the frame's own parameter counts
  std::uint32_t whole_bytes;  // of a payload of fixed size, and the last one's
  std::uint32_t last_bytes;
  std::byte* destination;
  codec::Accumulate accumulate;
  device::Outcome* outcome;
};

// Kernels are given these whole; older drivers take 4 KiB.
static_assert(sizeof(EncodeWork) <= 4000 && sizeof(DecodeWork) <= 4000);

// Each enqueues kernels. Before the codec's encode of `values` into `plain`, and after it.
Status enqueue_find(const EncodeWork& work, device::StreamHandle stream);
Status enqueue_close(const EncodeWork& work, device::StreamHandle stream);
Status enqueue_join(const EncodeWork& work, device::StreamHandle stream);

// Before the codec's decode of `plain`, to `values` if they are to be added, and after it.
Status enqueue_part(const DecodeWork& work, device::StreamHandle stream);
Status enqueue_put(const DecodeWork& work, device::StreamHandle stream);

}  // namespace thinwire::message::fills
