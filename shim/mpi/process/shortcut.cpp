#include "process/shortcut.h"

namespace thinwire::mpi {

Thresholds thresholds;
std::atomic<std::uint64_t> sends_below_threshold{0};

}  // namespace thinwire::mpi
