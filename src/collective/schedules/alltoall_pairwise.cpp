// Step by step a rank sends to one rank and receives from one: first to the others of its node, as
// values, then to those of the node that is so far on, while its own node hears the one as far
// back. So each node sends to one node and hears one at a time, all its ranks at once.
#include <algorithm>

#include "collective/schedules/nodes.h"
#include "collective/schedules/schedules.h"

namespace thinwire::collective {

namespace {

// One packet travels while the next is coded: the next rank is sent to as pieces for this one
// leave.
constexpr std::uint32_t kSlotsEachWay = 2;

class Exchange {
 public:
  Exchange(const Topology& topology, const Nodes& nodes)
      : size_(static_cast<std::uint32_t>(topology.size)), nodes_(nodes) {}

  // All pairs of a rank here and one `away` nodes on, and of one as far back and a rank here.
  // If nodes are of two sizes, a rank of the larger one sits out some steps; both ends of a
  // message count the same steps.
  void with_nodes(int away) {
    const int next = nodes_.node() + away, previous = nodes_.node() - away;
    const int steps_out = std::max(nodes_.locals(), nodes_.members(next));
    const int steps_in = std::max(nodes_.locals(), nodes_.members(previous));
    for (int step = away == 0 ? 1 : 0; step < std::max(steps_out, steps_in); ++step) {
      if (step < steps_out) {
        const int to = (nodes_.local() + step) % steps_out;
        if (to < nodes_.members(next)) give(nodes_.member(next, to), away == 0);
      }
      if (step < steps_in) {
        const int from = (nodes_.local() + steps_in - step) % steps_in;
        if (from < nodes_.members(previous)) take(nodes_.member(previous, from), away == 0);
      }
    }
  }

  std::vector<Step> steps;

 private:
  void give(int rank, bool inside) {
    const auto block = static_cast<std::uint32_t>(rank);
    if (inside) {
      steps.push_back(send_values(block, Area::kInput, rank));
      return;
    }
    const auto slot = out_.take();
    steps.push_back(encode(block, Area::kInput, slot));
    steps.push_back(send(block, slot, rank));
  }

  void take(int rank, bool inside) {
    const auto block = size_ + static_cast<std::uint32_t>(rank);
    if (inside) {
      steps.push_back(receive_values(block, Area::kOutput, rank));
      return;
    }
    const auto slot = in_.take();
    steps.push_back(receive(block, slot, rank));
    steps.push_back(decode(block, Area::kOutput, slot));
  }

  std::uint32_t size_;
  const Nodes& nodes_;
  Rotation out_{0, kSlotsEachWay};
  Rotation in_{kSlotsEachWay, kSlotsEachWay};
};

Schedule make(const Topology& topology, const Nodes& nodes) {
  Exchange exchange(topology, nodes);
  for (int away = 0; away < nodes.count(); ++away) exchange.with_nodes(away);
  const auto size = static_cast<std::uint32_t>(topology.size);
  const auto own = size + static_cast<std::uint32_t>(topology.rank);
  exchange.steps.push_back(copy(own, Area::kOutput, Area::kInput));
  return assemble(2 * size, std::move(exchange.steps));
}

}  // namespace

Schedule alltoall_pairwise(const Topology& topology) {
  return make(topology, Nodes::flat(topology));
}
Schedule alltoall_pairwise_two_level(const Topology& topology) {
  return make(topology, Nodes::of(topology));
}

}  // namespace thinwire::collective
