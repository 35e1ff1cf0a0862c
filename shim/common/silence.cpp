#include "shim/common/silence.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "thinwire/thinwire.h"

namespace thinwire::shim {
namespace {

// So many small messages and calls are worth a word; a handful at a program's start is not.
constexpr std::uint64_t kManySmall = 100;
constexpr std::size_t kMostReasons = 4;

std::atomic<bool> g_explained{false};

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

}  // namespace

bool is_asked_for() {
  const auto is_set = [](const char* name) { return tw_setting_value(name) != nullptr; };
  return is_set("THINWIRE_CODEC") || is_set("THINWIRE_POLICY") || is_set("THINWIRE_LINK");
}

void silence_is_explained() { g_explained = true; }

bool is_silence_explained() { return g_explained; }

std::string size_text(std::uint64_t bytes) {
  for (const auto& [shift, unit] : {std::pair{20, "MiB"}, std::pair{10, "KiB"}}) {
    if (bytes > 0 && bytes % (std::uint64_t{1} << shift) == 0)
      return std::to_string(bytes >> shift) + unit;
  }
  return std::to_string(bytes) + " bytes";
}

void LeftRaw::add(std::uint64_t count, const char* one, const std::string& why, bool may_be_small) {
  if (count == 0) return;
  if (may_be_small) {
    small_ += count;
  } else {
    has_large_ = true;
  }
  entries_.push_back(
      {count, grouped(count) + " " + one + (count == 1 ? "" : "s") + " (" + why + ")"});
}

std::string LeftRaw::text() const {
  if (!has_large_ && small_ < kManySmall) return "";
  std::vector<Entry> sorted = entries_;
  std::ranges::stable_sort(sorted, std::ranges::greater{}, &Entry::count);
  std::string line;
  for (std::size_t at = 0; at < std::min(sorted.size(), kMostReasons); ++at) {
    line += (at == 0 ? "" : ", ") + sorted[at].text;
  }
  return sorted.size() > kMostReasons ? line + ", and others" : line;
}

}  // namespace thinwire::shim
