// spec and quantity: any text. What parses has one meaning, which its normal form keeps.
#include "fuzz/all_targets.h"

#include <cmath>
#include <memory>

#include "codec/registry.h"
#include "fuzz/input.h"
#include "thinwire/thinwire.h"

namespace thinwire::fuzz {
namespace {

struct Destroy {
  void operator()(tw_codec* codec) const { tw_codec_destroy(codec); }
};
using CodecHandle = std::unique_ptr<tw_codec, Destroy>;

CodecHandle create(const char* text) {
  tw_codec* codec = nullptr;
  const tw_status status = tw_codec_create(text, &codec);
  THINWIRE_FUZZ_CHECK(status == TW_OK || status == TW_INVALID_ARGUMENT);
  THINWIRE_FUZZ_CHECK((status == TW_OK) == (codec != nullptr));
  return CodecHandle(codec);
}

// The shape that `count` elements get holds exactly so many.
void check_shape(const tw_codec* codec, std::uint32_t dtype, std::uint64_t count) {
  tw_shape shape{};
  const tw_status status = tw_codec_shape(codec, dtype, count, &shape);
  if (dtype > TW_F8_E5M2) {
    THINWIRE_FUZZ_CHECK(status == TW_INVALID_ARGUMENT);
    return;
  }
  THINWIRE_FUZZ_CHECK(status == TW_OK || status == TW_UNSUPPORTED);
  if (status != TW_OK) return;
  THINWIRE_FUZZ_CHECK(shape.rank >= 1 && shape.rank <= 4);
  std::uint64_t product = 1;
  for (std::uint32_t axis = 0; axis < shape.rank; ++axis) {
    THINWIRE_FUZZ_CHECK(!__builtin_mul_overflow(product, shape.extent[axis], &product));
  }
  THINWIRE_FUZZ_CHECK(product == count);
}

// Any shape, sound or not, has a bound or is refused; a bound leaves room for the array itself.
void check_bound(const tw_codec* codec, Reader& reader) {
  tw_shape shape{};
  shape.dtype = reader.take<std::uint8_t>() % 8;
  shape.rank = reader.take<std::uint8_t>() % 6;
  for (std::uint64_t& extent : shape.extent) {
    // Extents of any size, small ones as likely as large ones.
    extent = reader.take<std::uint32_t>();
    extent <<= reader.take<std::uint8_t>() % 40;
  }
  std::uint64_t bytes = 0;
  const tw_status status = tw_message_bound(codec, &shape, &bytes);
  THINWIRE_FUZZ_CHECK(status == TW_OK || status == TW_INVALID_ARGUMENT || status == TW_UNSUPPORTED);
  if (status != TW_OK) return;
  constexpr std::uint64_t kElementBytes[] = {1, 4, 8, 2, 2, 1, 1};
  std::uint64_t least = kElementBytes[shape.dtype];
  for (std::uint32_t axis = 0; axis < shape.rank; ++axis) least *= shape.extent[axis];
  THINWIRE_FUZZ_CHECK(bytes >= least + 56);
}

constexpr std::size_t kNumbersBytes = 32;

}  // namespace

std::string text_of(ByteView input) {
  std::string text(reinterpret_cast<const char*>(input.data()), input.size());
  return text.substr(0, text.find('\0'));
}

Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// The text first: a dictionary word put in front of it is then a word of it.
void run_spec(const Target&, ByteView input) {
  const std::size_t numbers = std::min(input.size(), kNumbersBytes);
  Reader reader(input.last(numbers));
  const std::string text = text_of(input.first(input.size() - numbers));
  const CodecHandle codec = create(text.c_str());
  if (codec == nullptr) {
    THINWIRE_FUZZ_CHECK(*tw_last_error() != '\0');
    return;
  }
  const std::string normal = tw_codec_spec(codec.get());
  const CodecHandle again = create(normal.c_str());
  THINWIRE_FUZZ_CHECK(again != nullptr && normal == tw_codec_spec(again.get()));
  THINWIRE_FUZZ_CHECK(tw_codec_id(codec.get()) == tw_codec_id(again.get()));
  const auto dtype = reader.take<std::uint8_t>() % 6;
  check_shape(codec.get(), dtype, reader.take<std::uint64_t>());
  check_shape(codec.get(), dtype, reader.take<std::uint8_t>());
  check_bound(codec.get(), reader);
}

std::vector<Bytes> spec_seeds(const Target&) {
  std::vector<std::string> texts = {"off",
                                    "auto",
                                    "off:",
                                    "auto:shape=2",
                                    "none",
                                    ":",
                                    "raw:=1",
                                    "szp:allreduce-abs=1e-4",
                                    "szp:abs=1,allreduce-rel=1e-4,shape=?x2",
                                    "zfp:rate=8,allreduce-abs=1"};
  for (const codec::Codec* codec : codec::all_codecs()) {
    const std::string example = codec->example;
    const std::string joint = example.find(':') == std::string::npos ? ":" : ",";
    texts.push_back(codec->name);
    texts.push_back(example);
    texts.push_back(example + "99");
    texts.push_back(example + "," + example.substr(example.find(':') + 1));
    for (const char* shape : {"4", "?", "2x?", "3x4x5", "2x3x4x?", "1x2x3x4x5", "?x?", "0", "x"}) {
      texts.push_back(example + joint + "shape=" + shape);
    }
  }
  std::vector<Bytes> seeds;
  for (const std::string& text : texts) {
    Bytes seed = bytes_of(text);
    seed.resize(seed.size() + kNumbersBytes);
    std::byte* const numbers = seed.data() + seed.size() - kNumbersBytes;
    store(numbers, static_cast<std::uint8_t>(seeds.size() % 7));
    store(numbers + 1, std::uint64_t{120});
    store(numbers + 9, std::uint8_t{24});
    store(numbers + 10, static_cast<std::uint8_t>(seeds.size() % 7));
    store(numbers + 11, static_cast<std::uint8_t>(1 + seeds.size() % 4));
    for (int axis = 0; axis < 4; ++axis) store(numbers + 12 + 5 * axis, std::uint32_t{9});
    seeds.push_back(std::move(seed));
  }
  return seeds;
}

void run_quantity(const Target&, ByteView input) {
  const std::string text = text_of(input);
  std::uint64_t bytes = 0;
  const tw_status size = tw_size_parse(text.c_str(), &bytes);
  THINWIRE_FUZZ_CHECK(size == TW_OK || size == TW_INVALID_ARGUMENT);
  if (size == TW_OK) {
    std::uint64_t again = 0;
    THINWIRE_FUZZ_CHECK(bytes < std::uint64_t{1} << 63);
    // Beyond 2^53 a size goes through a double's rounding, which is stable.
    THINWIRE_FUZZ_CHECK(tw_size_parse(std::to_string(bytes).c_str(), &again) == TW_OK);
    THINWIRE_FUZZ_CHECK(again == bytes);
  }
  double rate = 0;
  const tw_status link = tw_link_rate_parse(text.c_str(), &rate);
  THINWIRE_FUZZ_CHECK(link == TW_OK || link == TW_INVALID_ARGUMENT);
  if (link == TW_OK) THINWIRE_FUZZ_CHECK(rate > 0 && std::isfinite(rate));
}

std::vector<Bytes> quantity_seeds(const Target&) {
  std::vector<Bytes> seeds;
  for (const char* text : {"",
                           "0",
                           "65536",
                           "64k",
                           "64KiB",
                           "1MiB",
                           "2G",
                           "1.5 TB",
                           "8EiB",
                           "1e3b",
                           "1gbit",
                           "100mbit",
                           "12.5Gbit/s",
                           "9600bps",
                           "2.5GB/s",
                           "1e308tbit",
                           "1e-320kbit",
                           "1e-323bit",
                           "nan",
                           "inf",
                           "-1k",
                           "1kk",
                           "9223372036854775807",
                           "9223372036854775808",
                           "1e400"}) {
    seeds.push_back(bytes_of(text));
  }
  return seeds;
}

}  // namespace thinwire::fuzz
