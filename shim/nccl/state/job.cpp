#include "state/job.h"

#include <atomic>

#include "base/job_rank.h"
#include "state/settings.h"

namespace thinwire::nccl {
namespace {

std::uint32_t as_launched() {
  const std::int64_t ranks = job_size().value_or(0);
  return ranks <= INT32_MAX ? static_cast<std::uint32_t>(ranks) : 0;
}

std::atomic<std::uint32_t>& job() {
  static std::atomic<std::uint32_t> ranks{as_launched()};
  return ranks;
}

}  // namespace

bool note_ranks(int ranks) {
  const auto here = static_cast<std::uint32_t>(ranks);
  std::uint32_t known = job();
  while (known < here && !job().compare_exchange_weak(known, here)) {
  }
  return settings().joins && here < known;
}

void note_ranks_left(int ranks) { job() = static_cast<std::uint32_t>(ranks); }

std::uint32_t ranks_of_job() { return job(); }

}  // namespace thinwire::nccl
