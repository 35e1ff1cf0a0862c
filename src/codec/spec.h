// Codec specs as users write them: name[:key=value[,key=value]].
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "codec/codec.h"
#include "codec/fill.h"

namespace thinwire::codec {

// "allreduce-abs=" and "allreduce-rel=": how far the result of a reduction may be from the exact
// one, whatever the ranks and the algorithm. Options of every codec that can be given a bound.
struct ResultBound {
  enum class Kind {
    kNone,
    kAbsolute,  // of every value
    kRelative   // share of the sum over the ranks of the range of what each contributes
  };
  Kind kind = Kind::kNone;
  double value = 0;  // above 0; a share is at most 1

  friend bool operator==(const ResultBound&, const ResultBound&) = default;

  bool exists() const { return kind != Kind::kNone; }

  // The bound as text, "allreduce-abs=1e-4"; "" for none.
  std::string text() const;
};

// Takes the option out of `options`. kInvalidArgument, with a message for the user, if there are
// two, or its value is none.
Result<ResultBound> take_result_bound(std::vector<Option>& options);

// A parsed spec. Besides the names of the registry, "off" (never compress), "auto" (the lossless
// codec that the data chooses, if one pays on the stated link) and "lossless" (the same, asked
// for by name: no link need be stated) are specs of a policy: they name no codec by themselves.
struct Spec {
  enum class Kind { kOff, kAuto, kCodec };
  Kind kind = Kind::kOff;
  const Codec* codec = nullptr;  // kCodec only
  std::uint64_t parameter = 0;

  // True for "lossless", a kAuto that may say whether reductions are coded; under "auto" they stay
  // native.
  bool insists = false;
  enum class Reductions { kUnsaid, kNative, kCoded, kOrdered, kExact };
  Reductions reductions = Reductions::kUnsaid;

  // The bound of results of reductions; an option of codecs that have `with_bound`.
  ResultBound result_bound = {};

  // There is no other bound: nothing but a reduction can be coded, and `parameter` is not read.
  bool reductions_alone = false;

  // Missing values, of lossy codecs alone. Reductions are native then: a sum of fill values is
  // none.
  Fill fill = {};

  // "shape=", an option of every codec: extents, slowest first, 0 for the one given as "?". Rank 0
  // where there is none.
  Shape shape{.rank = 0};

  // Reductions are added in the order of the ranks, compressed or raw; sums exactly, if that is
  // asked for: then the order of the others is that of the ranks.
  bool orders_reductions() const { return reductions == Reductions::kOrdered || adds_exactly(); }
  bool adds_exactly() const { return reductions == Reductions::kExact; }

  // Compresses nothing if no link is stated.
  bool needs_link() const { return kind == Kind::kAuto && !insists; }

  friend bool operator==(const Spec&, const Spec&) = default;

  // The spec in its normal form, as in "zfp:rate=16" or "zfp:rate=8,shape=24x24x?": the codec's own
  // options, the bound of results, the fill value, the shape.
  std::string text() const;

  // The shape in which `count` elements are coded: `shape` if it fits them, else a line.
  // kUnsupported, with a message for the user, if a lossy codec would get a line instead of the
  // shape that was asked for.
  Result<Shape> shape_of(std::uint64_t count) const;
};

// kInvalidArgument, with a message for the user, for what does not parse.
Result<Spec> parse_spec(std::string_view text);

}  // namespace thinwire::codec
