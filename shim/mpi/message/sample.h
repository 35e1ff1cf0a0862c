// Pieces of a message that tell whether the rest is worth an attempt.
#pragma once

#include <cstdint>
#include <optional>

#include "shim/mpi/native/datatypes.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// So many pieces are a sample; one that shrinks is enough, for data is seldom of one kind.
inline constexpr std::uint32_t kSamplePieces = 4;

struct Piece {
  tw_shape shape{};
  std::uint64_t offset = 0;  // in bytes, of whole planes of the array
};

// A piece of an array of `bytes` bytes, about a 128th and 16 KiB at most, cut along the slowest
// axis. It starts in the middle for `turn` 0 and elsewhere for the turns that follow. Nothing if
// no piece is small against the array.
std::optional<Piece> piece_of(const tw_shape& shape, std::uint64_t bytes, std::uint32_t turn);

// The shape in which a codec sees a message.

// The codec spec's own shape; else the datatype's, where the message is one element of it; else a
// line. Nothing if a lossy codec's stated shape does not fit the message.
std::optional<tw_shape> shape_of(const tw_codec* codec, const TypeFacts& type, std::uint64_t bytes);

}  // namespace thinwire::mpi
