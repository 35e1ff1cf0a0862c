#include "agree/blocks.h"

#include <algorithm>
#include <utility>

#include "agree/spare_bytes.h"

namespace thinwire::nccl::agree {
namespace {

// Bytes that are kept with the data, rounded up: of a block, and of each part that it came in.
constexpr std::uint64_t kBesidePile = 256;
constexpr std::uint64_t kBesidePart = 128;

}  // namespace

Blocks::~Blocks() {
  for (const auto& [rank, bytes] : waiting_) all_.give_back(bytes);
}

bool Blocks::charge(int rank, std::uint64_t bytes) {
  std::uint64_t& waiting = waiting_[rank];
  if (bytes > most_ - waiting || !all_.take(bytes)) return false;
  waiting += bytes;
  return true;
}

void Blocks::release(int rank, std::uint64_t bytes) {
  waiting_[rank] -= bytes;
  all_.give_back(bytes);
}

bool Blocks::put(const Block& block, std::uint64_t total, std::uint64_t offset, ByteView bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (has_ended(block)) return true;
    auto found = piles_.find(block);
    if (found == piles_.end()) {
      if (!charge(block.from, kBesidePile)) return false;
      found = piles_.try_emplace(block).first;
      found->second.total = total;
    }
    Pile& pile = found->second;
    const bool next = pile.total == total && pile.come == offset && bytes.size() <= total - offset;
    if (!next) return false;
    if (!bytes.empty()) {
      if (!charge(block.from, kBesidePart + bytes.size())) return false;
      pile.come += bytes.size();
      Bytes& part = pile.parts.emplace_back(spare_bytes());
      part.assign(bytes.begin(), bytes.end());
    }
  }
  gate_.notify();
  return true;
}

Taken Blocks::take(const Block& block, std::span<std::byte> to,
                   std::chrono::milliseconds patience) {
  const auto over = [&] {
    const std::lock_guard lock(mutex_);
    return has(block) || has_ended(block);
  };
  if (patience > patience.zero()) gate_.wait_for(patience, over);
  Taken taken = take_now(block, to);
  // Bytes that have come in time count, whatever happened since; after an abort nothing does.
  const Outcome end = outcome(block);
  if (taken.bytes == 0 || end == Outcome::kAborted) taken.outcome = end;
  return taken;
}

bool Blocks::has(const Block& block) const {
  const auto found = piles_.find(block);
  return found != piles_.end() && !found->second.parts.empty();
}

bool Blocks::has_ended(const Block& block) const {
  return block.of_pair ? messages_ended_.contains(block.from) : collectives_ended_;
}

Outcome Blocks::outcome(const Block& block) {
  const Outcome of_all = gate_.outcome();
  if (of_all != Outcome::kKnown) return of_all;
  const std::lock_guard lock(mutex_);
  return has_ended(block) ? Outcome::kBroken : Outcome::kKnown;
}

void Blocks::end_collectives() {
  {
    const std::lock_guard lock(mutex_);
    collectives_ended_ = true;
  }
  gate_.notify();
}

void Blocks::end_messages(int from) {
  {
    const std::lock_guard lock(mutex_);
    messages_ended_.insert(from);
  }
  gate_.notify();
}

Taken Blocks::take_now(const Block& block, std::span<std::byte> to) {
  const std::lock_guard lock(mutex_);
  const auto found = piles_.find(block);
  if (found == piles_.end()) return {};
  Pile& pile = found->second;
  Taken taken;
  while (taken.bytes < to.size() && !pile.parts.empty()) {
    const ByteView part = ByteView(pile.parts.front()).subspan(pile.begin);
    const std::size_t count = std::min(part.size(), to.size() - taken.bytes);
    std::copy_n(part.begin(), count, to.begin() + static_cast<std::ptrdiff_t>(taken.bytes));
    taken.bytes += count;
    pile.begin += count;
    release(block.from, count);
    if (count < part.size()) break;
    keep_spare(std::move(pile.parts.front()));
    pile.parts.pop_front();
    pile.begin = 0;
    release(block.from, kBesidePart);
  }
  pile.taken += taken.bytes;
  taken.left = pile.total - pile.taken;
  if (taken.left == 0) {
    piles_.erase(found);
    release(block.from, kBesidePile);
  }
  return taken;
}

}  // namespace thinwire::nccl::agree
