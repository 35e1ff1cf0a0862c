// The description of a codec: one row of the registry. Codecs know nothing of frames, plans or
// transports.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/dtype.h"
#include "base/status.h"

namespace thinwire::codec {

// Ids are on the wire for ever. 0xF0 to 0xFF are reserved for codecs that only tests build.
using CodecId = std::uint8_t;
inline constexpr CodecId kFirstTestId = 0xF0;

// One key=value of a codec spec.
struct Option {
  std::string_view key;
  std::string_view value;
};

// One chunk in memory: a dense array, slowest axis first, at any alignment.
struct Chunk {
  Dtype dtype = Dtype::kBytes;
  Shape shape;
  std::uint64_t index = 0;  // which one of its array, if it is a piece of one

  std::uint64_t raw_bytes() const { return shape.count() * dtype_size(dtype); }
};

// A lattice: every value decodes to its own bits, or to an integer times `step`, rounded to the
// dtype. An integer of at most `most`, times `step`, less than half a step off by more than four
// roundings to the dtype, decodes to that integer's value or to its own bits; so what is on the
// lattice stays where it is, however often it is coded. step is 0 if there is no lattice.
struct Spacing {
  double step = 0;
  double most = 0;
};

// The option by which a codec compares each value with the one so many before it, for values that
// come in tuples: `key` takes 1 to `most`, and 0 too, for no comparison, if `has_none`. No key:
// there is no such option.
struct StrideOption {
  const char* key = nullptr;
  int most = 1;
  bool has_none = false;
};

struct DeviceCodec;  // codec/job.h

// A row of the registry. Functions are pure, thread-safe and allocate nothing, `parse` and
// `describe` excepted. `parameter` is the codec's own 64-bit word: it comes from `parse`, travels
// in the frame, and passed `check` before any other function sees it.
struct Codec {
  CodecId id;
  const char* name;
  const char* summary;   // one line for `thinwire codecs`
  const char* options;   // as in "rate=<bits per value>", or ""
  const char* example;   // a spec that any array of `dtypes` accepts, as in "zfp:rate=16"
  std::uint8_t version;  // of this codec's own format
  bool lossless;
  bool fixed_size;       // encoded size depends on dtype, shape and parameter alone
  std::uint32_t dtypes;  // dtype_bit() of each that it takes, under some parameter
  int max_rank;          // of shapes of a higher rank the slowest axes are taken as one
  bool flat = false;     // arrays of any shape are coded as one line; the frame keeps the shape

  // How many versions before `version` have payloads that mean the same in it, so that decode()
  // takes them.
  std::uint8_t older_versions = 0;

  // The parameter word that the options mean; an unknown or missing key is an error.
  Result<std::uint64_t> (*parse)(std::span<const Option> options);

  // The options that `parse` would turn into `parameter`, as in "rate=8"; "" for none.
  std::string (*describe)(std::uint64_t parameter);

  // Whether a parameter read from a frame, hostile or not, is one that this codec defines.
  Status (*check)(std::uint64_t parameter, Dtype dtype, int rank);

  // The extents of one chunk, each at least 1: a box, clipped at the far ends of the array's axes.
  // It spans all axes but the slowest in full (a run of planes), or has at most kMostBoxBytes.
  Shape (*chunk_shape)(const Shape& shape, Dtype dtype, std::uint64_t parameter);

  // Most bytes that encoding `chunk` can take; the exact number if fixed_size.
  std::uint64_t (*bound)(const Chunk& chunk, std::uint64_t parameter);

  // Encodes the chunk at `source` into `out`, which holds at least bound() bytes; returns the
  // bytes written. kDeclined if this data can't be coded (NaN in a fixed-rate codec).
  Result<std::uint64_t> (*encode)(const std::byte* source, const Chunk& chunk,
                                  std::uint64_t parameter, std::byte* out);

  // Decodes `encoded`, the whole of one chunk and nothing else, into chunk.raw_bytes() bytes at
  // `out`, every one of which is written. Any bytes are safe; kDamaged if they cannot be this
  // codec's.
  Status (*decode)(ByteView encoded, const Chunk& chunk, std::uint64_t parameter, std::byte* out);

  // Whether a parameter of a spec still depends on the data, as a bound relative to its range does;
  // nullptr if none does. No frame carries such a one, and chunks are cut without it.
  bool (*is_open)(std::uint64_t parameter) = nullptr;

  // One that is open, for encodes that are told later what it is (EncodeJob::given); 0 if there
  // is none.
  std::uint64_t any_open = 0;

  // The parameter that an open one becomes for this array; the codec's GPU side does so by itself.
  std::uint64_t (*resolve)(const std::byte* source, const Chunk& array,
                           std::uint64_t parameter) = nullptr;

  // `parameter` with another bound: each value decodes to one at most `bound` away, above 0 and
  // finite, or to its own bits. nullptr if the codec has no absolute bound.
  std::uint64_t (*with_bound)(std::uint64_t parameter, double bound) = nullptr;

  // The largest difference that coding under `parameter` makes to a value, 0 if that depends on
  // the data; nullptr if the codec states none.
  double (*bound_of)(std::uint64_t parameter) = nullptr;

  // The spacing of the numbers to which values decode under a closed parameter; nullptr if they
  // follow no such rule.
  Spacing (*spacing)(std::uint64_t parameter, Dtype dtype) = nullptr;

  // Whether the error of a value is a share of itself, so that no value can destroy another.
  bool each_by_itself = false;

  // Whether it takes one of `dtypes` under a parameter; nullptr if it takes all of them.
  bool (*takes_under)(std::uint64_t parameter, Dtype dtype) = nullptr;

  // kUnsupported, with what is missing and how to get it, if this machine lacks what the codec
  // needs; nullptr if it needs nothing.
  Status (*available)() = nullptr;

  // The position at which "auto" tries it on arrays of each type, from 1 on; 0 if it does not. A
  // slow one comes last, and is tried only if the link leaves it the time.
  std::array<std::uint8_t, kDtypeCount> place_in_auto = {};
  bool slow = false;

  StrideOption strides = {};

  // Whether host memory is none of its business: `encode` and `decode` are kUnsupported, and its
  // GPU side has no other side to agree with.
  bool gpu_only = false;

  // Whether another project's library decodes: it may not be safe against forged bytes, so frames
  // of it are decoded only if this process has named it (message/allowed.h).
  bool foreign = false;

  // The same on a GPU, byte for byte; nullptr if this build or the codec has no such side.
  const DeviceCodec* device = nullptr;

  bool open(std::uint64_t parameter) const { return is_open != nullptr && is_open(parameter); }
  bool takes(Dtype dtype) const { return (dtypes & dtype_bit(dtype)) != 0; }
  bool takes(Dtype dtype, std::uint64_t parameter) const {
    return takes(dtype) && (takes_under == nullptr || takes_under(parameter, dtype));
  }
  bool test_only() const { return id >= kFirstTestId; }
};

// The functions of a codec's row that read and write its options, if it takes none: its
// parameter is 0. `kCodec` is the row itself, for its name.
template <const Codec& kCodec>
struct NoOptions {
  static Result<std::uint64_t> parse(std::span<const Option> options) {
    if (options.empty()) return std::uint64_t{0};
    return {StatusCode::kInvalidArgument, std::string(kCodec.name) + " takes no options"};
  }

  static std::string describe(std::uint64_t) { return ""; }

  static Status check(std::uint64_t parameter, Dtype, int) {
    if (parameter == 0) return {};
    return {StatusCode::kDamaged, std::string(kCodec.name) + ": the parameter is not 0"};
  }
};

}  // namespace thinwire::codec
