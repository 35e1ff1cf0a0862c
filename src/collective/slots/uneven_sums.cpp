// Reduce-scatter in two levels on nodes that differ in size. Each rank has a block, so a node that
// has no rank of some local number shares out the blocks of that column among its ranks.
#include <vector>

#include "base/bytes.h"
#include "collective/slots/planner.h"

namespace thinwire::collective {

void SlotPlanner::reduce_scatter_on_uneven() {
  const Parts parts = nodes_->parts_of(nodes_->of(rank()));
  const auto blocks = ranks() / static_cast<int>(parts.size());
  const bool is_packed = packs_parts(parts, runs_in(parts) + 1 - blocks);
  const std::uint64_t block = bytes_of(call_.count);
  const std::uint64_t stride = is_packed ? block : aligned(block);
  is_packed ? add_packed_parts(parts) : add_parts(parts, stride);
  add_parts_between(parts[local()], stride);
}

SlotSum SlotPlanner::sum_inside(std::uint64_t count, std::uint64_t stride) const {
  return {.after = 0,
          .arrays = static_cast<int>(own_node().size()),
          .place = nodes_->local(rank()),
          .scale = scale_inside(),
          .count = count,
          .stride = stride,
          .others = {Area::kLent, 0},
          .own = {},
          .to = node_sums_,
          .own_apart = true};
}

// One message to each rank of the node, and one sum.
void SlotPlanner::add_packed_parts(const Parts& parts) {
  SlotExchange& inside = exchange(0);
  inside.kind = Kind::kMessages;
  inside.inside = true;
  const std::uint64_t block = bytes_of(call_.count);
  const auto bytes_of_part = [&](std::size_t part) { return block * parts[part].size(); };
  const Values all = keep(block * static_cast<std::uint64_t>(ranks()));
  const std::uint64_t count = call_.count * parts[local()].size();
  const std::uint64_t stride = aligned(bytes_of_part(local()));
  Values at = all, own;
  std::uint64_t came = 0;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const int mate = own_node()[part];
    if (mate == rank()) {
      own = at;
    } else {
      inside.out.push_back(raw_task(mate, call_.count * parts[part].size(), at));
      inside.in.push_back(raw_task(mate, count, {Area::kLent, stride * came++}));
    }
    pack_part(0, parts[part], Area::kSend, at);
    at.offset += bytes_of_part(part);
  }
  send_factors(inside, own_node());
  scratch_bytes_[0] = stride * came;
  node_sums_ = keep(stride);
  SlotSum sum = sum_inside(count, stride);
  sum.own = own;
  plan_.sums_.push_back(sum);
}

// A message and a sum for each block.
void SlotPlanner::add_parts(const Parts& parts, std::uint64_t stride) {
  SlotExchange& inside = exchange(0);
  inside.kind = Kind::kMessages;
  inside.inside = true;
  const std::uint64_t blocks = parts[local()].size(), mates = parts.size() - 1;
  std::uint64_t came = 0;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const int mate = own_node()[part];
    if (mate == rank()) continue;
    for (const int owner : parts[part]) {
      inside.out.push_back(raw_task(mate, call_.count, block_at(Area::kSend, owner)));
    }
    for (std::uint64_t at = 0; at < blocks; ++at) {
      const Values to{Area::kLent, stride * (at * mates + came)};
      inside.in.push_back(raw_task(mate, call_.count, to));
    }
    ++came;
  }
  send_factors(inside, own_node());
  scratch_bytes_[0] = stride * mates * blocks;
  node_sums_ = keep(stride * blocks);
  for (std::uint64_t at = 0; at < blocks; ++at) {
    SlotSum sum = sum_inside(call_.count, stride);
    sum.others.offset = stride * mates * at;
    sum.own = block_at(Area::kSend, parts[local()][at]);
    sum.to.offset += stride * at;
    plan_.sums_.push_back(sum);
  }
}

// The node's sums of the blocks of `part` to their owners, and those of this rank's block from each
// other node. A sample encode has no sums, and encodes this rank's own values in their place.
void SlotPlanner::add_parts_between(const std::vector<int>& part, std::uint64_t stride) {
  SlotExchange& between = exchange(1);
  between.kind = Kind::kMessages;
  Values own;
  for (std::size_t at = 0; at < part.size(); ++at) {
    const int owner = part[at];
    const Values sum{node_sums_.area, node_sums_.offset + stride * at};
    if (owner == rank()) own = sum;
    if (nodes_->are_together(owner, rank())) continue;
    const Values tried = block_at(Area::kSend, owner);
    between.out.push_back(task(0, rank(), call_.count, owner, plan_.is_sample() ? tried : sum));
  }
  const std::uint64_t apart = aligned(bytes_of(call_.count));
  std::uint64_t came = 0;
  for (int node = 0; node < nodes_->count(); ++node) {
    if (node == nodes_->of(rank())) continue;
    const int peer = nodes_->stand_in(node, rank());
    between.in.push_back(task(0, peer, call_.count, peer, {Area::kLent, apart * came++}));
  }
  scratch_bytes_[1] = apart * came;
  result_ = {Area::kReceive, 0};
  plan_.sums_.push_back({.after = 1,
                         .arrays = nodes_->count(),
                         .place = nodes_->of(rank()),
                         .scale = call_.scale / scale_inside(),
                         .count = call_.count,
                         .stride = apart,
                         .others = {Area::kLent, 0},
                         .own = own,
                         .to = result_,
                         .own_apart = true});
}

}  // namespace thinwire::collective
