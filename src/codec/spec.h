// Codec specs as users write them: name[:key=value[,key=value]].
#pragma once

#include <string>
#include <string_view>

#include "base/dtype.h"
#include "base/status.h"
#include "codec/codec.h"
#include "codec/result_bound.h"

namespace thinwire::codec {

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
  enum class Reductions { kUnsaid, kNative, kCoded };
  Reductions reductions = Reductions::kUnsaid;

  // The bound of results of reductions; an option of codecs that have `with_bound`.
  ResultBound result_bound = {};

  // There is no other bound: nothing but a reduction can be coded, and `parameter` is not read.
  bool reductions_alone = false;

  // "shape=", an option of every codec: extents, slowest first, 0 for the one given as "?". Rank 0
  // where there is none.
  Shape shape{.rank = 0};

  // Compresses nothing if no link is stated.
  bool needs_link() const { return kind == Kind::kAuto && !insists; }

  friend bool operator==(const Spec&, const Spec&) = default;

  // The spec in its normal form, as in "zfp:rate=16" or "zfp:rate=8,shape=24x24x?": the codec's own
  // options, the bound of results, the shape.
  std::string text() const;

  // The shape in which `count` elements are coded: `shape` if it fits them, else a line.
  // kUnsupported, with a message for the user, if a lossy codec would get a line instead of the
  // shape that was asked for.
  Result<Shape> shape_of(std::uint64_t count) const;
};

// kInvalidArgument, with a message for the user, for what does not parse.
Result<Spec> parse_spec(std::string_view text);

}  // namespace thinwire::codec
