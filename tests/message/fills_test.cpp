// Arrays with missing values under every lossy codec: those come back to the bit, and the others
// within the codec's bound.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "arrays.h"
#include "base/checksum.h"
#include "brief.h"
#include "message/find_fill.h"
#include "message/pieces.h"

namespace thinwire::message {
namespace {

using Bytes = std::vector<std::byte>;
using Kind = codec::Fill::Kind;

double value_of(Dtype dtype, const std::byte* at) {
  return with_float_dtype(dtype, [&](auto kDtype) {
    return static_cast<double>(number_of<kDtype>(load<WordOf<kDtype>>(at)));
  });
}

void store_value(Dtype dtype, double value, std::byte* to) {
  with_float_dtype(dtype, [&](auto kDtype) {
    store(to, word_of<kDtype>(static_cast<NumberOf<kDtype>>(value)));
    return 0;
  });
}

double fill_of(Dtype dtype, Kind kind) {
  if (kind == Kind::kNan) return std::numeric_limits<double>::quiet_NaN();
  return dtype == Dtype::kF16 ? -9999 : 1e36;
}

struct Field {
  codec::Chunk array;
  Bytes values;
  std::vector<bool> missing;
};

// Values between 260 and 300; `share` per cent of them are missing, in runs of `run`.
Field make_field(const codec::Chunk& array, double fill, unsigned share, std::uint64_t run) {
  Field field{array, Bytes(array.raw_bytes()), {}};
  std::mt19937 random(3);
  const std::uint64_t width = dtype_size(array.dtype);
  bool is_missing = false;
  for (std::uint64_t at = 0; at < array.shape.count(); ++at) {
    if (at % run == 0) is_missing = random() % 100 < share;
    field.missing.push_back(is_missing);
    const double value = 280 + 20 * std::sin(static_cast<double>(at) * 1e-3);
    store_value(array.dtype, is_missing ? fill : value, field.values.data() + at * width);
  }
  return field;
}

double least_of(const Field& field, bool largest) {
  double end = largest ? -1e300 : 1e300;
  for (std::uint64_t at = 0; at < field.missing.size(); ++at) {
    if (field.missing[at]) continue;
    const double value =
        value_of(field.array.dtype, &field.values[at * dtype_size(field.array.dtype)]);
    end = largest ? std::max(end, value) : std::min(end, value);
  }
  return end;
}

// How far a value may be off: the codec's bound, else a share of the largest.
double bound_of(const Info& info, const Field& field, double relative) {
  if (info.codec->lossless) return 0;
  if (relative > 0) return relative * (least_of(field, true) - least_of(field, false));
  if (info.codec->bound_of != nullptr) return info.codec->bound_of(info.header.parameter);
  return 300 * 0.01;
}

void check_values(const Field& field, const Bytes& out, double bound) {
  const std::uint64_t width = dtype_size(field.array.dtype);
  for (std::uint64_t at = 0; at < field.missing.size(); ++at) {
    const std::byte* const own = &field.values[at * width];
    const std::byte* const back = &out[at * width];
    if (field.missing[at]) {
      ASSERT_EQ(std::memcmp(own, back, width), 0) << "missing value " << at;
    } else {
      const double off =
          std::fabs(value_of(field.array.dtype, own) - value_of(field.array.dtype, back));
      ASSERT_LE(off, bound) << "value " << at;
    }
  }
}

class HeldFrame : public PieceAccess {
 public:
  HeldFrame(ByteView frame, Bytes& out) : out_(out), frame_(frame) {}
  Status read(std::uint64_t offset, MutableByteView to) override {
    std::memcpy(to.data(), frame_.data() + offset, to.size());
    return {};
  }
  Status write(std::uint64_t offset, ByteView from) override {
    std::memcpy(out_.data() + offset, from.data(), from.size());
    return {};
  }

