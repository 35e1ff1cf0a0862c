#include "run/late_block.h"

#include <atomic>
#include <string>

#include "thinwire/thinwire.h"

namespace thinwire::nccl {
namespace {

// Seconds after which a block is late. Over a network that works parts come within milliseconds;
// somebody may look into a step that takes seconds longer.
constexpr std::chrono::seconds kLate{5};

}  // namespace

void LateBlock::missed(int from) {
  const auto now = std::chrono::steady_clock::now();
  if (since_ == std::chrono::steady_clock::time_point{}) since_ = now;
  if (now - since_ < kLate) return;
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  const std::string text =
      "a block of rank " + std::to_string(from) + " that did not fit its slot has not come for " +
      std::to_string(kLate.count()) +
      " s: a call of NCCL waits for the network between the helpers of these ranks";
  tw_log(TW_LOG_WARNING, text.c_str());
}

}  // namespace thinwire::nccl
