#include "agree/blocks.h"

#include <unistd.h>

#include <algorithm>

namespace thinwire::nccl::agree {

std::uint64_t Blocks::share_of_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || bytes <= 0) return UINT64_MAX;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(bytes) / 4;
}

bool Blocks::put(const Block& block, std::uint64_t total, std::uint64_t offset, ByteView bytes) {
  {
    const std::lock_guard lock(mutex_);
    Pile& pile = piles_[block];
    if (pile.come == 0) pile.total = total;
    const bool next = pile.total == total && pile.come == offset && bytes.size() <= total - offset;
    std::uint64_t& waiting = waiting_[block.from];
    if (!next || bytes.size() > most_ - waiting) return false;
    waiting += bytes.size();
    pile.come += bytes.size();
    if (!bytes.empty()) pile.parts.emplace_back(bytes.begin(), bytes.end());
  }
  gate_.notify();
  return true;
}

Taken Blocks::take(const Block& block, std::span<std::byte> to,
                   std::chrono::milliseconds patience) {
  if (patience > patience.zero()) gate_.wait_for(patience, [&] { return has(block); });
  Taken taken = take_now(block, to);
  // What has come in time counts, whatever happened since; after an abort nothing does.
  const Outcome end = gate_.outcome();
  if (taken.bytes == 0 || end == Outcome::kAborted) taken.outcome = end;
  return taken;
}

bool Blocks::has(const Block& block) {
  const std::lock_guard lock(mutex_);
  const auto found = piles_.find(block);
  return found != piles_.end() && !found->second.parts.empty();
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
    if (count < part.size()) break;
    pile.parts.pop_front();
    pile.begin = 0;
  }
  pile.taken += taken.bytes;
  waiting_[block.from] -= taken.bytes;
  taken.left = pile.total - pile.taken;
  if (taken.left == 0) piles_.erase(found);
  return taken;
}

}  // namespace thinwire::nccl::agree
