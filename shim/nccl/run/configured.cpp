#include "run/configured.h"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstring>

namespace thinwire::nccl {
namespace {

constexpr unsigned kMagic = 0xcafebeef;
constexpr int kUnset = INT_MIN;

// Sizes of the configuration: of 2.31, the first version that has one; of the latest that is known;
// and more than any.
constexpr std::size_t kFirst = offsetof(ncclCollConfig_t, launchCompletionEvent);
constexpr std::size_t kKnown = sizeof(ncclCollConfig_t);
constexpr std::size_t kMost = 4096;

static_assert(kFirst == 64 && kKnown == 72 && offsetof(ncclCollConfig_t, minCTAs) == 24 &&
              offsetof(ncclCollConfig_t, algSelection) == 40 &&
              offsetof(ncclCollConfig_t, CTAPolicy) == 52);

}  // namespace

bool may_be_sound(const ncclCollConfig_t& config) {
  return config.magic == kMagic && config.size >= kFirst && config.size <= kMost;
}

bool asks_nothing(const ncclCollConfig_t& config) {
  if (!may_be_sound(config) || config.size > kKnown) return false;
  const bool names_one = config.algSelection != nullptr && *config.algSelection != '\0';
  const bool has_event = config.size >= kKnown && config.launchCompletionEvent != nullptr;
  return config.ext == nullptr && config.minCTAs == kUnset && config.maxCTAs == kUnset &&
         config.nvlsCTAs == kUnset && config.cgaClusterSize == kUnset && !names_one &&
         config.CTAPolicy == kUnset && !has_event;
}

KeptConfig::KeptConfig(const ncclCollConfig_t& of)
    : words_((std::max(of.size, kKnown) + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t)) {
  std::memcpy(words_.data(), &of, of.size);
  if (of.algSelection == nullptr) return;
  selection_ = of.algSelection;
  const char* const own = selection_.c_str();
  std::memcpy(
      reinterpret_cast<std::byte*>(words_.data()) + offsetof(ncclCollConfig_t, algSelection), &own,
      sizeof own);
}

}  // namespace thinwire::nccl
