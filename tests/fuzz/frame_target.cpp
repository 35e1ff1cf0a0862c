// frame: the input is the frame, hostile in any way, through the C ABI.
#include <array>
#include <utility>

#include "codec/layout.h"
#include "codec/registry.h"
#include "frame/header.h"
#include "fuzz/all_targets.h"
#include "fuzz/input.h"
#include "thinwire/thinwire.h"

namespace thinwire::fuzz {
namespace {

// Larger arrays are refused as too large for the destination.
constexpr std::uint64_t kMostRawBytes = 64 << 10;

// Whether the chunks of a frame that decodes are all of its body.
bool is_accounted_for(ByteView frame) {
  const auto header = frame::unpack(frame, frame::file_mark());
  const codec::Codec* codec = codec::find_codec(header->codec);
  const codec::Layout layout =
      codec::make_layout(*codec, header->parameter, {header->dtype, header->shape});
  std::uint64_t bytes = layout.table_bytes();
  for (std::uint64_t index = 0; index < layout.chunks; ++index) {
    const std::byte* row = frame.data() + header->header_bytes() + index * codec::kTableRowBytes;
    bytes += load<std::uint32_t>(row) & codec::kMostChunkBytes;
  }
  return bytes == header->body_bytes;
}

// Decodes in pieces: the same outcome as of the frame as a whole, and the same array.
void check_pieces(const WatchedBuffer& frame, tw_status whole, ByteView array) {
  const WatchedBuffer out(array.size(), std::byte{0x33});
  Memory memory{frame.view(), out.view()};
  tw_pieces pieces{};
  pieces.size = sizeof pieces;
  pieces.context = &memory;
  pieces.read = read_piece;
  pieces.write = write_piece;
  const std::uint64_t length = frame.view().size();
  tw_status status = tw_message_decode_in_pieces(&pieces, length, nullptr, nullptr);
  Bytes workspace(pieces.needed_bytes);
  if (status == TW_TOO_SMALL) {
    pieces.workspace = workspace.data();
    pieces.workspace_bytes = workspace.size();
    status = tw_message_decode_in_pieces(&pieces, length, nullptr, nullptr);
  }
  THINWIRE_FUZZ_CHECK(status == whole);
  THINWIRE_FUZZ_CHECK(status != TW_OK || same(out.view(), array));
}

void check_decode(const WatchedBuffer& frame, const tw_message_info& info) {
  const std::uint64_t capacity = std::min(info.raw_bytes, kMostRawBytes);
  const WatchedBuffer out(capacity, std::byte{0xA5});
  tw_message_info decoded{};
  decoded.size = sizeof decoded;
  const tw_status status =
      tw_message_decode(frame.data(), frame.view().size(), out.data(), capacity, nullptr, &decoded);
  if (info.raw_bytes > capacity) {
    THINWIRE_FUZZ_CHECK(status == TW_TOO_SMALL);
    return;
  }
  const auto codec = codec::find_codec(static_cast<codec::CodecId>(info.codec_id));
  if (codec->gpu_only) {
    THINWIRE_FUZZ_CHECK(status == TW_UNSUPPORTED);
    return;
  }
  THINWIRE_FUZZ_CHECK(status == TW_OK || status == TW_DAMAGED);
  check_pieces(frame, status, out.view());
  if (status != TW_OK) return;
  THINWIRE_FUZZ_CHECK(is_accounted_for(frame.view()));
  THINWIRE_FUZZ_CHECK(std::memcmp(&decoded, &info, sizeof info) == 0);
  const WatchedBuffer again(capacity, std::byte{0x5A});
  THINWIRE_FUZZ_CHECK(tw_message_decode(frame.data(), info.frame_bytes, again.data(), capacity,
                                        nullptr, nullptr) == TW_OK);
  THINWIRE_FUZZ_CHECK(same(out.view(), again.view()));
}

}  // namespace

void run_frame(const Target&, ByteView input) {
  const WatchedBuffer frame(input);
  tw_message_info info{};
  info.size = sizeof info;
  const tw_status status = tw_message_inspect(frame.data(), frame.view().size(), nullptr, &info);
  if (status == TW_OK) {
    THINWIRE_FUZZ_CHECK(info.frame_bytes <= input.size());
    check_decode(frame, info);
    return;
  }
  THINWIRE_FUZZ_CHECK(*tw_last_error() != '\0');
  const WatchedBuffer out(256, std::byte{0});
  THINWIRE_FUZZ_CHECK(tw_message_decode(frame.data(), frame.view().size(), out.data(), 256, nullptr,
                                        nullptr) == status);
}

std::size_t mend_frame(const Target&, MutableByteView input, std::size_t length, unsigned seed) {
  if (seed % 8 != 0) reseal(input.first(length), frame::file_mark(), seed % 8 < 3);
  return length;
}

// Some of the frames of every codec as they are, and one with each small field of its header wrong
// under a right checksum, or with bytes after its last chunk.
std::vector<Bytes> frame_seeds(const Target&) {
  constexpr std::size_t kSmallFields = 16;
  constexpr std::size_t kSmallFieldsEnd = 24;
  constexpr std::size_t kCodecAt = 17;
  constexpr std::size_t kBodyBytesAt = 40;
  std::vector<Bytes> seeds;
  std::size_t number = 0;
  std::array<bool, 256> seen{};
  for (const Bytes& frame : sample_frames(frame::file_mark())) {
    if (++number % 3 == 0) seeds.push_back(frame);
    if (std::exchange(seen[std::to_integer<std::size_t>(frame[kCodecAt])], true)) continue;
    for (std::size_t at = kSmallFields; at < kSmallFieldsEnd; ++at) {
      Bytes wrong = frame;
      wrong[at] = static_cast<std::byte>(std::to_integer<unsigned>(wrong[at]) + 3);
      reseal(wrong, frame::file_mark(), true);
      seeds.push_back(std::move(wrong));
    }
    Bytes longer = frame;
    longer.resize(frame.size() + 8);
    store(longer.data() + kBodyBytesAt, load<std::uint64_t>(frame.data() + kBodyBytesAt) + 8);
    reseal(longer, frame::file_mark(), true);
    seeds.push_back(std::move(longer));
  }
  return seeds;
}

}  // namespace thinwire::fuzz
