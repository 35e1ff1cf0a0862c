// The functions of a codec's row that read and write its options, if it takes none: its
// parameter is 0.
#pragma once

#include "codec/codec.h"

namespace thinwire::codec {

// `kCodec` is the row itself, for its name.
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
