// Sums in two levels: first the values of a node, raw, then the nodes' sums in slots.
#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "collective/slots/planner.h"
#include "collective/slots/sum.h"

namespace thinwire::collective {

// The scale of sums inside a node. A node's sum of an average is the mean of its ranks' values: it
// has their range, so it does not overflow if it is rounded to the type, and a codec's bound of
// it counts 1 / nodes in the result. Of nodes that differ in size that is so of the largest.
double SlotPlanner::scale_inside() const {
  const double magnitude = std::fabs(call_.scale);
  const double largest_of_all = static_cast<double>(ranks()) / nodes_->largest();
  return magnitude < 1 ? std::min(1.0, magnitude * largest_of_all) : 1;
}

// Two exchanges: each rank of a node adds the node's values of the blocks that belong to its peers,
// its own among them; then each peer gets the nodes' sums of its block.
void SlotPlanner::reduce_scatter_in_levels(const Partition& blocks) {
  if (blocks.by_local == nullptr && !nodes_->are_even()) return reduce_scatter_on_uneven();
  if (blocks.by_local != nullptr) {
    add_parts_inside(blocks, {Area::kSend, 0});
    add_between(blocks, bytes_of(blocks.step));
    return;
  }
  if (packs_columns(nodes_->columns() + 1 - nodes_->count())) {
    add_parts_inside(packed(), pack_columns());
    add_between(packed(), bytes_of(blocks.step));
    return;
  }
  const std::uint64_t stride = aligned(bytes_of(blocks.count(0)));
  add_inside(blocks, stride);
  add_between(blocks, stride);
}

// One message to each rank of the node, and one sum: blocks of one local number lie together, from
// `parts` on.
void SlotPlanner::add_parts_inside(const Partition& blocks, Values parts) {
  SlotExchange& inside = exchange(0);
  inside.kind = Kind::kMessages;
  inside.inside = true;
  const int own = nodes_->local(rank());
  const auto part_of = [&](int local) {
    return Values{parts.area, parts.offset + bytes_of(blocks.first_of_local(local))};
  };
  const std::uint64_t count = blocks.count_of_local(own);
  const std::uint64_t stride =
      aligned(bytes_of(blocks.step) * static_cast<std::uint64_t>(nodes_->count()));
  std::uint64_t came = 0;
  for (const int mate : own_node()) {
    if (mate == rank()) continue;
    const int local = nodes_->local(mate);
    const std::uint64_t its = blocks.count_of_local(local);
    if (its > 0) inside.out.push_back(raw_task(mate, its, part_of(local)));
    if (count > 0) inside.in.push_back(raw_task(mate, count, {Area::kLent, stride * came}));
    ++came;
  }
  send_factors(inside, own_node());
  if (count == 0) return;
  scratch_bytes_[0] = stride * came;
  node_sums_ = keep(stride);
  plan_.sums_.push_back({.after = 0,
                         .arrays = static_cast<int>(own_node().size()),
                         .place = own,
                         .scale = scale_inside(),
                         .count = count,
                         .stride = stride,
                         .others = {Area::kLent, 0},
                         .own = part_of(own),
                         .to = node_sums_,
                         .own_apart = true});
}

void SlotPlanner::add_inside(const Partition& blocks, std::uint64_t stride) {
  SlotExchange& inside = exchange(0);
  inside.kind = Kind::kMessages;
  inside.inside = true;
  const auto mates = static_cast<std::uint64_t>(own_node().size() - 1);
  const auto nodes = static_cast<std::uint64_t>(nodes_->count());
  std::uint64_t came = 0;
  for (const int mate : own_node()) {
    if (mate == rank()) continue;
    const auto local_of_mate = static_cast<std::size_t>(nodes_->local(mate));
    for (int node = 0; node < nodes_->count(); ++node) {
      const int mine = peer_on(node), its = nodes_->members(node)[local_of_mate];
      const std::uint64_t place = static_cast<std::uint64_t>(node) * mates + came;
      if (blocks.count(its) > 0) {
        inside.out.push_back(
            raw_task(mate, blocks.count(its), {Area::kSend, bytes_of(blocks.first(its))}));
      }
      if (blocks.count(mine) == 0) continue;
      inside.in.push_back(raw_task(mate, blocks.count(mine), {Area::kLent, stride * place}));
    }
    ++came;
  }
  send_factors(inside, own_node());
  scratch_bytes_[0] = stride * mates * nodes;
  node_sums_ = keep(stride * nodes);
  for (int node = 0; node < nodes_->count(); ++node) {
    const int peer = peer_on(node);
    const auto at = static_cast<std::uint64_t>(node);
    if (blocks.count(peer) == 0) continue;
    plan_.sums_.push_back({.after = 0,
                           .arrays = static_cast<int>(own_node().size()),
                           .place = nodes_->local(rank()),
                           .scale = scale_inside(),
                           .count = blocks.count(peer),
                           .stride = stride,
                           .others = {Area::kLent, stride * mates * at},
                           .own = {Area::kSend, bytes_of(blocks.first(peer))},
                           .to = {Area::kStays, node_sums_.offset + stride * at},
                           .own_apart = true});
  }
}

// A sample encode has no sums, and encodes this rank's own values in their place.
void SlotPlanner::add_between(const Partition& blocks, std::uint64_t stride) {
  SlotExchange& between = exchange(1);
  between.kind = Kind::kMessages;
  const std::uint64_t own = blocks.count(rank());
  const auto sum_of = [&](int node) {
    const std::uint64_t at = stride * static_cast<std::uint64_t>(node);
    return Values{Area::kStays, node_sums_.offset + at};
  };
  std::uint64_t came = 0;
  for (int node = 0; has_column() && node < nodes_->count(); ++node) {
    const int peer = peer_on(node);
    if (peer == rank()) continue;
    const Values tried{Area::kSend, bytes_of(blocks.first(peer))};
    if (blocks.count(peer) > 0) {
      between.out.push_back(
          task(0, rank(), blocks.count(peer), peer, plan_.is_sample() ? tried : sum_of(node)));
    }
    if (own > 0) between.in.push_back(task(0, peer, own, peer, {Area::kLent, stride * came++}));
  }
  if (own == 0) return;
  scratch_bytes_[1] = stride * came;
  result_ = result_at(blocks);
  const int node = nodes_->of(rank());
  plan_.sums_.push_back({.after = 1,
                         .arrays = nodes_->count(),
                         .place = node,
                         .scale = call_.scale / scale_inside(),
                         .count = own,
                         .stride = stride,
                         .others = {Area::kLent, 0},
                         .own = sum_of(node),
                         .to = result_,
                         .own_apart = true});
}

}  // namespace thinwire::collective
