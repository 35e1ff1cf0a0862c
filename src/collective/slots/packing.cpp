// Blocks of the program's in two levels: those of one local number are packed, so that a rank sends
// each other rank of its node one message in place of one a node.
#include <bit>
#include <utility>

#include "base/bytes.h"
#include "choose/slots_gain.h"
#include "collective/slots/planner.h"

namespace thinwire::collective {
namespace {

// The most that is copied, at an octave's beginning: it takes as much memory.
constexpr std::uint64_t kMostPacked = 64 << 20;
// A GPU copies so much, at least on those that have networks which compressing gains on.
constexpr std::uint64_t kBytesPerNanosecond = 1000;

}  // namespace

// Whether packing is done, which takes `steps` more, a copy of all blocks among them, and spares
// messages; by what all ranks of a node know. Alike for all blocks of an octave: who lends memory
// for the largest has enough for the others.
bool SlotPlanner::packs(std::int64_t messages, std::int64_t steps) const {
  const std::uint64_t least = std::bit_floor(bytes_of(call_.count));
  const std::uint64_t bytes = least * static_cast<std::uint64_t>(ranks());
  if (bytes > kMostPacked) return false;
  const auto copying = static_cast<std::int64_t>(bytes / kBytesPerNanosecond);
  return messages * choose::kMessageNanoseconds > steps * choose::kStepNanoseconds + copying;
}

// The same of columns whose blocks lie at equal distances.
bool SlotPlanner::packs_columns(int steps) const {
  return nodes_->step() != 0 && packs(2 * (nodes_->columns() - 1) * (nodes_->count() - 1), steps);
}

// The blocks of all ranks as they are packed: column after column.
Partition SlotPlanner::packed() const {
  Partition blocks = partition_of(call_);
  blocks.by_local = nodes_;
  return blocks;
}

// The blocks of a column in a user's buffer (`from`), and after each other in lent memory (`to`).
SlotRows SlotPlanner::column_at(int exchange, int local, Area area, Values packed) const {
  const int first = nodes_->members(0)[static_cast<std::size_t>(local)];
  const std::uint64_t block = bytes_of(call_.count);
  return {.exchange = exchange,
          .to = packed,
          .from = block_at(area, first),
          .rows = static_cast<std::uint64_t>(nodes_->count()),
          .row_bytes = block,
          .to_step = block,
          .from_step = block * static_cast<std::uint64_t>(nodes_->step())};
}

// Packs what the program sends; returns where it then lies.
Values SlotPlanner::pack_columns() {
  const Partition blocks = packed();
  const Values all = keep(bytes_of(blocks.total));
  for (int local = 0; local < nodes_->columns(); ++local) {
    const std::uint64_t at = all.offset + bytes_of(blocks.first_of_local(local));
    plan_.packs_.push_back(column_at(0, local, Area::kSend, {Area::kStays, at}));
  }
  return all;
}

// Exchange `number` after one between nodes: the column of this rank to the others of its node, and
// theirs to where they belong. This rank's block is the one at `own`.
void SlotPlanner::share_packed(int number, Values own) {
  SlotExchange& inside = exchange(number);
  inside.kind = Kind::kMessages;
  inside.inside = true;
  const Partition blocks = packed();
  const std::uint64_t values = blocks.count_of_local(0);
  const std::uint64_t block = bytes_of(call_.count);
  const Values all = keep(bytes_of(blocks.total));
  const auto part_of = [&](int rank) {
    const int local = nodes_->local(rank);
    return Values{Area::kStays, all.offset + bytes_of(blocks.first_of_local(local))};
  };
  const Values mine = part_of(rank());
  plan_.packs_.push_back(column_at(number, nodes_->local(rank()), Area::kReceive, mine));
  // Over what lies there of it: the program's own, or nothing yet.
  const auto node = static_cast<std::uint64_t>(nodes_->of(rank()));
  plan_.packs_.push_back({.exchange = number,
                          .to = {Area::kStays, mine.offset + block * node},
                          .from = own,
                          .rows = 1,
                          .row_bytes = block,
                          .to_step = block,
                          .from_step = block});
  for (const int mate : own_node()) {
    if (mate == rank()) continue;
    inside.out.push_back(raw_task(mate, values, mine));
    inside.in.push_back(raw_task(mate, values, part_of(mate)));
    SlotRows back = column_at(number, nodes_->local(mate), Area::kReceive, part_of(mate));
    std::swap(back.to, back.from);
    std::swap(back.to_step, back.from_step);
    plan_.unpacks_.push_back(back);
  }
}

}  // namespace thinwire::collective
