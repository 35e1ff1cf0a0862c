#include "observe/nothing_compressed.h"

#include <algorithm>
#include <array>
#include <string>

#include "shim/common/silence.h"
#include "state/settings.h"

namespace thinwire::nccl {
namespace {

// Whether calls counted under that reason may be of any size.
bool is_of_any_size(int reason) {
  return reason == TW_RAW_OFF || reason == TW_RAW_BELOW_THRESHOLD || reason == kAlone ||
         reason == kUnusual;
}

std::string why(int reason) {
  const std::string text = reason_text(reason);
  if (reason != TW_RAW_BELOW_THRESHOLD) return text;
  return text + " of " + shim::size_text(settings().threshold);
}

struct Sums {
  std::uint64_t compressed = 0;
  std::array<std::uint64_t, kReasons> raw{};
};

Sums sums_of(const std::vector<Communicator*>& all) {
  Sums sums;
  for (const Communicator* each : all) {
    for (const Counters& of : each->of) {
      sums.compressed += of.compressed;
      for (int reason = 0; reason < kReasons; ++reason) sums.raw[reason] += of.raw[reason];
    }
  }
  return sums;
}

}  // namespace

void explain_nothing_compressed(const std::vector<Communicator*>& all) {
  // On standard error the report says it all.
  if (!settings().asked_for || settings().report == "1" || shim::is_silence_explained()) return;
  const int ranks = (*std::ranges::max_element(all, {}, &Communicator::ranks))->ranks;
  const Sums sums = sums_of(all);
  if (ranks < 2 || sums.compressed > 0) return;
  shim::LeftRaw left;
  for (int reason = 1; reason < kReasons; ++reason) {
    left.add(sums.raw[reason], "call", why(reason), is_of_any_size(reason));
  }
  const std::string text = left.text();
  if (text.empty()) return;
  const bool lacks_link = sums.raw[TW_RAW_NO_LINK] > 0;
  const std::string hint =
      lacks_link ? "name a codec, as lossless, or the link's rate; " : std::string();
  tw_log(TW_LOG_WARNING, ("rank 0 of " + std::to_string(ranks) + " compressed nothing by NCCL: " +
                          text + "; " + hint + "THINWIRE_REPORT=1 and THINWIRE_LOG=plan say more")
                             .c_str());
}

}  // namespace thinwire::nccl
