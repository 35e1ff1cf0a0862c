// frame: the input is the frame, hostile in any way, through the C ABI.
#include <array>
#include <utility>

#include "frame/header.h"
#include "fuzz/frame_targets.h"
#include "fuzz/input.h"
#include "thinwire/thinwire.h"

namespace thinwire::fuzz {
namespace {

// Larger arrays are refused as too large for the destination.
constexpr std::uint64_t kMostRawBytes = 64 << 10;

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
  THINWIRE_FUZZ_CHECK(status == TW_OK || status == TW_DAMAGED);
  if (status != TW_OK) return;
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

// Of the frames of every codec some as they are, and one with each small field of its header wrong
// under a right checksum.
std::vector<Bytes> frame_seeds(const Target&) {
  constexpr std::size_t kSmallFields = 16;
  constexpr std::size_t kSmallFieldsEnd = 24;
  constexpr std::size_t kCodecAt = 17;
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
  }
  return seeds;
}

}  // namespace thinwire::fuzz
