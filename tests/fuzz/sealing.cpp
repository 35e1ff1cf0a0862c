// Frames made, and made consistent again.
#include <array>

#include "base/checksum.h"
#include "codec/layout.h"
#include "codec/registry.h"
#include "fuzz/all_targets.h"
#include "fuzz/recipe.h"

namespace thinwire::fuzz {
namespace {

// Offsets of spec/frame.md.
constexpr std::size_t kVersionAt = 16;
constexpr std::size_t kRankAt = 20;
constexpr std::size_t kFlagsAt = 21;
constexpr std::size_t kChecksumAt = 48;
constexpr std::uint8_t kFillFlag = 4;

void reseal_header(MutableByteView frame) {
  const auto rank = load<std::uint8_t>(frame.data() + kRankAt);
  if (rank < 1 || rank > kMaxRank) return;
  const bool has_fill = load<std::uint8_t>(frame.data() + kVersionAt) >= frame::kFillsVersion &&
                        (load<std::uint8_t>(frame.data() + kFlagsAt) & kFillFlag) != 0;
  const std::size_t bytes =
      frame::kFixedHeaderBytes + 8 * (rank - 1u) + (has_fill ? frame::kFillBytes : 0);
  if (frame.size() < bytes) return;
  std::array<std::byte, frame::kMaxHeaderBytes> covered;
  std::copy_n(frame.begin(), kChecksumAt, covered.begin());
  std::copy_n(frame.begin() + frame::kFixedHeaderBytes, bytes - frame::kFixedHeaderBytes,
              covered.begin() + kChecksumAt);
  store(frame.data() + kChecksumAt, checksum(ByteView(covered).first(bytes - 8)));
}

void reseal_chunks(MutableByteView frame, const frame::Header& header) {
  const codec::Codec* codec = codec::find_codec(header.codec);
  if (codec == nullptr || !codec->takes(header.dtype) || header.shape.rank > codec->max_rank ||
      !codec->check(header.parameter, header.dtype, header.shape.rank).ok()) {
    return;
  }
  const codec::Layout layout =
      codec::make_layout(*codec, header.parameter, {header.dtype, header.shape});
  const MutableByteView body = frame.subspan(header.header_bytes(), header.body_bytes);
  if (layout.chunks > body.size() / codec::kTableRowBytes) return;
  ByteView rest = body.subspan(layout.table_bytes());
  for (std::uint64_t index = 0; index < layout.chunks; ++index) {
    std::byte* const row = body.data() + index * codec::kTableRowBytes;
    const std::uint64_t bytes = load<std::uint32_t>(row) & codec::kMostChunkBytes;
    if (bytes > rest.size()) return;
    store(row + 4, static_cast<std::uint32_t>(checksum(rest.first(bytes))));
    rest = rest.subspan(bytes);
  }
}

}  // namespace

void reseal(MutableByteView frame, const frame::Mark& mark, bool header_only) {
  if (frame.size() < frame::kFixedHeaderBytes) return;
  store(frame.data(), mark.word);
  reseal_header(frame);
  if (header_only) return;
  if (const auto header = frame::unpack(frame, mark); header.ok()) reseal_chunks(frame, *header);
}

std::vector<Bytes> sample_frames(const frame::Mark& mark) {
  std::vector<Bytes> frames;
  for (const codec::Codec* codec : codec::all_codecs()) {
    if (codec->gpu_only) continue;
    for_each_sample(*codec, [&](const codec::Chunk& array, std::uint64_t parameter) {
      message::EncodeOptions options;
      options.mark = mark;
      options.chunk_checksums = frames.size() % 4 != 0;
      const std::byte one{0x3f};
      Bytes values(array.raw_bytes());
      fill_array(array, static_cast<int>(frames.size() % kDataKinds), {&one, 1}, values.data());
      message::Coder coder{codec, parameter};
      if (!codec->lossless && frames.size() % 3 == 0) {
        coder.fill.kind = codec::Fill::Kind::kNan;
        make_holes(array, values);
      }
      const auto most = message::bound(coder, array);
      if (!most.ok()) return;
      Bytes frame(*most);
      const auto length = message::encode(coder, array, values.data(), frame, options);
      if (!length.ok() || *length > 2000) return;
      frame.resize(*length);
      frames.push_back(std::move(frame));
    });
  }
  return frames;
}

}  // namespace thinwire::fuzz
