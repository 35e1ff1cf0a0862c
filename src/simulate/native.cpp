// NCCL's own functions: bytes on the busiest link and hops, of rings, and of trees for Allreduce.
#include <algorithm>
#include <cmath>

#include "simulate/resources.h"
#include "simulate/simulate.h"

namespace thinwire::simulate {
namespace {

using collective::SlotOperation;

struct Ways {
  double ranks, nodes, per_node;
  double others() const { return ranks - 1; }
  double far() const { return ranks - per_node; }
};

// On a ring every edge carries all that goes round, through whole nodes.
double ring(const Ways& ways, const Machine& machine, double bytes, double rounds) {
  const double hops =
      rounds * ((ways.nodes - 1) * (machine.latency + machine.message) +
                (ways.ranks - ways.nodes) * (machine.inside_latency + machine.message));
  const double between = ways.nodes > 1 ? bytes / machine.link : 0;
  const double inside = ways.per_node > 1 ? time_at(bytes, machine.inside) : 0;
  return std::max(between, inside) + hops;
}

// Two binary trees that share the array carry it up and down once. A node with two children in one
// is a leaf of the other, and sends four halves; of two nodes each is the other's only child.
double trees(const Ways& ways, const Machine& machine, double bytes) {
  const double levels = 2 * std::ceil(std::log2(std::max(ways.nodes, 1.0)));
  const double inside = 2 * (ways.per_node - 1) * (machine.inside_latency + machine.message);
  const double between = ways.nodes > 1 ? std::min(ways.nodes, 4.0) / 2 * bytes / machine.link : 0;
  return std::max(between, time_at(2 * bytes, machine.inside)) + inside +
         levels * (machine.latency + machine.message);
}

// Messages of a block each: from every rank to every other one, or those of the root.
double messages(const Ways& ways, const Machine& machine, double bytes, double ranks_that_send) {
  const double between = ranks_that_send * ways.far() * bytes / machine.link;
  const double inside = time_at((ways.per_node - 1) * bytes, machine.inside);
  return std::max(between, inside) + ways.others() * machine.message +
         (ways.nodes > 1 ? machine.latency : machine.inside_latency);
}

void count_ring(Figures& figures, const Ways& ways, double bytes, double messages) {
  figures.link_bytes = ways.nodes > 1 ? counted(ways.nodes * bytes) : 0;
  const double inside = ways.nodes > 1 ? ways.ranks - ways.nodes : ways.ranks;
  figures.inside_bytes = counted(inside * bytes);
  figures.most_messages = static_cast<std::uint64_t>(messages);
  figures.messages = static_cast<std::uint64_t>(messages * ways.ranks);
}

// Each edge carries half of the array up and down; a rank is a leaf of one tree at least.
void count_trees(Figures& figures, const Ways& ways, double bytes) {
  figures.link_bytes = counted(2 * (ways.nodes - 1) * bytes);
  figures.inside_bytes = counted(2 * (ways.ranks - ways.nodes) * bytes);
  figures.most_messages = ways.ranks > 2 ? 4 : 2;
  figures.messages = static_cast<std::uint64_t>(4 * ways.others());
}

void count_pairs(Figures& figures, const Ways& ways, double bytes, double senders) {
  figures.link_bytes = counted(senders * ways.far() * bytes);
  figures.inside_bytes = counted(senders * (ways.per_node - 1) * bytes);
  figures.most_messages = static_cast<std::uint64_t>(ways.others());
  figures.messages = static_cast<std::uint64_t>(senders * ways.others());
}

}  // namespace

Figures native(const StreamCall& call, const Machine& machine) {
  const Ways ways{static_cast<double>(call.ranks()), static_cast<double>(call.nodes),
                  static_cast<double>(call.per_node)};
  const double bytes = call.bytes();
  Figures figures;
  figures.simulated = static_cast<std::uint32_t>(call.ranks());
  figures.seconds = machine.call;
  if (call.ranks() == 1) return figures;
  switch (call.operation) {
    case SlotOperation::kAllgather:
    case SlotOperation::kReduceScatter:
      figures.seconds += ring(ways, machine, ways.others() * bytes, 1);
      count_ring(figures, ways, ways.others() * bytes, ways.others());
      break;
    case SlotOperation::kAllreduce: {
      const double once = ways.others() / ways.ranks * bytes;
      const double by_ring = ring(ways, machine, 2 * once, 2);
      const double by_trees = trees(ways, machine, bytes);
      figures.seconds += std::min(by_ring, by_trees);
      if (by_ring <= by_trees) {
        count_ring(figures, ways, 2 * once, 2 * ways.others());
      } else {
        count_trees(figures, ways, bytes);
      }
      break;
    }
    case SlotOperation::kBcast:
    case SlotOperation::kReduce:
      figures.seconds += ring(ways, machine, bytes, 1);
      count_ring(figures, {ways.ranks - 1, ways.nodes - 1, ways.per_node}, bytes, 1);
      if (ways.nodes > 1) figures.link_bytes = counted((ways.nodes - 1) * bytes);
      figures.inside_bytes = counted((ways.ranks - ways.nodes) * bytes);
      figures.messages = static_cast<std::uint64_t>(ways.others());
      break;
    case SlotOperation::kAlltoall:
      figures.seconds += messages(ways, machine, bytes, ways.per_node);
      count_pairs(figures, ways, bytes, ways.ranks);
      break;
    default:
      figures.seconds += messages(ways, machine, bytes, 1);
      count_pairs(figures, ways, bytes, 1);
      break;
  }
  return figures;
}

}  // namespace thinwire::simulate
