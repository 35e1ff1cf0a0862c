#include "run/batch.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>

#include "base/threads.h"
#include "run/service.h"

namespace thinwire::nccl {
namespace {

std::uint64_t next_group() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

Locked::Locked(std::span<const Planned> calls) : of_(of_thread<Batch>()) {
  try {
    lock(calls);
  } catch (...) {
    unlock();
    throw;
  }
}

// In one order, whichever thread.
void Locked::lock(std::span<const Planned> calls) {
  auto& compressors = of_.compressors;
  compressors.clear();
  for (const Planned& each : calls) compressors.push_back(each.compressor);
  std::ranges::sort(compressors);
  compressors.erase(std::ranges::unique(compressors).begin(), compressors.end());
  for (; of_.locked < compressors.size(); ++of_.locked) compressors[of_.locked]->mutex().lock();
  // Before anything is enqueued: CUDA may load a kernel of NCCL's as it is launched, and wait for
  // the whole GPU, where a kernel of ours may already wait for the service thread.
  for (Compressor* const each : compressors) look_after(*each);
}

void Locked::unlock() {
  while (of_.locked > 0) of_.compressors[--of_.locked]->mutex().unlock();
}

bool prepare(std::span<const Planned> planned, Part part, Batch& into) {
  into.calls.resize(planned.size());
  into.order.resize(planned.size());
  std::iota(into.order.begin(), into.order.end(), std::size_t{0});
  const auto bytes_of = [&](std::size_t at) {
    return planned[at].decision.plan->info.device_bytes;
  };
  std::ranges::sort(into.order, std::greater(), bytes_of);
  const std::uint64_t group = next_group();
  bool all = true;
  for (const std::size_t at : into.order) {
    const Planned& each = planned[at];
    const InFlight* const in_flight = each.compressor->prepare(
        each.call, each.decision, part, group, each.counters, &into.calls[at]);
    all = all && in_flight != nullptr;
  }
  return all;
}

}  // namespace thinwire::nccl
