#include "codec/result_bound.h"

#include <algorithm>

#include "base/parse.h"

namespace thinwire::codec {
namespace {

constexpr std::string_view kAbsoluteKey = "allreduce-abs";
constexpr std::string_view kRelativeKey = "allreduce-rel";

Status invalid(std::string_view key, const std::string& what) {
  return {StatusCode::kInvalidArgument, "codec spec: " + std::string(key) + what};
}

bool is_key(const Option& option) {
  return option.key == kAbsoluteKey || option.key == kRelativeKey;
}

}  // namespace

std::string ResultBound::text() const {
  if (!exists()) return "";
  const auto key = kind == Kind::kAbsolute ? kAbsoluteKey : kRelativeKey;
  return std::string(key) + "=" + number_text(value);
}

Result<ResultBound> take_result_bound(std::vector<Option>& options) {
  ResultBound bound;
  const auto option = std::find_if(options.begin(), options.end(), is_key);
  if (option == options.end()) return bound;
  const Option taken = *option;
  options.erase(option);
  if (std::any_of(options.begin(), options.end(), is_key)) {
    return invalid(kAbsoluteKey, " and allreduce-rel are one or the other");
  }
  bound.kind =
      taken.key == kAbsoluteKey ? ResultBound::Kind::kAbsolute : ResultBound::Kind::kRelative;
  const auto value = parse_number(taken.value);
  if (!value.ok()) return invalid(taken.key, ": " + value.status().message());
  if (!(*value > 0)) return invalid(taken.key, " is above 0; lossless codecs lose nothing");
  if (bound.kind == ResultBound::Kind::kRelative && *value > 1) {
    return invalid(taken.key, " is at most 1");
  }
  bound.value = *value;
  return bound;
}

}  // namespace thinwire::codec