 private:
  Bytes& out_;
  ByteView frame_;
};

Bytes decoded_in_pieces(const Bytes& frame, std::size_t bytes) {
  Bytes out(bytes, std::byte{0x5A});
  HeldFrame memory(frame, out);
  std::uint64_t needed = 0;
  (void)decode_in_pieces(memory, frame.size(), frame::file_mark(), {}, &needed);
  Bytes workspace(needed);
  EXPECT_TRUE(decode_in_pieces(memory, frame.size(), frame::file_mark(), workspace, &needed).ok());
  return out;
}

// Encodes inside its bound, decodes both ways, and checks the values.
Info check_field(const Coder& coder, const Field& field, double relative) {
  constexpr std::size_t kGuard = 64;
  const std::uint64_t most = *bound(coder, field.array);
  Bytes frame(most + kGuard, std::byte{0xC5});
  const auto written =
      encode(coder, field.array, field.values.data(), MutableByteView(frame).first(most), {});
  EXPECT_TRUE(written.ok()) << written.status().message();
  for (std::size_t at = most; at < frame.size(); ++at) EXPECT_EQ(frame[at], std::byte{0xC5});
  frame.resize(written.ok() ? *written : 0);
  Bytes out(field.values.size(), std::byte{0xA5});
  const auto info = decode(frame, out, frame::file_mark());
  EXPECT_TRUE(info.ok()) << info.status().message();
  check_values(field, out, bound_of(*info, field, relative));
  EXPECT_EQ(decoded_in_pieces(frame, out.size()), out);
  return *info;
}

std::vector<Shape> shapes_of(const codec::Codec& codec) {
  std::vector<Shape> shapes = {Shape::line(0), Shape::line(1), Shape::line(5), Shape::line(1000),
                               Shape::line(40001)};
  if (codec.max_rank >= 2) shapes.push_back({.rank = 2, .extent = {201, 333}});
  if (codec.max_rank >= 3) shapes.push_back({.rank = 3, .extent = {21, 34, 130}});
  shapes.push_back({.rank = 4, .extent = {3, 5, 21, 34}});
  return shapes;
}

// Calls body(coder, dtype, share of the range or 0) for every lossy codec that takes "fill=", at
// its example and at more specs.
template <typename Body>
void for_each_lossy(Body&& body) {
  const std::vector<const char*> more = {"szp:rel=1e-3", "szp:abs=0", "zfp:rate=32",
                                         "zfp:rate=20",  "blockq",    "cast:to=f32"};
  std::vector<std::string> texts;
  for (const codec::Codec* codec : codec::all_codecs()) {
    if (!codec->lossless && !codec->gpu_only) texts.emplace_back(codec->example);
  }
  texts.insert(texts.end(), more.begin(), more.end());
  for (const std::string& text : texts) {
    const auto spec = codec::parse_spec(text);
    if (!spec.ok()) continue;
    for (int each = 0; each < kDtypeCount; ++each) {
      const auto dtype = static_cast<Dtype>(each);
      const Coder coder{spec->codec, spec->parameter};
      if (!spec->codec->takes(dtype) || !bound(coder, line(dtype, 100)).ok()) continue;
      SCOPED_TRACE(text + " " + dtype_name(dtype));
      body(coder, dtype, spec->codec->open(spec->parameter) ? 1e-3 : 0.0);
    }
  }
}

TEST(Fills, MissingValuesComeBackAndOthersStayInTheirBound) {
  int with_mask = 0;
  for_each_lossy([&](Coder coder, Dtype dtype, double relative) {
    for (const Kind kind : {Kind::kValue, Kind::kNan, Kind::kAuto}) {
      if (kind == Kind::kAuto && dtype == Dtype::kF16) continue;  // it finds NaN alone
      const double fill = fill_of(dtype, kind);
      coder.fill = {.kind = kind, .value = kind == Kind::kValue ? fill : 0};
      for (const Shape& shape : shapes_of(*coder.codec)) {
        for (const unsigned share : {0u, 1u, 40u, 100u}) {
          for (const std::uint64_t run : {1, 300}) {
            if (is_brief() && run == 1 && shape.count() > 10000 && share != 40) continue;
            SCOPED_TRACE(coder.fill.text() + " " + std::to_string(shape.count()) + " " +
                         std::to_string(share) + "% in runs of " + std::to_string(run));
            const Info info =
                check_field(coder, make_field({dtype, shape}, fill, share, run), relative);
            if (testing::Test::HasFailure()) return;
            with_mask += info.header.has_fill ? 1 : 0;
          }
        }
      }
    }
  });
  EXPECT_GT(with_mask, 300);
}

TEST(Fills, ArraysWithThemGetSmaller) {
  for (const char* text :
       {"szp:rel=1e-3", "szp:abs=1e-2", "zfp:rate=8", "blockq", "cast:to=bf16"}) {
    const auto spec = codec::parse_spec(
        std::string(text) + (text == std::string("blockq") ? ":fill=auto" : ",fill=auto"));
    ASSERT_TRUE(spec.ok()) << spec.status().message();
    const Coder coder{.codec = spec->codec, .parameter = spec->parameter, .fill = spec->fill};
    const codec::Chunk array{Dtype::kF32, {.rank = 2, .extent = {400, 500}}};
    const Field field = make_field(array, 9.96921e36, 30, 250);
    const Bytes frame = encoded(coder, array, field.values);
    EXPECT_LT(frame.size(), array.raw_bytes() * 6 / 10) << text;
    const Bytes sound =
        encoded({coder.codec, coder.parameter}, array, make_field(array, 280, 30, 250).values);
    // A mask of 2% of the frame at the most, as one of runs is.
    EXPECT_LT(frame.size(), sound.size() * 103 / 100) << text;
  }
}

TEST(Fills, FramesOfArraysWithoutThemStayAsTheyAre) {
  for_each_lossy([](Coder coder, Dtype dtype, double) {
    for (const std::uint64_t count : kLengths) {
      const Field field = make_field(line(dtype, count), 0, 0, 1);
      const Bytes plain = encoded(coder, field.array, field.values);
      for (const Kind kind : {Kind::kValue, Kind::kNan, Kind::kAuto}) {
        Coder own = coder;
        own.fill = {.kind = kind, .value = 1e30};
        EXPECT_EQ(encoded(own, field.array, field.values), plain) << own.fill.text();
      }
    }
  });
}

TEST(Fills, ARareOneIsFoundAndDestroysNoOther) {
  const auto spec = codec::parse_spec("szp:rel=1e-4,fill=auto");
  const Coder coder{.codec = spec->codec, .parameter = spec->parameter, .fill = spec->fill};
  Field field = make_field(line(Dtype::kF32, 1'000'000), 0, 0, 1);
  field.missing[700'001] = true;
  store(&field.values[700'001 * 4], 1e20f);
  const Info info = check_field(coder, field, 1e-4);
  EXPECT_TRUE(info.header.has_fill);
}

TEST(Fills, AutoTakesTheMostFrequent) {
  const auto found = [](double one, std::uint64_t times, double other, std::uint64_t more) {
    Field field = make_field(line(Dtype::kF64, 10'000), 0, 0, 1);
    for (std::uint64_t at = 0; at < times; ++at) store(&field.values[at * 16], one);
    for (std::uint64_t at = 0; at < more; ++at) store(&field.values[at * 16 + 8], other);
    return find_fill({.kind = Kind::kAuto}, field.array, field.values.data());
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(found(1e36, 100, 1e35, 99), bits_of(1e36));
  EXPECT_EQ(found(1e36, 100, 1e35, 101), bits_of(1e35));
  EXPECT_EQ(found(-1e30, 100, nan, 99), bits_of(-1e30));
  EXPECT_EQ(found(-1e30, 100, nan, 101), bits_of(nan));
  EXPECT_EQ(found(nan, 1, nan, 0), bits_of(nan));
  EXPECT_EQ(found(280, 1, 281, 1), std::nullopt);
  EXPECT_EQ(found(-9999, 100, 281, 1), std::nullopt);  // near the others
  EXPECT_EQ(found(1e300, 1, std::numeric_limits<double>::infinity(), 100), bits_of(1e300));
}

// Two fill values: one is masked, and for the other the array is declined as without the option.
TEST(Fills, AnotherFillValueIsStillDeclined) {
  const auto spec = codec::parse_spec("szp:rel=1e-3,fill=1e36");
  const Coder coder{.codec = spec->codec, .parameter = spec->parameter, .fill = spec->fill};
  Field field = make_field(line(Dtype::kF32, 40'000), 1e36, 30, 100);
  const auto code = [&] {
    Bytes frame(*bound(coder, field.array));
    EncodeOptions options;
    options.decline = true;
    options.declines_fill_values = true;
    return encode(coder, field.array, field.values.data(), frame, options).status().code();
  };
  EXPECT_EQ(code(), StatusCode::kOk);
  for (std::uint64_t at = 0; at < 40'000; at += 3) store(&field.values[at * 4], -1e30f);
  EXPECT_EQ(code(), StatusCode::kDeclined);
}

// A NaN of other bits is a value; szp keeps it.
TEST(Fills, OtherBitsAreValues) {
  const auto spec = codec::parse_spec("szp:abs=1e-3,fill=nan");
  const Coder coder{.codec = spec->codec, .parameter = spec->parameter, .fill = spec->fill};
  Field field = make_field(line(Dtype::kF32, 10'000), 0, 0, 1);
  for (std::uint64_t at = 0; at < 10'000; at += 10) store(&field.values[at * 4], 0x7FC00000u);
  store(&field.values[4 * 5], 0xFFC00001u);
  const Bytes frame = encoded(coder, field.array, field.values);
  Bytes out(field.values.size());
  const auto info = decode(frame, out, frame::file_mark());
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->header.fill, 0x7FC00000u);
  EXPECT_EQ(load<std::uint32_t>(&out[4 * 5]), 0xFFC00001u);
  EXPECT_EQ(load<std::uint32_t>(&out[4 * 10]), 0x7FC00000u);
}

TEST(Fills, NoSizeIsFixed) {
  const auto spec = codec::parse_spec("zfp:rate=8,fill=auto");
  const Coder coder{.codec = spec->codec, .parameter = spec->parameter, .fill = spec->fill};
  EXPECT_EQ(fixed_bytes(coder, line(Dtype::kF32, 1000)).status().code(), StatusCode::kUnsupported);
  EXPECT_TRUE(fixed_bytes({coder.codec, coder.parameter}, line(Dtype::kF32, 1000)).ok());
}

// ---- Damage ----

Coder holed_coder(const codec::Codec& codec) {
  const auto spec = codec::parse_spec(codec.example);
  return {.codec = spec->codec, .parameter = spec->parameter, .fill = {.kind = Kind::kNan}};
}

void reseal_holed(Bytes& frame) {
  Bytes covered(frame.begin(), frame.begin() + 48);
  covered.insert(covered.end(), frame.begin() + 56, frame.begin() + 64);
  store(frame.data() + 48, checksum(covered));
}

Bytes holed_frame(const Coder& coder, Dtype dtype, bool checksums) {
  EncodeOptions options;
  options.chunk_checksums = checksums;
  const Field field = make_field(line(dtype, 20'000), fill_of(dtype, Kind::kNan), 40, 30);
  return encoded(coder, field.array, field.values, options);
}

template <typename Body>
void for_each_holed(Body&& body) {
  for_each_coder([&](const Coder& coder, Dtype dtype) {
    if (coder.codec->lossless) return;
    body(holed_coder(*coder.codec), dtype);
  });
}

TEST(Fills, EveryFlippedByteIsAnError) {
  for_each_holed([](const Coder& coder, Dtype dtype) {
    const Bytes sound = holed_frame(coder, dtype, true);
    ASSERT_TRUE(inspect(sound, frame::file_mark())->header.has_fill);
    Bytes out(20'000 * dtype_size(dtype));
    ASSERT_TRUE(decode(sound, out, frame::file_mark()).ok());
    std::mt19937 random(7);
    for (std::size_t trial = 0; trial < 400; ++trial) {
      Bytes frame = sound;
      const std::size_t at = trial < 200 ? trial : random() % frame.size();
      frame[at] ^= static_cast<std::byte>(1 + random() % 255);
      EXPECT_FALSE(decode(frame, out, frame::file_mark()).ok()) << "byte " << at;
    }
    for (std::size_t length = 0; length < sound.size(); length += length < 300 ? 1 : 97) {
      EXPECT_FALSE(decode(ByteView(sound).first(length), out, frame::file_mark()).ok());
    }
  });
}

TEST(Fills, ForgedPayloadsWriteTheWholeArrayOrAreRefused) {
  for_each_holed([](const Coder& coder, Dtype dtype) {
    const Bytes sound = holed_frame(coder, dtype, false);
    const std::uint64_t bytes = 20'000 * dtype_size(dtype);
    const std::size_t table =
        inspect(sound, frame::file_mark())->layout().table_bytes() + 64;  // after header and table
    std::mt19937 random(11);
    int taken = 0;
    for (int trial = 0; trial < 300; ++trial) {
      Bytes frame = sound;
      for (int change = 0; change <= trial % 3; ++change) {
        const std::size_t at =
            trial % 2 == 0 ? table + random() % 40 : 64 + random() % (frame.size() - 64);
        frame[at] = static_cast<std::byte>(random() % (trial % 5 == 0 ? 4 : 256));
      }
      Bytes one(bytes + 64, std::byte{0xC5}), two(bytes + 64, std::byte{0x3A});
      const auto info = decode(frame, MutableByteView(one).first(bytes), frame::file_mark());
      const auto again = decode(frame, MutableByteView(two).first(bytes), frame::file_mark());
      ASSERT_EQ(info.ok(), again.ok());
      for (std::size_t at = bytes; at < one.size(); ++at) ASSERT_EQ(one[at], std::byte{0xC5});
      if (!info.ok()) continue;
      ++taken;
      EXPECT_TRUE(
          std::equal(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(bytes), two.begin()));
    }
    EXPECT_GT(taken, 0);
  });
}

TEST(Fills, SealedNonsenseInTheHeaderIsAnError) {
  const auto code = [](std::size_t at, std::uint64_t value, std::size_t width) {
    Bytes frame = holed_frame(holed_coder(*codec::find_codec("szp")), Dtype::kF32, true);
    std::memcpy(frame.data() + at, &value, width);
    reseal_holed(frame);
    Bytes out(80'000);
    return decode(frame, out, frame::file_mark()).status().code();
  };
  EXPECT_EQ(code(16, 2, 1), StatusCode::kOk);
  EXPECT_EQ(code(16, 3, 1), StatusCode::kVersion);
  EXPECT_EQ(code(16, 1, 1), StatusCode::kDamaged);  // which has no such flag
  EXPECT_EQ(code(16, 0, 1), StatusCode::kDamaged);
  EXPECT_EQ(code(21, 1, 1), StatusCode::kDamaged);           // no such flag
  EXPECT_EQ(code(56, 1ull << 32, 8), StatusCode::kDamaged);  // no bits of an fp32
  EXPECT_EQ(code(17, 2, 1), StatusCode::kDamaged);           // mpc, which loses nothing
  EXPECT_EQ(code(17, 0, 1), StatusCode::kDamaged);           // raw, likewise
  EXPECT_EQ(code(19, 0, 1), StatusCode::kDamaged);           // bytes
  EXPECT_EQ(code(24, 1ull << 40, 8), StatusCode::kDamaged);  // more chunks than the table
}

// A chunk without values has no payload, and one with all of them has one.
TEST(Fills, ChunksOfOneKindHaveNoMoreThanTheyNeed) {
  const Coder coder = holed_coder(*codec::find_codec("zfp"));
  const Field field =
      make_field(line(Dtype::kF32, 100'000), fill_of(Dtype::kF32, Kind::kNan), 100, 1);
  EncodeOptions options;
  options.chunk_checksums = false;
  Bytes frame = encoded(coder, field.array, field.values, options);
  const auto info = inspect(frame, frame::file_mark());
  ASSERT_TRUE(info.ok());
  const std::uint64_t chunks = info->layout().chunks;
  EXPECT_EQ(frame.size(), 64 + chunks * 9);
  Bytes out(field.values.size());
  ASSERT_TRUE(decode(frame, out, frame::file_mark()).ok());
  EXPECT_EQ(out, field.values);
  frame.insert(frame.begin() + static_cast<std::ptrdiff_t>(64 + chunks * 8 + 1), std::byte{0});
  store(frame.data() + 64, std::uint32_t{2});
  store(frame.data() + 40, load<std::uint64_t>(frame.data() + 40) + 1);
  reseal_holed(frame);
  EXPECT_EQ(decode(frame, out, frame::file_mark()).status().code(), StatusCode::kDamaged);
}

}  // namespace
}  // namespace thinwire::message
