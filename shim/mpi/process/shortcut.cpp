#include "process/shortcut.h"

namespace thinwire::mpi {

Thresholds thresholds;
std::atomic<std::uint64_t> sends_below_threshold{0};
std::atomic<bool> large_are_under_way{false};

}  // namespace thinwire::mpi
