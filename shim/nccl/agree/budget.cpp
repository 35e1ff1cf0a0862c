#include "agree/budget.h"

#include <unistd.h>

namespace thinwire::nccl::agree {

std::uint64_t quarter_of_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || bytes <= 0) return UINT64_MAX / 4;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(bytes) / 4;
}

// Never destroyed: host threads may still take blocks while the process ends.
Budget& process_budget() {
  static Budget* const made = new Budget(2 * quarter_of_memory());
  return *made;
}

}  // namespace thinwire::nccl::agree
