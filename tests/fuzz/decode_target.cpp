// decode-<codec>: hostile payloads under a sound header and sound checksums.
#include "codec/layout.h"
#include "fuzz/all_targets.h"
#include "fuzz/payloads.h"

namespace thinwire::fuzz {
namespace {

// The flag, besides those of payloads.h, about the payloads' lengths: of fixed-size codecs what the
// codec asks for, the input repeated if it is too short; of others, and of those with a mask, the
// input says. With this flag it is the other way round.
constexpr std::uint8_t kOtherLengths = 2;

// The payload of each chunk, out of what the input has left.
std::vector<Bytes> cut_payloads(const Recipe& recipe, const codec::Layout& layout, Reader reader) {
  const codec::Codec& codec = *recipe.coder.codec;
  const bool fitting =
      !is_holed(recipe) && codec.fixed_size != ((recipe.flags & kOtherLengths) != 0);
  std::vector<Bytes> payloads;
  std::size_t at = 0;
  for (std::uint64_t index = 0; index < layout.chunks; ++index) {
    const bool last = index + 1 == layout.chunks;
    if (!fitting) {
      const std::size_t wanted = last ? SIZE_MAX : reader.take<std::uint16_t>();
      const ByteView from = reader.rest();
      const std::size_t given = std::min(wanted, from.size());
      payloads.emplace_back(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(given));
      reader = Reader(from.subspan(given));
      continue;
    }
    const codec::Chunk chunk = layout.chunk(index);
    const ByteView from = reader.rest();
    Bytes payload((recipe.flags & kRawChunks) != 0 ? chunk.raw_bytes()
                                                   : codec.bound(chunk, recipe.coder.parameter));
    repeat(from.empty() ? from : from.subspan(at % from.size()), payload);
    at += payload.size();
    payloads.push_back(std::move(payload));
  }
  return payloads;
}

}  // namespace

void run_decode(const Target& target, ByteView input) {
  Reader reader(input);
  const Recipe recipe = read_recipe(*target.codec, reader);
  const codec::Layout layout =
      codec::make_layout(*target.codec, recipe.coder.parameter, recipe.array);
  const WatchedBuffer frame(seal_frame(recipe, cut_payloads(recipe, layout, reader)), recipe.shift);
  const auto info = message::inspect(frame.view(), frame::file_mark());
  if (!info.ok()) {
    // The frame is known to be too short without a look at the payloads.
    THINWIRE_FUZZ_CHECK(info.status().code() == StatusCode::kDamaged && target.codec->fixed_size);
    return;
  }
  const std::uint64_t raw_bytes = info->header.raw_bytes();
  THINWIRE_FUZZ_CHECK(raw_bytes == recipe.array.raw_bytes());

  const WatchedBuffer out(raw_bytes, std::byte{0xA5}, recipe.shift);
  const auto decoded = message::decode(frame.view(), out.view(), frame::file_mark());
  const StatusCode code = decoded.status().code();
  THINWIRE_FUZZ_CHECK(code == StatusCode::kOk || code == StatusCode::kDamaged);
  if (!decoded.ok()) return;
  // Over other bytes the result is the same only if every byte of it is written.
  const WatchedBuffer again(raw_bytes, std::byte{0x5A});
  THINWIRE_FUZZ_CHECK(message::decode(frame.view(), again.view(), frame::file_mark()).ok());
  THINWIRE_FUZZ_CHECK(same(out.view(), again.view()));
}

namespace {

// Such an array, encoded, as the rest of an input of run_decode(); empty if the codec declines.
Bytes encoded_rest(const Recipe& recipe, ByteView values) {
  Bytes rest;
  const std::vector<Bytes> payloads = encode_chunks(recipe, values);
  for (std::size_t index = 0; index < payloads.size(); ++index) {
    const Bytes& payload = payloads[index];
    if (!recipe.coder.codec->fixed_size && index + 1 < payloads.size()) {
      rest.resize(rest.size() + 2);
      store(rest.data() + rest.size() - 2, static_cast<std::uint16_t>(payload.size()));
    }
    rest.insert(rest.end(), payload.begin(), payload.end());
  }
  return rest;
}

// The same of an array that misses values; empty if a chunk is raw, too.
Bytes holed_rest(const Recipe& recipe, Bytes values) {
  make_holes(recipe.array, values);
  message::Coder coder = recipe.coder;
  coder.fill.kind = codec::Fill::Kind::kNan;
  Bytes frame(*message::bound(coder, recipe.array));
  if (!message::encode(coder, recipe.array, values.data(), frame, {}).ok()) return {};
  const auto header = frame::unpack(frame, frame::file_mark());
  if (!header.ok() || !header->has_fill) return {};
  const std::uint64_t chunks =
      codec::make_layout(*coder.codec, coder.parameter, recipe.array).chunks;
  const std::byte* const table = frame.data() + header->header_bytes();
  const std::byte* payload = table + chunks * codec::kTableRowBytes;
  Bytes rest;
  for (std::uint64_t index = 0; index < chunks; ++index) {
    const auto row = load<std::uint32_t>(table + index * codec::kTableRowBytes);
    if ((row & codec::kRawChunk) != 0) return {};
    if (index + 1 < chunks) {
      rest.resize(rest.size() + 2);
      store(rest.data() + rest.size() - 2, static_cast<std::uint16_t>(row));
    }
    rest.insert(rest.end(), payload, payload + row);
    payload += row;
  }
  return rest;
}

constexpr std::size_t kLongestSeed = 1200;

}  // namespace

// Most mutations of a payload of any length break its length; so now and then the payload becomes
// what the codec makes of the payload taken as an array.
std::size_t mend_decode(const Target& target, MutableByteView input, std::size_t length,
                        unsigned seed) {
  if (seed % 8 != 0 || length < kRecipeBytes) return length;
  Reader reader(input.first(length));
  const Recipe recipe = read_recipe(*target.codec, reader);
  Bytes values(recipe.array.raw_bytes());
  fill_array(recipe.array, static_cast<int>(seed / 8 % kDataKinds), reader.rest(), values.data());
  const Bytes rest = encoded_rest(recipe, values);
  if (rest.empty() || kRecipeBytes + rest.size() > input.size()) return length;
  input[2] &= ~std::byte{kOtherLengths | kRawChunks};
  std::copy(rest.begin(), rest.end(), input.begin() + kRecipeBytes);
  return kRecipeBytes + rest.size();
}

std::vector<Bytes> decode_seeds(const Target& target) {
  std::vector<Bytes> seeds;
  Random random(1);
  for_each_sample(*target.codec, [&](const codec::Chunk& array, std::uint64_t parameter) {
    std::uint8_t flags = random.below(8) != 0 ? 0 : static_cast<std::uint8_t>(seeds.size() % 8);
    if (seeds.size() % 3 == 1) flags |= kHoled;
    Recipe recipe{{target.codec, parameter}, array, flags, 0};
    Bytes source(24);
    // Exponents near that of 1, so that fp32 and fp64 are finite.
    for (std::byte& byte : source) byte = static_cast<std::byte>(0x30 + random.below(16));
    if (array.shape.count() > kFewValues) source.clear();
    Bytes values(array.raw_bytes());
    fill_array(array, static_cast<int>(seeds.size() % kDataKinds), source, values.data());
    Bytes seed = write_recipe(*target.codec, array, parameter, flags);
    Bytes rest = is_holed(recipe) ? holed_rest(recipe, values) : encoded_rest(recipe, values);
    // The target repeats what is too short for a fixed size.
    if (target.codec->fixed_size && !is_holed(recipe))
      rest.resize(std::min(rest.size(), kLongestSeed / 8));
    if (rest.size() > kLongestSeed) return;
    seed.insert(seed.end(), rest.begin(), rest.end());
    seeds.push_back(std::move(seed));
  });
  return seeds;
}

}  // namespace thinwire::fuzz
