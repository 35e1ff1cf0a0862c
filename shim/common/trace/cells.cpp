#include "shim/common/trace/cells.h"

#include <cstring>

namespace thinwire::shim {
namespace {

std::size_t hash_of(std::uint64_t key) {
  key ^= key >> 32;
  key *= 0x9e3779b97f4a7c15;
  return static_cast<std::size_t>(key >> 40);
}

}  // namespace

Cells::Cells() : cells_(new Cell[kMost]) {}

Cell* Cells::find(std::uint64_t key) {
  for (std::size_t at = hash_of(key);; ++at) {
    const std::uint32_t place = slots_[at % kSlots].load(std::memory_order_acquire);
    if (place == 0) return nullptr;
    if (cells_[place - 1].key == key) return &cells_[place - 1];
  }
}

// There are always free slots: twice as many as cells.
Cell* Cells::make(std::uint64_t key) {
  const std::lock_guard lock(mutex_);
  if (Cell* const made = find(key)) return made;
  const std::size_t place = size_.load(std::memory_order_relaxed);
  const std::size_t most = key == kOfAllOthers       ? kMost
                           : unpacked(key).peer >= 0 ? kMostWithPeers
                                                     : kMost - 1;
  if (place >= most) return nullptr;
  cells_[place].key = key;
  std::size_t at = hash_of(key);
  while (slots_[at % kSlots].load(std::memory_order_relaxed) != 0) ++at;
  slots_[at % kSlots].store(static_cast<std::uint32_t>(place + 1), std::memory_order_release);
  size_.store(place + 1, std::memory_order_release);
  return &cells_[place];
}

Cell& Cells::of(const CellKey& key) {
  CellKey without = key;
  without.peer = -1;
  for (const std::uint64_t word : {packed(key), packed(without), kOfAllOthers}) {
    if (Cell* const found = find(word)) return *found;
    if (Cell* const made = make(word)) return *made;
  }
  return cells_[kMost - 1];  // not reached: kOfAllOthers has its own
}

std::uint32_t Names::find(const char* name) const {
  const std::uint32_t size = size_.load(std::memory_order_acquire);
  for (std::uint32_t place = 1; place < size; ++place) {
    if (std::strncmp(names_[place].data(), name, kLongest) == 0) return place;
  }
  return 0;
}

std::uint32_t Names::of(const char* name) {
  if (*name == '\0') return 0;
  if (const std::uint32_t found = find(name)) return found;
  if (size_.load(std::memory_order_acquire) == kMost) return 0;
  const std::lock_guard lock(mutex_);
  if (const std::uint32_t found = find(name)) return found;
  const std::uint32_t size = size_.load(std::memory_order_relaxed);
  if (size == kMost) return 0;
  std::strncpy(names_[size].data(), name, kLongest);
  size_.store(size + 1, std::memory_order_release);
  return size;
}

}  // namespace thinwire::shim
