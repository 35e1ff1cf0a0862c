// "fill=", an option of every lossy codec that works in host memory: which values of an array stand
// for missing ones. They come back to the bit, and bounds are those of the others.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "codec/codec.h"

namespace thinwire::codec {

struct Fill {
  enum class Kind {
    kNone,
    kValue,  // those of the bits of `value`, rounded to the array's type
    kNan,    // those of the bits of the array's first NaN
    kAuto    // what the array tells (message/find_fill.h)
  };
  Kind kind = Kind::kNone;
  double value = 0;

  friend bool operator==(const Fill&, const Fill&) = default;

  bool exists() const { return kind != Kind::kNone; }

  // The option as text, "fill=1e+36"; "" for none.
  std::string text() const;
};

// Takes the option out of `options`, which are those of `codec`. kInvalidArgument, with a message
// for the user, if the codec takes none, or the value is none.
Result<Fill> take_fill(std::vector<Option>& options, const Codec& codec);

}  // namespace thinwire::codec
