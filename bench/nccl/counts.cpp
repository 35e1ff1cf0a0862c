#include "nccl/counts.h"

#include <cstdlib>
#include <string_view>

namespace thinwire::bench::nccl {
namespace {

// The text between two marks, the first of which is looked for in `text`; empty without them.
std::string_view between(std::string_view text, std::string_view from, std::string_view to) {
  const std::size_t begin = text.find(from);
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin + from.size());
  return text.substr(0, text.find(to));
}

std::int64_t number(std::string_view text, const std::string& name) {
  const std::string digits(between(text, "\"" + name + "\": ", ","));
  return std::strtoll(digits.c_str(), nullptr, 10);
}

// `"reason": 3, "another": 4`
std::map<std::string, std::int64_t> reasons_of(std::string_view text) {
  std::map<std::string, std::int64_t> found;
  while (true) {
    const std::string_view name = between(text, "\"", "\"");
    if (name.empty()) return found;
    text.remove_prefix(static_cast<std::size_t>(name.data() + name.size() + 1 - text.data()));
    found[std::string(name)] =
        std::strtoll(std::string(between(text, ": ", ",")).c_str(), nullptr, 10);
  }
}

std::string_view newest(std::string_view report) {
  const std::size_t begin = report.rfind("\"presence\": ");
  return begin == std::string_view::npos ? std::string_view() : report.substr(begin);
}

}  // namespace

Counts Counts::since(const Counts& earlier) const {
  Counts made = *this;
  made.calls -= earlier.calls;
  made.compressed_calls -= earlier.compressed_calls;
  made.bytes -= earlier.bytes;
  made.wire_bytes -= earlier.wire_bytes;
  made.spilled_blocks -= earlier.spilled_blocks;
  for (const auto& [reason, calls] : earlier.raw_by_reason) made.raw_by_reason[reason] -= calls;
  return made;
}

void Counts::leave_out(const std::string& reason, std::int64_t bytes_of_each) {
  const auto found = raw_by_reason.find(reason);
  if (found == raw_by_reason.end()) return;
  calls -= found->second;
  bytes -= found->second * bytes_of_each;
  wire_bytes -= found->second * bytes_of_each;
  raw_by_reason.erase(found);
}

std::string Counts::reason() const {
  std::string found;
  std::int64_t most = 0;
  for (const auto& [reason, calls] : raw_by_reason) {
    if (calls <= most) continue;
    most = calls;
    found = reason;
  }
  return found;
}

Counts newest_counts(const std::string& report, const std::string& operation) {
  Counts counts;
  const std::string_view figures =
      between(newest(report), "\"" + operation + "\": {", "\"raw_by_reason\"");
  if (figures.empty()) return counts;
  counts.calls = number(figures, "calls");
  counts.compressed_calls = number(figures, "compressed_calls");
  counts.bytes = number(figures, "bytes");
  counts.wire_bytes = number(figures, "wire_bytes");
  counts.spilled_blocks = number(figures, "spilled_blocks");
  const std::string_view behind(figures.data() + figures.size());
  counts.raw_by_reason = reasons_of(between(behind, "{", "}"));
  return counts;
}

std::string newest_presence(const std::string& report) {
  return std::string(between(newest(report), "\"presence\": \"", "\""));
}

}  // namespace thinwire::bench::nccl
