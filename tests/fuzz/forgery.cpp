#include "fuzz/forgery.h"

#include "codec/layout.h"
#include "codec/registry.h"
#include "frame/header.h"
#include "fuzz/all_targets.h"
#include "fuzz/payloads.h"

namespace thinwire::fuzz {
namespace {

constexpr std::size_t kLongestOrigin = 700;
constexpr std::uint64_t kMostOriginBytes = 4096;  // of the array; longer ones take the time of many
constexpr std::size_t kBodyBytesAt = 40;

void add_frames(const codec::Codec& codec, const codec::Chunk& array, std::uint64_t parameter,
                std::vector<Origin>& origins) {
  if (array.raw_bytes() > kMostOriginBytes) return;
  Origin& origin = origins.back();
  if (origin.dtype != dtype_name(array.dtype)) return;
  for (int kind = 0; kind < kDataKinds; ++kind) {
    const std::byte one{0x3f};
    Bytes values(array.raw_bytes());
    fill_array(array, kind, {&one, 1}, values.data());
    message::EncodeOptions options;
    options.chunk_checksums = kind % 2 == 0;
    message::Coder coder{&codec, parameter};
    if (is_older(codec, parameter)) {
      const std::uint8_t flags = options.chunk_checksums ? 0 : kNoChecksums;
      const Recipe recipe{coder, array, flags};
      const std::vector<Bytes> payloads = encode_chunks(recipe, values);
      if (payloads.size() != 1 || payloads[0].size() >= array.raw_bytes()) continue;
      Bytes frame = seal_frame(recipe, payloads);
      if (frame.size() <= kLongestOrigin) origin.frames.push_back(std::move(frame));
      continue;
    }
    // Half of the frames of lossy codecs are of arrays that miss values.
    if (!codec.lossless && origin.frames.size() % 2 == 0) {
      coder.fill.kind = codec::Fill::Kind::kNan;
      make_holes(array, values);
    }
    const auto most = message::bound(coder, array);
    if (!most.ok()) return;
    Bytes frame(*most);
    const auto length = message::encode(coder, array, values.data(), frame, options);
    if (!length.ok() || *length > kLongestOrigin) continue;
    frame.resize(*length);
    // A frame that the codec declines is one of another codec.
    if (frame::unpack(frame, options.mark)->codec != codec.id) continue;
    origin.frames.push_back(std::move(frame));
  }
}

void change_bytes(Random& random, MutableByteView part) {
  if (part.empty()) return;
  const std::size_t at = random.below(part.size());
  switch (random.below(4)) {
    case 0:
      part[at] ^= static_cast<std::byte>(1u << random.below(8));
      break;
    case 1:
      part[at] = static_cast<std::byte>(random.next());
      break;
    case 2:
      std::fill_n(part.begin() + static_cast<std::ptrdiff_t>(at),
                  std::min<std::size_t>(part.size() - at, 8),
                  random.below(2) == 0 ? std::byte{0xFF} : std::byte{0});
      break;
    default: {  // another place's bytes
      const std::size_t bytes = std::min<std::size_t>(part.size() - at, 1 + random.below(32));
      const std::size_t from = random.below(part.size() - bytes + 1);
      std::memmove(part.data() + at, part.data() + from, bytes);
    }
  }
}

// Makes the last chunk longer or shorter, with a header and a row that say so: a decoder then reads
// payloads that end too early or too late.
MutableByteView change_length(Random& random, MutableByteView frame, MutableByteView room) {
  const auto header = frame::unpack(frame, frame::file_mark());
  if (!header.ok()) return frame;
  const codec::Codec* codec = codec::find_codec(header->codec);
  const codec::Layout layout = codec::make_layout(*codec, header->parameter,
                                                  {header->dtype, header->shape}, header->as_line);
  if (layout.chunks == 0) return frame;
  const std::size_t row_at = header->header_bytes() + (layout.chunks - 1) * codec::kTableRowBytes;
  const auto row = load<std::uint32_t>(frame.data() + row_at);
  const std::uint32_t bytes = row & codec::kMostChunkBytes;
  const auto longest = static_cast<std::uint32_t>(room.size() - frame.size());
  const auto wanted =
      static_cast<std::uint32_t>(random.below(2) == 0 ? random.below(bytes + 1)
                                                      : std::min(bytes + 1 + random.below(16),
                                                                 bytes + std::uint64_t{longest}));
  const std::size_t length = frame.size() - bytes + wanted;
  const MutableByteView moved = room.last(length);
  std::memmove(moved.data(), frame.data(), std::min(length, frame.size()));
  store(moved.data() + row_at, (row & ~std::uint32_t{codec::kMostChunkBytes}) | wanted);
  store(moved.data() + kBodyBytesAt, length - header->header_bytes());
  return moved;
}

}  // namespace

std::vector<Origin> make_origins() {
  std::vector<Origin> origins;
  for (const codec::Codec* codec : codec::all_codecs()) {
    if (codec->gpu_only) continue;
    for (int dtype = 0; dtype < kDtypeCount; ++dtype) {
      if (!codec->takes(static_cast<Dtype>(dtype))) continue;
      origins.push_back({codec->name, dtype_name(static_cast<Dtype>(dtype)), codec->lossless, {}});
      for_each_sample(*codec, [&](const codec::Chunk& array, std::uint64_t parameter) {
        add_frames(*codec, array, parameter, origins);
      });
      if (origins.back().frames.empty()) {
        std::fprintf(stderr, "no frame of %s %s\n", codec->name, origins.back().dtype.c_str());
      }
      THINWIRE_FUZZ_CHECK(!origins.back().frames.empty());
    }
  }
  return origins;
}

MutableByteView forge(const Origin& origin, Random& random, MutableByteView room) {
  const Bytes& from = origin.frames[random.below(origin.frames.size())];
  MutableByteView frame = room.last(from.size());
  std::copy(from.begin(), from.end(), frame.begin());
  const std::uint64_t kind = random.below(16);
  if (kind < 3) frame = change_length(random, frame, room);
  for (std::uint64_t times = 1 + random.below(3); times > 0; --times) {
    // After the mark: what has none is refused at the first look.
    const std::size_t header = std::min<std::size_t>(frame.size(), frame::kFixedHeaderBytes);
    change_bytes(random, kind == 3 ? frame.subspan(16, header - 16) : frame.subspan(header));
  }
  if (kind != 15) reseal(frame, frame::file_mark(), kind == 14);
  return frame;
}

}  // namespace thinwire::fuzz
