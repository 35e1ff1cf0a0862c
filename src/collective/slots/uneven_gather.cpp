// Allgather in two levels on nodes that differ in size, and how parts are packed there. Each rank
// has a block, so a node that has no rank of some local number shares out the blocks of that column
// among its ranks.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "collective/slots/planner.h"

namespace thinwire::collective {
namespace {

// Blocks of ranks that follow each other at equal distances.
struct Run {
  int first = 0, ranks = 1, step = 0;
};

std::vector<Run> runs_of(const std::vector<int>& part) {
  std::vector<Run> runs;
  for (const int rank : part) {
    if (!runs.empty()) {
      Run& last = runs.back();
      const int step = rank - (last.first + last.step * (last.ranks - 1));
      if (step > 0 && (last.ranks == 1 || step == last.step)) {
        last.step = step;
        ++last.ranks;
        continue;
      }
    }
    runs.push_back({.first = rank});
  }
  return runs;
}

}  // namespace

int SlotPlanner::runs_in(const Parts& parts) {
  std::size_t runs = 0;
  for (const std::vector<int>& each : parts) runs += runs_of(each).size();
  return static_cast<int>(runs);
}

// As packs(): alike on all ranks of the node.
bool SlotPlanner::packs_parts(const Parts& parts, int steps) const {
  const auto size = static_cast<std::int64_t>(parts.size());
  return packs(2 * (size - 1) * (ranks() / size - 1), steps);
}

// The blocks of a part, of one of the user's buffers, one after the other from `packed` on.
void SlotPlanner::pack_part(int exchange, const std::vector<int>& part, Area area, Values packed) {
  const std::uint64_t block = bytes_of(call_.count);
  for (const Run& run : runs_of(part)) {
    const auto rows = static_cast<std::uint64_t>(run.ranks);
    plan_.packs_.push_back({.exchange = exchange,
                            .to = packed,
                            .from = block_at(area, run.first),
                            .rows = rows,
                            .row_bytes = block,
                            .to_step = block,
                            .from_step = block * static_cast<std::uint64_t>(run.step)});
    packed.offset += block * rows;
  }
}

// Each rank's block, `shown`, to one rank of each other node; then what came, and this rank's own,
// to the ranks of this node.
void SlotPlanner::gather_on_uneven(Values own, Values shown) {
  const Parts parts = nodes_->parts_of(nodes_->of(rank()));
  SlotExchange& between = exchange(0);
  between.kind = Kind::kMessages;
  for (int node = 0; node < nodes_->count(); ++node) {
    if (node == nodes_->of(rank())) continue;
    SlotTask goes = task(0, rank(), call_.count, nodes_->stand_in(node, rank()), shown);
    goes.again = !between.out.empty();
    between.out.push_back(goes);
  }
  for (const int from : parts[local()]) {
    if (nodes_->are_together(from, rank())) continue;
    between.in.push_back(task(0, from, call_.count, from, block_at(Area::kReceive, from)));
  }
  const std::uint64_t block = bytes_of(call_.count);
  if (!is_lossless()) {
    // Ranks of this node get what those of others do.
    const Values source = std::exchange(own, keep(block));
    add_own(0, task(0, rank(), call_.count, rank(), own), source, false);
  }
  plan_.copy_ = {block_at(Area::kReceive, rank()), own, block, !is_lossless()};
  const bool is_packed = packs_parts(parts, runs_in(parts) + 1);
  is_packed ? share_packed_parts(parts, own) : share_parts(parts, own);
}

// A message for each block.
void SlotPlanner::share_parts(const Parts& parts, Values own) {
  SlotExchange& inside = exchange(1);
  inside.kind = Kind::kMessages;
  inside.inside = true;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const int mate = own_node()[part];
    if (mate == rank()) continue;
    for (const int mine : parts[local()]) {
      const Values from = mine == rank() ? own : block_at(Area::kReceive, mine);
      inside.out.push_back(raw_task(mate, call_.count, from));
    }
    for (const int its : parts[part]) {
      inside.in.push_back(raw_task(mate, call_.count, block_at(Area::kReceive, its)));
    }
  }
}

// One message to each rank of the node.
void SlotPlanner::share_packed_parts(const Parts& parts, Values own) {
  SlotExchange& inside = exchange(1);
  inside.kind = Kind::kMessages;
  inside.inside = true;
  const std::uint64_t block = bytes_of(call_.count);
  const std::vector<int>& part = parts[local()];
  const Values mine = keep(block * part.size());
  pack_part(1, part, Area::kReceive, mine);
  // Over what lies there of it: the program's own, or nothing yet.
  const auto place = static_cast<std::uint64_t>(std::ranges::find(part, rank()) - part.begin());
  plan_.packs_.push_back({.exchange = 1,
                          .to = {Area::kStays, mine.offset + block * place},
                          .from = own,
                          .rows = 1,
                          .row_bytes = block,
                          .to_step = block,
                          .from_step = block});
  for (std::size_t other = 0; other < parts.size(); ++other) {
    const int mate = own_node()[other];
    if (mate == rank()) continue;
    const Values its = keep(block * parts[other].size());
    inside.out.push_back(raw_task(mate, call_.count * part.size(), mine));
    inside.in.push_back(raw_task(mate, call_.count * parts[other].size(), its));
    // Back to where they belong.
    const auto first = static_cast<std::ptrdiff_t>(plan_.packs_.size());
    pack_part(1, parts[other], Area::kReceive, its);
    for (auto rows = plan_.packs_.begin() + first; rows != plan_.packs_.end(); ++rows) {
      std::swap(rows->to, rows->from);
      std::swap(rows->to_step, rows->from_step);
      plan_.unpacks_.push_back(*rows);
    }
    plan_.packs_.resize(static_cast<std::size_t>(first));
  }
}

}  // namespace thinwire::collective
