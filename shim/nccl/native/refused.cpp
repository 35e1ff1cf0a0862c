#include "native/refused.h"

#include <atomic>

#include "shim/common/silence.h"
#include "thinwire/thinwire.h"

namespace thinwire::nccl {

void note_refused() noexcept {
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  shim::silence_is_explained();
  try {
    tw_log(TW_LOG_WARNING,
           "the system refuses memory within a call of NCCL: what can be done without is left out, "
           "and a communicator's calls may not be compressed any more");
  } catch (...) {  // for that there is no memory either
  }
}

}  // namespace thinwire::nccl
