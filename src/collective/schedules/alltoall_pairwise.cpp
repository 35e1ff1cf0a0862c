// In each round a rank sends to the one so far on and receives from the one as far behind.
#include "collective/schedules/nodes.h"
#include "collective/schedules/schedules.h"

namespace thinwire::collective {

namespace {

constexpr std::uint32_t kSlotsEachWay = 4;

}  // namespace

Schedule alltoall_pairwise(const Topology& topology) {
  const int size = topology.size;
  const int rank = topology.rank;
  std::vector<Step> steps;
  Rotation out(0, kSlotsEachWay);
  Rotation in(kSlotsEachWay, kSlotsEachWay);
  for (int away = 1; away < size; ++away) {
    const int to = (rank + away) % size;
    const auto going = out.take();
    steps.push_back(encode(static_cast<std::uint32_t>(to), Area::kInput, going));
    steps.push_back(send(static_cast<std::uint32_t>(to), going, to));
    const int from = (rank + size - away) % size;
    const auto coming = in.take();
    steps.push_back(receive(static_cast<std::uint32_t>(size + from), coming, from));
    steps.push_back(decode(static_cast<std::uint32_t>(size + from), Area::kOutput, coming));
  }
  steps.push_back(copy(static_cast<std::uint32_t>(size + rank), Area::kOutput, Area::kInput));
  return assemble(2 * static_cast<std::uint32_t>(size), std::move(steps));
}

}  // namespace thinwire::collective
