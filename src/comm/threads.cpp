// How many threads code beside the caller's.
#include <sched.h>

#include <algorithm>

#include "comm/communicator.h"

namespace thinwire::comm {
namespace {

// More of them wait for memory, not for processors.
constexpr std::uint32_t kMostThreads = 3;

// A GPU is kept busy by one thread that waits for a piece while another's is begun.
constexpr std::uint32_t kThreadsOfDevice = 2;

std::uint32_t processors_here() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<std::uint32_t>(CPU_COUNT(&set));
}

}  // namespace

// Of this process's processors, what is left for it by the ranks that may have the same ones.
std::uint32_t Communicator::processors() const {
  const auto& nodes = options_.nodes;
  const auto here = nodes.empty() ? size() : std::ranges::count(nodes, topology_.node(rank()));
  return processors_here() / static_cast<std::uint32_t>(here);
}

std::uint32_t Communicator::threads_wanted() const {
  if (settings_.spec.kind == codec::Spec::Kind::kOff) return 0;
  if (options_.threads >= 0) return static_cast<std::uint32_t>(options_.threads);
  if (device_ >= 0) return kThreadsOfDevice;
  return std::clamp<std::uint32_t>(processors(), 1, kMostThreads + 1) - 1;
}

// nullptr where the caller's thread codes alone.
collective::Crew* Communicator::crew() {
  const std::uint32_t wanted = threads_wanted();
  if (wanted == 0) return nullptr;
  if (!crew_ || crew_->size() != wanted) crew_ = std::make_unique<collective::Crew>(wanted);
  std::vector<collective::Engine> engines;
  for (std::uint32_t member = 1; member <= wanted; ++member) {
    engines.emplace_back(settings_, spare_ + member * spare_bytes_);
  }
  crew_->equip(std::move(engines));
  return crew_->size() == 0 ? nullptr : crew_.get();
}

}  // namespace thinwire::comm
