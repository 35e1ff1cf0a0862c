#include "codec/fill.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parse.h"

namespace thinwire::codec {
namespace {

constexpr std::string_view kKey = "fill";

Status wrong_fill(const std::string& what) {
  return {StatusCode::kInvalidArgument, "codec spec: fill" + what};
}

Result<Fill> parse_fill(std::string_view text) {
  if (text == "auto") return Fill{.kind = Fill::Kind::kAuto};
  if (text == "nan") return Fill{.kind = Fill::Kind::kNan};
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text == "inf") return Fill{.kind = Fill::Kind::kValue, .value = kInfinity};
  if (text == "-inf") return Fill{.kind = Fill::Kind::kValue, .value = -kInfinity};
  const auto value = parse_number(text);
  if (!value.ok()) {
    return wrong_fill(" is a number, nan, inf, -inf or auto, not '" + std::string(text) + "'");
  }
  return Fill{.kind = Fill::Kind::kValue, .value = *value};
}

}  // namespace

std::string Fill::text() const {
  switch (kind) {
    case Kind::kValue:
      if (std::isinf(value)) return value > 0 ? "fill=inf" : "fill=-inf";
      return "fill=" + number_text(value);
    case Kind::kNan:
      return "fill=nan";
    case Kind::kAuto:
      return "fill=auto";
    case Kind::kNone:
      break;
  }
  return "";
}

Result<Fill> take_fill(std::vector<Option>& options, const Codec& codec) {
  const auto option =
      std::ranges::find_if(options, [](const Option& each) { return each.key == kKey; });
  if (option == options.end()) return Fill{};
  const Option taken = *option;
  options.erase(option);
  if (codec.lossless)
    return wrong_fill(": " + std::string(codec.name) + " keeps every value anyway");
  if (codec.gpu_only) {
    return wrong_fill(": " + std::string(codec.name) +
                      " codes arrays in GPU memory, fill= none there");
  }
  return parse_fill(taken.value);
}

}  // namespace thinwire::codec
