#include "base/parse.h"

#include <charconv>
#include <cmath>
#include <string>
#include <system_error>

#include "base/float_mode.h"

namespace thinwire {
namespace {

struct Quantity {
  double value;
  std::string unit;  // lower case, spaces removed
};

std::optional<Quantity> split_unit(std::string_view text) {
  Quantity quantity{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), quantity.value);
  if (error != std::errc() || !std::isfinite(quantity.value) || quantity.value < 0) {
    return std::nullopt;
  }
  for (const char* at = end; at != text.data() + text.size(); ++at) {
    if (*at != ' ') quantity.unit += static_cast<char>(*at >= 'A' && *at <= 'Z' ? *at + 32 : *at);
  }
  return quantity;
}

// 10 or 2^10 to the power that a prefix letter names, or 0 for no such prefix.
double prefix_factor(std::string_view prefix, double step) {
  if (prefix.empty()) return 1;
  if (prefix == "k") return step;
  if (prefix == "m") return step * step;
  if (prefix == "g") return step * step * step;
  if (prefix == "t") return step * step * step * step;
  return 0;
}

bool strip_suffix(std::string& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.resize(text.size() - suffix.size());
  return true;
}

}  // namespace

Result<double> parse_number(std::string_view text) {
  const DefaultFloatMode mode;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return {StatusCode::kInvalidArgument, "'" + std::string(text) + "' is not a number"};
  }
  return value;
}

std::string number_text(double number) {
  char digits[32];
  std::string text(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  const auto exponent = text.find('e');
  if (exponent == std::string::npos) return text;
  if (text[exponent + 1] == '+') text.erase(exponent + 1, 1);
  const std::size_t first = exponent + (text[exponent + 1] == '-' ? 2 : 1);
  text.erase(first, text.find_first_not_of('0', first) - first);
  return text;
}

std::optional<std::uint64_t> parse_whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<std::uint64_t> parse_size(std::string_view text) {
  const DefaultFloatMode mode;
  auto quantity = split_unit(text);
  double factor = 0;
  if (quantity) {
    if (!strip_suffix(quantity->unit, "ib")) strip_suffix(quantity->unit, "b");
    factor = prefix_factor(quantity->unit, 1024);
  }
  if (factor == 0 || quantity->value * factor >= 0x1p63) {
    return {StatusCode::kInvalidArgument,
            "'" + std::string(text) + "' is not a size in bytes (as in 65536, 64KiB, 1MiB)"};
  }
  return static_cast<std::uint64_t>(quantity->value * factor);
}

Result<double> parse_link_rate(std::string_view text) {
  const DefaultFloatMode mode;
  auto quantity = split_unit(text);
  std::string unit = quantity ? quantity->unit : "";
  double factor = 0;
  if (strip_suffix(unit, "bit/s") || strip_suffix(unit, "bit") || strip_suffix(unit, "bps")) {
    factor = prefix_factor(unit, 1000) / 8;
  } else if (strip_suffix(unit, "b/s")) {
    factor = prefix_factor(unit, 1000);
  }
  const double rate = factor == 0 ? 0 : quantity->value * factor;
  if (rate == 0 || !std::isfinite(rate)) {
    return {StatusCode::kInvalidArgument,
            "'" + std::string(text) + "' is not a link rate (as in 100mbit, 1gbit, 2.5GB/s)"};
  }
  return rate;
}

}  // namespace thinwire
