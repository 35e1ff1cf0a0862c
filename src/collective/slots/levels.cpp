// Ways of two levels: ranks of one node exchange values as they are, and in slots go only blocks
// between ranks of one local number on different nodes. So each value comes to a node once.
#include <cmath>

#include "collective/slots/planner.h"

namespace thinwire::collective {

// A bound of results counts one coding a rank; sums in the order of the ranks have no node's.
bool SlotPlanner::has_levels() const {
  const bool bounded = call_.reduces() && call_.spec.result_bound.exists();
  const bool whole = call_.sums_whole_arrays() && way_of(call_) == SlotWay::kGather;
  if (nodes_ == nullptr || bounded || whole || call_.keeps_order()) return false;
  if (!call_.reduces() && call_.operation != SlotOperation::kAllgather) return false;
  return nodes_->have_columns() && (nodes_->are_even() || !call_.reduces() || !rounds());
}

// Whether sums of nodes are rounded to 16 bits before they are weighed: of nodes that differ in
// size the mean of the largest finite values could become infinite.
bool SlotPlanner::rounds() const {
  return std::fabs(call_.scale) < 1 && dtype_size(call_.dtype) == 2;
}

// Two exchanges, `number` and the next: this rank's block, which lies at `own`, to its peers on
// other nodes; then all blocks of these peers to the ranks of this node, those without a column
// too. `shown`: what goes in the place of `own`.
void SlotPlanner::gather_in_levels(int number, const Partition& blocks, Values own, Values shown) {
  const bool of_sums = number > 0;
  if (!of_sums && !nodes_->are_even()) return gather_on_uneven(own, shown);
  SlotExchange& between = exchange(number);
  between.kind = Kind::kMessages;
  between.coded = of_sums ? 1 : 0;
  const auto place = [&](int of) { return Values{Area::kReceive, bytes_of(blocks.first(of))}; };
  const std::uint64_t count = blocks.count(rank());
  for (int node = 0; has_column() && node < nodes_->count(); ++node) {
    const int peer = peer_on(node);
    if (peer == rank()) continue;
    if (count > 0) {
      SlotTask goes = task(between.coded, rank(), count, peer, shown);
      goes.again = !between.out.empty();
      between.out.push_back(goes);
    }
    if (blocks.count(peer) == 0) continue;
    between.in.push_back(task(between.coded, peer, blocks.count(peer), peer, place(peer)));
  }
  // Under a lossy codec ranks of this node get what those of others do.
  const Values source = own;
  if (of_sums) own = place(rank());
  if (!of_sums && !is_lossless()) own = keep(bytes_of(count));
  if (!is_lossless() && count > 0) {
    add_own(number, task(between.coded, rank(), count, rank(), own), source, false);
  }
  if (!of_sums) plan_.copy_ = {place(rank()), own, bytes_of(count), !is_lossless()};
  if (blocks.by_local != nullptr) {
    share_results(exchange(number + 1), blocks);
  } else if (packs_columns(nodes_->columns() + 1)) {
    share_packed(number + 1, own);
  } else {
    share_inside(exchange(number + 1), blocks, own);
  }
}

void SlotPlanner::share_inside(SlotExchange& inside, const Partition& blocks, Values own) {
  inside.kind = Kind::kMessages;
  inside.inside = true;
  for (const int mate : own_node()) {
    if (mate == rank()) continue;
    const auto local_of_mate = static_cast<std::size_t>(nodes_->local(mate));
    for (int node = 0; node < nodes_->count(); ++node) {
      const int mine = peer_on(node), its = nodes_->members(node)[local_of_mate];
      const Values from{Area::kReceive, bytes_of(blocks.first(mine))};
      const Values to{Area::kReceive, bytes_of(blocks.first(its))};
      if (blocks.count(mine) > 0) {
        inside.out.push_back(raw_task(mate, blocks.count(mine), mine == rank() ? own : from));
      }
      if (blocks.count(its) > 0) inside.in.push_back(raw_task(mate, blocks.count(its), to));
    }
  }
}

// One message to each rank of the node: the results of all blocks of this local number, which lie
// together.
void SlotPlanner::share_results(SlotExchange& inside, const Partition& blocks) {
  inside.kind = Kind::kMessages;
  inside.inside = true;
  const auto part_of = [&](int mate, int whose) {
    const int local = nodes_->local(whose);
    return raw_task(mate, blocks.count_of_local(local),
                    {Area::kReceive, bytes_of(blocks.first_of_local(local))});
  };
  for (const int mate : own_node()) {
    if (mate == rank()) continue;
    const SlotTask goes = part_of(mate, rank()), comes = part_of(mate, mate);
    if (goes.raw_bytes > 0) inside.out.push_back(goes);
    if (comes.raw_bytes > 0) inside.in.push_back(comes);
  }
}

}  // namespace thinwire::collective
