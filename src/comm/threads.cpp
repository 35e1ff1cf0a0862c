// How many threads code beside the caller's.
#include <sched.h>

#include <algorithm>

#include "base/checksum.h"
#include "comm/communicator.h"
#include "comm/exchange.h"

namespace thinwire::comm {
namespace {

// More of them wait for memory, not for processors.
constexpr std::uint32_t kMostThreads = 3;

// A GPU is kept busy by one thread that waits for a piece while another's is begun.
constexpr std::uint32_t kThreadsOfDevice = 2;

// Those that this thread may run on; none if the system does not say.
cpu_set_t processors_here() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) CPU_ZERO(&set);
  return set;
}

}  // namespace

// A mask of processors that no other rank of the node has is this rank's own. If ranks have one
// mask they share it: nobody bound them.
Status Communicator::find_sharers() {
  const cpu_set_t set = processors_here();
  const std::uint64_t own = checksum(std::as_bytes(std::span(&set, 1)));
  std::vector<std::uint64_t> masks;
  if (Status status = gather_all(*transport_, own, masks); !status.ok()) return status;
  const auto& nodes = options_.nodes;
  sharers_ = 0;
  for (int at = 0; at < size(); ++at) {
    const bool may_be_here = nodes.empty() || topology_.node(at) == topology_.node(rank());
    sharers_ += may_be_here && masks[static_cast<std::size_t>(at)] == own;
  }
  return {};
}

std::uint32_t Communicator::processors() const {
  const cpu_set_t set = processors_here();
  return static_cast<std::uint32_t>(CPU_COUNT(&set)) / sharers_;
}

std::uint32_t Communicator::threads_wanted() const {
  if (settings_.spec.kind == codec::Spec::Kind::kOff) return 0;
  if (options_.threads >= 0) return static_cast<std::uint32_t>(options_.threads);
  if (device_ >= 0) return kThreadsOfDevice;
  return std::clamp<std::uint32_t>(processors(), 1, kMostThreads + 1) - 1;
}

// nullptr if the caller's thread codes alone.
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
