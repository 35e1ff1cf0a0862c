// round-trip-<codec>: any array, any parameter that the codec takes; what is encoded decodes.
#include "codec/integers.h"
#include "codec/layout.h"
#include "codec/registry.h"
#include "fuzz/all_targets.h"
#include "fuzz/payloads.h"

namespace thinwire::fuzz {
namespace {

constexpr std::uint8_t kDecline = 2;  // besides kNoChecksums
constexpr int kKindShift = 2;         // two bits: one of kDataKinds
// The high half of the flags of an array that may miss values, under a codec that takes "fill=".
constexpr std::uint8_t kNanFlags = 0x10, kAutoFlags = 0x20;

bool takes_fill(const codec::Codec& codec) { return !codec.lossless && !codec.gpu_only; }

void read_fill(Recipe& recipe) {
  using Kind = codec::Fill::Kind;
  const int high = recipe.flags & 0xF0;
  if (!takes_fill(*recipe.coder.codec)) return;
  if (high == kNanFlags) recipe.coder.fill.kind = Kind::kNan;
  if (high == kAutoFlags) recipe.coder.fill.kind = Kind::kAuto;
}

// The length of a frame of a fixed-size codec.
std::uint64_t fixed_length(const Recipe& recipe, const frame::Header& header) {
  const codec::Layout layout =
      codec::make_layout(*recipe.coder.codec, recipe.coder.parameter, recipe.array);
  std::uint64_t bytes = header.header_bytes() + layout.table_bytes();
  for (std::uint64_t index = 0; index < layout.chunks; ++index) {
    bytes += recipe.coder.codec->bound(layout.chunk(index), recipe.coder.parameter);
  }
  return bytes;
}

// Whether a lossy codec is to leave the values alone.
bool holds_integers(const Recipe& recipe, ByteView values) {
  return !recipe.coder.codec->lossless && recipe.array.dtype == Dtype::kF64 &&
         codec::holds_integers(values.data(), Dtype::kF64, recipe.array.shape.count());
}

// Encodes twice, into memory of different contents: the frames must be equal. Returns one, or
// nothing if the codec declined.
Bytes encode_twice(const Recipe& recipe, ByteView values, std::uint64_t most) {
  message::EncodeOptions options;
  options.decline = (recipe.flags & kDecline) != 0;
  options.chunk_checksums = (recipe.flags & kNoChecksums) == 0;
  const WatchedBuffer one(most, std::byte{0xA5}, recipe.shift);
  const WatchedBuffer two(most, std::byte{0x5A});
  const auto length =
      message::encode(recipe.coder, recipe.array, values.data(), one.view(), options);
  const auto again =
      message::encode(recipe.coder, recipe.array, values.data(), two.view(), options);
  THINWIRE_FUZZ_CHECK(length.ok() == again.ok());
  if (!length.ok()) {
    const StatusCode code = length.status().code();
    THINWIRE_FUZZ_CHECK(options.decline && is_declined(code));
    THINWIRE_FUZZ_CHECK(code != StatusCode::kHoldsIntegers || holds_integers(recipe, values));
    return {};
  }
  THINWIRE_FUZZ_CHECK(*length <= most && *length == *again);
  THINWIRE_FUZZ_CHECK(same(one.view().first(*length), two.view().first(*length)));
  const auto written = one.view().first(*length);
  return {written.begin(), written.end()};
}

// Missing values come back to the bit.
void check_missing(const Recipe& recipe, std::uint64_t fill, ByteView values, ByteView decoded) {
  const std::uint64_t width = dtype_size(recipe.array.dtype);
  for (std::uint64_t at = 0; at < values.size(); at += width) {
    if (std::memcmp(values.data() + at, &fill, width) != 0) continue;
    THINWIRE_FUZZ_CHECK(std::memcmp(decoded.data() + at, &fill, width) == 0);
  }
}

void check_decoded(const Recipe& recipe, ByteView values, const Bytes& encoded) {
  const WatchedBuffer frame(encoded, recipe.shift);
  const WatchedBuffer out(values.size(), std::byte{0xA5}, recipe.shift);
  const WatchedBuffer again(values.size(), std::byte{0x5A});
  const auto info = message::decode(frame.view(), out.view(), frame::file_mark());
  THINWIRE_FUZZ_CHECK(info.ok());
  THINWIRE_FUZZ_CHECK(info->header.dtype == recipe.array.dtype);
  THINWIRE_FUZZ_CHECK(info->header.shape == recipe.array.shape);
  THINWIRE_FUZZ_CHECK(info->header.frame_bytes() == encoded.size());
  THINWIRE_FUZZ_CHECK(message::decode(frame.view(), again.view(), frame::file_mark()).ok());
  THINWIRE_FUZZ_CHECK(same(out.view(), again.view()));
  if (info->codec->lossless) THINWIRE_FUZZ_CHECK(same(out.view(), values));
  const bool coded = info->codec == recipe.coder.codec;
  THINWIRE_FUZZ_CHECK(coded || info->codec == &codec::raw_codec());
  THINWIRE_FUZZ_CHECK(!coded || !holds_integers(recipe, values));
  const bool has_fill = info->header.has_fill;
  THINWIRE_FUZZ_CHECK(!has_fill || (coded && recipe.coder.fill.exists()));
  if (has_fill) check_missing(recipe, info->header.fill, values, out.view());
  if (coded && info->codec->fixed_size && !has_fill) {
    THINWIRE_FUZZ_CHECK(encoded.size() == fixed_length(recipe, info->header));
  }
  if (values.empty()) return;
  const auto smaller = out.view().first(values.size() - 1);
  THINWIRE_FUZZ_CHECK(message::decode(frame.view(), smaller, frame::file_mark()).status().code() ==
                      StatusCode::kTooSmall);
}

}  // namespace

void run_round_trip(const Target& target, ByteView input) {
  Reader reader(input);
  Recipe recipe = read_recipe(*target.codec, reader);
  recipe.coder.parameter = newest_parameter(*target.codec, recipe.coder.parameter);
  read_fill(recipe);
  const WatchedBuffer values(recipe.array.raw_bytes(), std::byte{0}, recipe.shift);
  fill_array(recipe.array, recipe.flags >> kKindShift & (kDataKinds - 1), reader.rest(),
             values.data());
  const auto most = message::bound(recipe.coder, recipe.array);
  THINWIRE_FUZZ_CHECK(most.ok());
  const Bytes encoded = encode_twice(recipe, values.view(), *most);
  if (!encoded.empty()) check_decoded(recipe, values.view(), encoded);
  const WatchedBuffer short_memory(*most - 1, std::byte{0});
  const auto refused =
      message::encode(recipe.coder, recipe.array, values.data(), short_memory.view(), {});
  THINWIRE_FUZZ_CHECK(refused.status().code() == StatusCode::kTooSmall);
}

std::vector<Bytes> round_trip_seeds(const Target& target) {
  std::vector<Bytes> seeds;
  Random random(2);
  for_each_sample(*target.codec, [&](const codec::Chunk& array, std::uint64_t parameter) {
    std::uint8_t flags = static_cast<std::uint8_t>(seeds.size() % 16);
    if (takes_fill(*target.codec) && seeds.size() % 7 < 2) {
      flags |= seeds.size() % 7 == 0 ? kNanFlags : kAutoFlags;
    }
    Bytes seed = write_recipe(*target.codec, array, parameter, flags);
    const std::size_t bytes = 4 + random.below(28);
    const std::uint8_t lowest = seeds.size() % 3 == 0 ? 0x30 : 0xF0;  // the latter: NaN among them
    for (std::size_t at = 0; at < bytes; ++at) {
      seed.push_back(static_cast<std::byte>(lowest + random.below(16)));
    }
    seeds.push_back(std::move(seed));
  });
  return seeds;
}

}  // namespace thinwire::fuzz
