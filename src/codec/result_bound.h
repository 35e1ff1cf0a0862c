// "allreduce-abs=" and "allreduce-rel=": how far the result of a reduction may be from the exact
// one, whatever the ranks and the algorithm. Options of every codec that can be given a bound.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "codec/codec.h"

namespace thinwire::codec {

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

}  // namespace thinwire::codec
