#include "shim/mpi/message/sample.h"

#include <algorithm>
#include <cstring>

namespace thinwire::mpi {
namespace {

constexpr std::uint64_t kShare = 32 * kSamplePieces;
// A frame has a header, which must not decide.
constexpr std::uint64_t kLeastBytes = 4 * 1024;
constexpr std::uint64_t kMostBytes = 16 * 1024;
// Planes may be larger than what is wanted; of larger shares an attempt costs little more.
constexpr std::uint64_t kLargestShare = 8 * kSamplePieces;

// Eight places, in an order that begins in the middle and goes far at each step.
constexpr std::uint64_t kPlaces = 8;
constexpr std::uint64_t place_of(std::uint32_t turn) { return (kPlaces / 2 + 5 * turn) % kPlaces; }

}  // namespace

std::optional<Piece> piece_of(const tw_shape& shape, std::uint64_t bytes, std::uint32_t turn) {
  const std::uint64_t planes = shape.extent[0];
  if (planes == 0 || bytes < planes) return std::nullopt;
  const std::uint64_t plane_bytes = bytes / planes;
  const std::uint64_t wanted = std::clamp(bytes / kShare, kLeastBytes, kMostBytes);
  const std::uint64_t taken = std::max<std::uint64_t>(1, wanted / plane_bytes);
  if (taken > planes / kLargestShare) return std::nullopt;
  Piece piece{shape, 0};
  piece.shape.extent[0] = taken;
  piece.offset = (planes - taken) / kPlaces * place_of(turn) * plane_bytes;
  return piece;
}

std::optional<tw_shape> shape_of(const tw_codec* codec, const TypeFacts& type,
                                 std::uint64_t bytes) {
  const std::uint64_t count = bytes / leaf_bytes(type.leaf);
  tw_shape shape{};
  if (tw_codec_shape(codec, type.leaf, count, &shape) != TW_OK) return std::nullopt;
  // A line is also the answer where the spec names no shape, and only then the datatype is asked.
  const bool stated = std::strstr(tw_codec_spec(codec), "shape=") != nullptr;
  if (stated || type.rank < 2 || bytes != type.size) return shape;
  std::uint64_t product = 1;
  for (std::uint32_t at = 0; at < type.rank; ++at) product *= type.extent[at];
  if (product != count) return shape;
  shape.rank = type.rank;
  std::copy_n(type.extent, 4, shape.extent);
  return shape;
}

}  // namespace thinwire::mpi
