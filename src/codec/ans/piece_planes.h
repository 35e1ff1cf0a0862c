// The planes of the pieces of a chunk that is encoded, on the host. See spec/codec-ans.md.
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "codec/ans/kept.h"
#include "codec/ans/models.h"
#include "codec/ans/pieces.h"
#include "codec/ans/planes.h"

namespace thinwire::codec::ans {

// The planes of a piece in a chunk's memory.
template <typename Word>
struct PiecePlanes {
  const std::byte* bytes;
  std::byte* packed;       // those of a sparse piece's words that are not 0
  const std::byte* mask;   // a byte a value: those of a sparse piece's words of 0 are 0
  const std::byte* quads;  // the same as a payload has it, in a chunk with masks
  std::uint32_t apart;     // from one plane to the next
  Range range;
  Zeros zeros;
  std::uint32_t kept;
  bool is_sparse;
  bool has_mask;

  const std::byte* plane(std::uint32_t number) const { return bytes + number * apart; }
  bool is_packed(std::uint32_t number) const { return is_sparse && (number > 0 || has_mask); }
  ByteView kept_plane(std::uint32_t number) const {
    return {(is_packed(number) ? packed : bytes) + number * apart,
            is_packed(number) ? kept : range.values};
  }

  void pack_from(std::uint32_t first) const {
    KeptValues<Word> values;
    values.find(mask, range.values);
    for (std::uint32_t number = first; number < sizeof(Word); ++number) {
      values.pack(plane(number), packed + number * apart);
    }
  }
};

template <typename Word>
struct ChunkMemory {
  alignas(64) std::byte planes[kChunkBytes], packed[kChunkBytes];
  alignas(64) std::byte masks[kChunkValues<Word>], quads[kChunkValues<Word>];
};

// Finds the planes of all pieces of a chunk of so many values, whether it has masks, and the models
// of its planes.
template <typename Word>
void make_models(const std::byte* source, std::uint32_t values, std::uint32_t tuple,
                 ChunkMemory<Word>& memory, std::span<PiecePlanes<Word>> pieces,
                 Models<Word, Steps>& models);

}  // namespace thinwire::codec::ans
