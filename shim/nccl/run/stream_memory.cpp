#include "run/stream_memory.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <new>
#include <utility>

#include "run/memory.h"
#include "thinwire/thinwire.h"

namespace thinwire::nccl {
namespace {

// At the speed of memory (tw_mailbox_open()).
constexpr std::uint64_t kMailboxBytes = 513 << 10;

constexpr std::uint64_t kLeastWorkspace = 4096;

}  // namespace

InFlight* InFlightPool::take(std::uint64_t record_bytes) {
  most_ = std::max(most_, record_bytes);
  InFlight* in_flight = free_;
  if (in_flight != nullptr) {
    free_ = in_flight->next;
  } else {
    in_flight = new (std::nothrow) InFlight;
    if (in_flight == nullptr) return nullptr;
  }
  if (in_flight->record_bytes < record_bytes) {
    release_record(*in_flight);
    in_flight->record = take_shared(device_, most_);
    in_flight->record_bytes = in_flight->record == nullptr ? 0 : most_;
  }
  in_flight->next = in_flight->after = nullptr;
  in_flight->holders = 1;
  if (in_flight->record != nullptr) return in_flight;
  give_back(in_flight);
  return nullptr;
}

void InFlightPool::give_back(InFlight* in_flight) {
  if (--in_flight->holders == 0) in_flight->next = std::exchange(free_, in_flight);
}

void InFlightPool::release_all() {
  while (InFlight* const in_flight = free_) {
    free_ = in_flight->next;
    release_record(*in_flight);
    delete in_flight;
  }
}

void InFlightPool::release_record(const InFlight& in_flight) const {
  if (in_flight.record != nullptr) give_shared(device_, in_flight.record, in_flight.record_bytes);
}

std::uint64_t Replays::before(const Name& name) {
  const std::lock_guard lock(mutex_);
  return times_[name];
}

void Replays::finish(const Name& name) {
  const std::lock_guard lock(mutex_);
  ++times_[name];
  finished_.push_back(name);
}

std::vector<Replays::Name> Replays::take_finished() {
  const std::lock_guard lock(mutex_);
  return std::exchange(finished_, {});
}

// Memory that it had before it has still: calls of other kinds count on it.
Working StreamMemory::larger(const Area& area, const Working& needs) const {
  const std::uint64_t workspace = std::bit_ceil(std::max(needs.workspace_bytes, kLeastWorkspace));
  return {.device_bytes = std::max(needs.device_bytes, area.most.device_bytes),
          .workspace_bytes = std::max(workspace, area.most.workspace_bytes)};
}

std::uint64_t StreamMemory::missing(std::size_t place, const Working& needs) const {
  const Area area = place < areas_.size() ? areas_[place] : Area{};
  if (area.has(needs)) return 0;
  const Working wanted = larger(area, needs);
  const std::uint64_t bytes = wanted.device_bytes + wanted.workspace_bytes;
  return lies_idle(device_, bytes) ? 0 : bytes;
}

bool StreamMemory::grow(Areas& among, std::size_t place, const Working& needs) {
  if (among.size() <= place) among.resize(place + 1);
  Area& area = among[place];
  if (area.has(needs)) return true;
  Area made;
  made.most = larger(area, needs);
  const auto take = &among == &areas_ ? take_working : take_working_on_host;
  made.memory = take(device_, made.most.workspace_bytes + made.most.device_bytes, &made.bytes);
  if (made.memory == nullptr) return false;
  if (area.memory != nullptr) {
    retired_.push_back({area.memory, pushed_, held_bytes(among, area)});
  }
  area = made;
  held_.take(held_bytes(among, area));
  return true;
}

StreamMemory::Areas* StreamMemory::areas_for(std::size_t place, const Working& needs) {
  const auto has = [&](const Areas& all) { return place < all.size() && all[place].has(needs); };
  if (has(areas_)) return &areas_;
  // The device is not asked at each call for what it has refused once.
  if (has(on_host_)) return &on_host_;
  if (grow(areas_, place, needs)) return &areas_;
  return grow(on_host_, place, needs) ? &on_host_ : nullptr;
}

Where StreamMemory::lend(std::size_t place, const Working& needs, tw_stream_call* call) {
  Areas* const from = areas_for(place, needs);
  if (from == nullptr) return Where::kNowhere;
  Area& area = (*from)[place];
  call->device = static_cast<std::byte*>(area.memory) + area.most.workspace_bytes;
  if (needs.workspace_bytes != 0) {
    call->workspace = area.memory;
    call->clears_workspace = area.zeros < needs.workspace_bytes ? 1 : 0;
    area.zeros = std::max(area.zeros, needs.workspace_bytes);
  }
  return from == &on_host_ ? Where::kOnHost : Where::kOnDevice;
}

void* StreamMemory::open_mailbox() {
  if (void* const there = mailbox()) return there;
  void* const memory = take_shared(device_, kMailboxBytes);
  if (memory == nullptr) return nullptr;
  tw_mailbox_open(memory, kMailboxBytes);
  mailbox_.store(memory);
  return memory;
}

void StreamMemory::push(InFlight* in_flight) {
  in_flight->sequence = ++pushed_;
  (first_ == nullptr ? first_ : last_->next) = in_flight;
  last_ = in_flight;
}

InFlight* StreamMemory::next_to_look_at() {
  looked_at_ = looked_at_ == nullptr || looked_at_->next == nullptr ? first_ : looked_at_->next;
  return looked_at_;
}

InFlight* StreamMemory::pop() {
  InFlight* const in_flight = first_;
  first_ = in_flight->next;
  if (looked_at_ == in_flight) looked_at_ = nullptr;
  std::erase_if(retired_, [&](const Retired& each) {
    if (each.after > in_flight->sequence) return false;
    give(each);
    return true;
  });
  // Others find the device's memory again, if there is some.
  if (idle()) give_all(on_host_);
  return in_flight;
}

void StreamMemory::release_all() {
  for (const Retired& each : retired_) give(each);
  give_all(areas_);
  give_all(on_host_);
  if (void* const there = mailbox_.exchange(nullptr)) give_shared(device_, there, kMailboxBytes);
  retired_.clear();
}

void StreamMemory::give_all(Areas& areas) {
  for (const Area& each : areas) {
    held_.give(held_bytes(areas, each));
    give_working(each.memory);
  }
  areas.clear();
}

void StreamMemory::give(const Retired& retired) {
  held_.give(retired.held_bytes);
  give_working(retired.memory);
}

}  // namespace thinwire::nccl
