#include "examples/common/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace examples {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') result += '\\';
    const bool control = static_cast<unsigned char>(letter) < 0x20;
    result += control ? '?' : letter;
  }
  return result + "\"";
}

std::string written(double value, int digits) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

}  // namespace

Report::Report(const std::string& program) {
  rows_.push_back({"program", "program", quoted(program), program});
}

void Report::text(const std::string& key, const std::string& label, const std::string& value) {
  rows_.push_back({key, label, quoted(value), value});
}

void Report::integer(const std::string& key, const std::string& label, std::int64_t value) {
  rows_.push_back({key, label, std::to_string(value), std::to_string(value)});
}

void Report::yes_or_no(const std::string& key, const std::string& label, bool value) {
  rows_.push_back({key, label, value ? "true" : "false", value ? "yes" : "no"});
}

void Report::number(const std::string& key, const std::string& label, double value,
                    const std::string& unit) {
  const std::string json = std::isfinite(value) ? written(value, 9) : "null";
  rows_.push_back({key, label, json, written(value, 4) + (unit.empty() ? "" : " " + unit)});
}

void Report::print(bool as_json) const {
  std::size_t width = 0;
  for (const Row& row : rows_) width = std::max(width, row.label.size());
  std::string out = as_json ? "{" : "";
  for (const Row& row : rows_) {
    if (as_json) {
      out += (out.size() > 1 ? ", " : "") + quoted(row.key) + ": " + row.json;
    } else {
      out += row.label + std::string(width - row.label.size() + 2, ' ') + row.shown + "\n";
    }
  }
  if (as_json) out += "}\n";
  // In one piece: other ranks' lines must not come in between.
  std::fwrite(out.data(), 1, out.size(), stdout);
  std::fflush(stdout);
}

}  // namespace examples
