// delta: the input says whether its reader expects the array that its frame has, and is a delta
// packet, hostile in any way. Either the array is there, the same each time, or it is refused.
#include "fuzz/all_targets.h"

#include "base/checksum.h"
#include "fuzz/input.h"
#include "message/delta.h"

namespace thinwire::fuzz {
namespace {

constexpr std::size_t kExpectedBytes = 8;
constexpr std::uint64_t kMostRawBytes = 64 << 10;
constexpr std::uint64_t kNumber = 3;

codec::Chunk expected_array(ByteView input) {
  constexpr codec::Chunk kOther{Dtype::kF32, {2, {9, 11}}};
  const auto front = kExpectedBytes + frame::kDeltaBytes;
  if (input.size() < front || (std::to_integer<unsigned>(input[0]) & 1) != 0) return kOther;
  const auto header = frame::unpack(input.subspan(front), frame::file_mark());
  if (!header.ok() || header->raw_bytes() > kMostRawBytes) return kOther;
  return {header->dtype, header->shape};
}

Bytes reference_of(std::uint64_t bytes) {
  Bytes made(bytes);
  Random random(bytes);
  for (std::byte& byte : made) byte = static_cast<std::byte>(random.next());
  return made;
}

}  // namespace

void run_delta(const Target&, ByteView input) {
  const codec::Chunk array = expected_array(input);
  const Bytes reference = reference_of(array.raw_bytes());
  const WatchedBuffer packet(input.subspan(std::min(input.size(), kExpectedBytes)));
  const WatchedBuffer one(array.raw_bytes(), std::byte{0xA5});
  const WatchedBuffer two(array.raw_bytes(), std::byte{0x5A});
  const message::Reference by{kNumber, reference.data()};
  const Status status =
      message::decode_delta(packet.view(), array, by, frame::file_mark(), one.data());
  const Status again =
      message::decode_delta(packet.view(), array, by, frame::file_mark(), two.data());
  THINWIRE_FUZZ_CHECK(status.code() == again.code());
  THINWIRE_FUZZ_CHECK(status.code() != StatusCode::kInternal);
  if (!status.ok()) return;
  THINWIRE_FUZZ_CHECK(same(one.view(), two.view()));
  // Nobody who has another reference takes it, nor who has none.
  const message::Reference next{kNumber + 1, reference.data()};
  THINWIRE_FUZZ_CHECK(
      !message::decode_delta(packet.view(), array, next, frame::file_mark(), two.data()).ok());
  THINWIRE_FUZZ_CHECK(
      !message::decode_delta(packet.view(), array, {}, frame::file_mark(), two.data()).ok());
}

std::size_t mend_delta(const Target&, MutableByteView input, std::size_t length, unsigned seed) {
  const MutableByteView all = input.first(length);
  if (seed % 8 == 0 || length < kExpectedBytes + frame::kDeltaBytes) return length;
  reseal(all.subspan(kExpectedBytes + frame::kDeltaBytes), frame::file_mark(), seed % 8 < 3);
  const Bytes reference = reference_of(expected_array(all).raw_bytes());
  frame::pack_delta({kNumber + (seed % 8 == 7), checksum(reference)}, frame::file_mark(),
                    all.data() + kExpectedBytes);
  return length;
}

// Some of the frames of every codec, in their place and not, and against another reference.
std::vector<Bytes> delta_seeds(const Target& target) {
  std::vector<Bytes> seeds;
  unsigned number = 0;
  for (const Bytes& frame : sample_frames(frame::file_mark())) {
    if (++number % 4 != 0) continue;
    Bytes seed(kExpectedBytes + frame::kDeltaBytes);
    seed.insert(seed.end(), frame.begin(), frame.end());
    for (const unsigned kind : {2u, 5u, 7u}) {
      seed[0] = static_cast<std::byte>(kind == 5);
      mend_delta(target, seed, seed.size(), kind);
      seeds.push_back(seed);
    }
    seed[kExpectedBytes + 17] ^= std::byte{1};  // the reference's checksum, under a wrong one
    seeds.push_back(std::move(seed));
  }
  return seeds;
}

}  // namespace thinwire::fuzz
