#include "codec/blockq/parameter.h"

#include <optional>

#include "base/parse.h"

namespace thinwire::codec::blockq {
namespace {

Status invalid(const std::string& what) {
  return {StatusCode::kInvalidArgument, "blockq: " + what};
}

// The options found so far; one that is given again with another value is refused.
struct Said {
  std::optional<Element> element;
  std::optional<std::uint32_t> block;
  std::optional<bool> power_of_two;
  bool rotated = false;
  bool stochastic = false;
  std::optional<std::uint32_t> seed;
};

template <typename Value>
bool agree(std::optional<Value>& said, Value value) {
  const bool agrees = !said || *said == value;
  said = value;
  return agrees;
}

// An element format by its number of bits or by its name; false if it is none, or another was
// said before.
bool take_format(Said& said, std::string_view name) {
  if (name == "int8" || name == "8") return agree(said.element, Element::kInt8);
  if (name == "int4" || name == "4") return agree(said.element, Element::kInt4);
  if (name == "e4m3") return agree(said.element, Element::kE4m3);
  return name == "mxfp8" && agree(said.element, Element::kE4m3) && agree(said.block, 32u) &&
         agree(said.power_of_two, true);
}

bool take_flag(bool& flag, std::string_view value) {
  flag = value == "1";
  return flag || value == "0";
}

bool take(Said& said, const Option& option) {
  const auto& [key, value] = option;
  const auto number = parse_whole_number(value);
  if (key == "bits") return number && take_format(said, value);
  if (key == "format") return !number && take_format(said, value);
  if (key == "block") {
    return (number == 32 || number == 64 || number == 128) &&
           agree(said.block, static_cast<std::uint32_t>(*number));
  }
  if (key == "scale") {
    return (value == "bf16" || value == "e8m0") && agree(said.power_of_two, value == "e8m0");
  }
  if (key == "hadamard") return take_flag(said.rotated, value);
  if (key == "round") {
    said.stochastic = value == "stochastic";
    return said.stochastic || value == "nearest";
  }
  if (key != "seed" || !number || *number > UINT32_MAX) return false;
  return agree(said.seed, static_cast<std::uint32_t>(*number));
}

}  // namespace

Result<std::uint64_t> parse(std::span<const Option> options) {
  Said said;
  for (const Option& option : options) {
    if (take(said, option)) continue;
    return invalid("'" + std::string(option.key) + "=" + std::string(option.value) +
                   "' is none of its options, or contradicts one before; it takes " + kOptionsText);
  }
  if (said.seed && !said.stochastic) return invalid("seed is for round=stochastic");
  return pack({.element = said.element.value_or(Element::kInt8),
               .block = said.block.value_or(32),
               .power_of_two = said.power_of_two.value_or(false),
               .rotated = said.rotated,
               .stochastic = said.stochastic,
               .seed = said.seed.value_or(0)});
}

std::string describe(std::uint64_t parameter) {
  const Options options = unpack(parameter);
  std::string text = options.element == Element::kInt8   ? "bits=8"
                     : options.element == Element::kInt4 ? "bits=4"
                                                         : "format=e4m3";
  text += ",block=" + std::to_string(options.block);
  if (options.power_of_two) text += ",scale=e8m0";
  if (options.rotated) text += ",hadamard=1";
  if (options.stochastic) text += ",round=stochastic,seed=" + std::to_string(options.seed);
  return text;
}

Status check(std::uint64_t parameter, Dtype, int) {
  if (is_sound(parameter)) return {};
  return {StatusCode::kDamaged, "blockq: the parameter has fields that are not defined"};
}

}  // namespace thinwire::codec::blockq
