#include "message/integers.h"

#include <atomic>
#include <string_view>

#include "base/settings.h"

namespace thinwire::message {
namespace {

std::atomic<std::uint64_t> declined{0};
std::atomic<std::uint64_t> coded{0};

}  // namespace

bool declines_integers_by_setting() {
  static const bool declines = [] {
    const char* const value = setting_value("THINWIRE_INTEGERS");
    return value == nullptr || std::string_view(value) != "code";
  }();
  return declines;
}

IntegerCounts integer_counts() {
  return {declined.load(std::memory_order_relaxed), coded.load(std::memory_order_relaxed)};
}

void count_declined_integers() { declined.fetch_add(1, std::memory_order_relaxed); }
void count_coded_integers() { coded.fetch_add(1, std::memory_order_relaxed); }

}  // namespace thinwire::message
