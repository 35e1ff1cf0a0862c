#include "coding/lent.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "thinwire/thinwire.h"

namespace thinwire::nccl {
namespace {

// At the speed of memory (tw_mailbox_open()).
constexpr std::uint64_t kMailboxBytes = 513 << 10;

void* acquire(std::uint64_t bytes) {
  void* memory = nullptr;
  return tw_scratch_acquire(TW_MEMORY_HOST, 0, bytes, &memory) == TW_OK ? memory : nullptr;
}

}  // namespace

Flight* Flights::take(std::uint64_t record_bytes) {
  most_ = std::max(most_, record_bytes);
  Flight* flight = free_;
  if (flight != nullptr) {
    free_ = flight->next;
  } else {
    flight = new Flight;
  }
  if (flight->record_bytes < record_bytes) {
    if (flight->record != nullptr) tw_scratch_release(flight->record);
    flight->record = acquire(most_);
    flight->record_bytes = flight->record == nullptr ? 0 : most_;
  }
  flight->next = nullptr;
  if (flight->record != nullptr) return flight;
  give_back(flight);
  return nullptr;
}

void Flights::give_back(Flight* flight) { flight->next = std::exchange(free_, flight); }

void Flights::release_all() {
  while (Flight* const flight = free_) {
    free_ = flight->next;
    if (flight->record != nullptr) tw_scratch_release(flight->record);
    delete flight;
  }
}

void* Lent::device(std::size_t place, std::uint64_t bytes) {
  if (areas_.size() <= place) areas_.resize(place + 1);
  Area& area = areas_[place];
  if (area.bytes >= bytes) return area.memory;
  // Calls of growing size would otherwise each take memory of their own.
  const std::uint64_t wanted = std::max(bytes, std::bit_ceil(bytes) / 4 * 3);
  void* const memory = acquire(wanted);
  if (memory == nullptr) return nullptr;
  if (area.memory != nullptr) retired_.push_back({area.memory, pushed_});
  area = {memory, wanted};
  return memory;
}

void* Lent::open_mailbox() {
  if (void* const there = mailbox()) return there;
  void* const memory = acquire(kMailboxBytes);
  if (memory == nullptr) return nullptr;
  tw_mailbox_open(memory, kMailboxBytes);
  mailbox_.store(memory, std::memory_order_release);
  return memory;
}

void Lent::push(Flight* flight) {
  flight->sequence = ++pushed_;
  (first_ == nullptr ? first_ : last_->next) = flight;
  last_ = flight;
}

Flight* Lent::pop() {
  Flight* const flight = first_;
  first_ = flight->next;
  std::erase_if(retired_, [&](const Retired& each) {
    if (each.after > flight->sequence) return false;
    tw_scratch_release(each.memory);
    return true;
  });
  return flight;
}

void Lent::release_all() {
  for (const Retired& each : retired_) tw_scratch_release(each.memory);
  for (const Area& each : areas_) tw_scratch_release(each.memory);
  if (void* const there = mailbox_.exchange(nullptr)) tw_scratch_release(there);
  retired_.clear();
  areas_.clear();
}

}  // namespace thinwire::nccl
