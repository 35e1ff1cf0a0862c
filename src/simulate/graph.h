// The tasks of all simulated ranks, which of them wait for which, and which messages meet.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "collective/program.h"
#include "simulate/symmetry.h"

namespace thinwire::simulate {

struct Item {
  collective::Action action;
  bool inside = false;  // a message that stays on its node
  std::uint32_t actor = 0;
  std::uint32_t waits_for = 0;
  std::uint32_t first_follower = 0;
  std::uint32_t mate = 0;   // of a message: its other end
  std::uint32_t queue = 0;  // of a message
  double bytes = 0;         // of values
};

// Messages of a rank to, or from, another one, which are posted in order.
struct Queue {
  std::int32_t peer;
  bool sends;
  std::uint32_t first, end;  // in Graph::queued
};

struct Graph {
  std::vector<Item> items;
  std::vector<std::uint32_t> followers;  // of item i: from its first_follower to that of i + 1
  std::vector<std::uint32_t> queued;
  std::vector<Queue> queues;
  std::vector<std::uint32_t> first_queue;         // of each actor, and the end
  std::uint64_t packets = 0, scratch_pieces = 0;  // of the rank that has most
  double piece = 0;                               // bytes of the largest
};

// Values of the longest part into which a Reduce or an Allreduce cuts its array, in whole boxes of
// the codec's chunks. `longest` times the ranks is more than the array if some get no part.
std::uint64_t longest_part(const Call& call);

// kTooSmall if there would be more than `call.most_tasks` tasks; `excess` is then how many times as
// many, about. kInternal if messages do not meet.
Result<Graph> make_graph(const Call& call, const Fold& fold, double& excess);

}  // namespace thinwire::simulate
