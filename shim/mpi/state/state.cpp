#include "shim/mpi/state/state.h"

#include "shim/mpi/native/immortal.h"
#include "shim/mpi/state/fast_path.h"

namespace thinwire::mpi {

Thresholds thresholds;
std::atomic<std::uint64_t> sends_below_threshold{0};
std::atomic<std::uint64_t> collectives_left_alone{0};
std::atomic<std::uint64_t> waits_so_far{0};
std::atomic<bool> large_are_under_way{false};

void note_blocking_send() {
  constexpr std::uint64_t kOneWait = 8;
  static std::atomic<std::uint64_t> sends{0};
  if (sends.fetch_add(1, std::memory_order_relaxed) % kOneWait == kOneWait - 1) note_wait();
}

Process& process() { return immortal<Process>(); }

}  // namespace thinwire::mpi
