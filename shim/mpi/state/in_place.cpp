#include "shim/mpi/state/in_place.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

namespace thinwire::mpi {
namespace {

// Comparisons of one reservation with all others: about as long as the copy that it saves a small
// message.
constexpr int kMostSteps = 4096;

int class_of(Range hull) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(hull.last - hull.first))) - 1;
}

void copy_by(InPlace::Copy copy, std::intptr_t to, const std::byte* from, std::int64_t bytes) {
  void* const place = reinterpret_cast<void*>(to);
  const auto count = static_cast<std::size_t>(bytes);
  copy == nullptr ? static_cast<void>(std::memcpy(place, from, count)) : copy(place, from, count);
}

}  // namespace

InPlace::InPlace(std::pmr::memory_resource* system) : pool_(system), members_(&pool_) {}

// Visits members whose hull meets `hull` until one visit says true. A member of a class is shorter
// than twice the class' length, so those that reach into `hull` begin close before it.
template <typename Visit>
bool InPlace::any_meeting(Range hull, Visit&& visit) {
  for (std::uint64_t rest = classes_; rest != 0; rest &= rest - 1) {
    const int length_class = std::countr_zero(rest);
    const std::int64_t longest = std::int64_t{2} << std::min(length_class, 61);
    for (auto at = members_.lower_bound({length_class, hull.first - longest});
         at != members_.end() && at->first.length_class == length_class &&
         at->first.first < hull.last;
         ++at) {
      if (at->second.bytes.hull().last > hull.first && visit(at->second)) return true;
    }
  }
  return false;
}

InPlace::Reservation InPlace::reserve(const ByteSet& bytes) {
  const Range hull = bytes.hull();
  const std::lock_guard lock(mutex_);
  int steps = kMostSteps;
  const bool shared = any_meeting(hull, [&](const Member& member) {
    return --steps < 0 || may_share(bytes, member.bytes, steps);
  });
  if (shared) return {};
  const int length_class = class_of(hull);
  const auto [member, added] = members_.try_emplace(
      {length_class, hull.first}, Member{bytes, std::pmr::vector<Deferred>(&pool_)});
  if (!added) return {};
  ++in_class_[length_class];
  classes_ |= std::uint64_t{1} << length_class;
  reservations_.store(members_.size(), std::memory_order_relaxed);
  return {this, member};
}

void InPlace::release(Members::iterator member) {
  const std::lock_guard lock(mutex_);
  for (const Deferred& deferred : member->second.deferred) {
    copy_by(deferred.copy, deferred.to.first, deferred.from, deferred.to.last - deferred.to.first);
  }
  const int length_class = member->first.length_class;
  if (--in_class_[length_class] == 0) classes_ &= ~(std::uint64_t{1} << length_class);
  members_.erase(member);
  reservations_.store(members_.size(), std::memory_order_relaxed);
}

// Splits one stream among the bytes that nobody has reserved and the owners of the others. Under
// the set's lock, from the look at the reservations to the last byte written.
class InPlace::Writer {
 public:
  Writer(InPlace& set, Lease& stream, Range hull, Copy copy)
      : set_(set), lease_(stream), owners_(&set.pool_), copy_(copy) {
    set.any_meeting(hull, [&](Member& member) {
      owners_.push_back(&member);
      return false;
    });
  }

  bool alone() const { return owners_.empty(); }
  bool deferred() const { return shared_ != nullptr; }

  void put(const std::byte* from, Range to) {
    while (to.first < to.last) {
      Range reserved{to.last, to.last};
      Member* owner = first_reserved(to, reserved);
      const std::int64_t free = reserved.first - to.first;
      if (free > 0) copy_by(copy_, to.first, from, free);
      if (owner == nullptr) return;
      from += free;
      defer(*owner, from, reserved);
      from += reserved.last - reserved.first;
      to.first = reserved.last;
    }
  }

 private:
  Member* first_reserved(Range to, Range& reserved) {
    Member* owner = nullptr;
    for (Member* each : owners_) {
      const auto found = each->bytes.next(to);
      if (!found || found->first >= reserved.first) continue;
      reserved = *found;
      owner = each;
    }
    return owner;
  }

  void defer(Member& owner, const std::byte* from, Range to) {
    if (!shared_) {
      shared_ = std::allocate_shared<const Lease>(std::pmr::polymorphic_allocator<>(&set_.pool_),
                                                  std::move(lease_));
    }
    owner.deferred.push_back({shared_, from, to, copy_});
  }

  InPlace& set_;
  Lease& lease_;
  std::pmr::vector<Member*> owners_;
  Copy copy_;
  std::shared_ptr<const Lease> shared_;
};

bool InPlace::write(Lease stream, std::uint64_t bytes, const Elements& to, Copy copy) {
  if (bytes == 0) return false;
  const std::byte* from = stream.data();
  const std::int64_t base = reinterpret_cast<std::intptr_t>(to.buffer);
  Range hull{base, base + static_cast<std::int64_t>(bytes)};
  if (to.map) {
    const auto more = static_cast<std::int64_t>((bytes - 1) / to.map->bytes()) * to.map->extent();
    hull = {base + to.map->low() + std::min<std::int64_t>(more, 0),
            base + to.map->high() + std::max<std::int64_t>(more, 0)};
  }
  const std::lock_guard lock(mutex_);
  Writer writer(*this, stream, hull, copy);
  if (writer.alone()) {
    copy == nullptr ? scatter(from, bytes, to)
                    : copy(to.buffer, from, static_cast<std::size_t>(bytes));
    return false;
  }
  if (!to.map) {
    writer.put(from, hull);
    return writer.deferred();
  }
  to.map->for_each_row(bytes, [&](std::int64_t offset, std::uint64_t blocks, std::int64_t stride,
                                  std::uint64_t block) {
    const auto length = static_cast<std::int64_t>(block);
    for (; blocks > 0; --blocks, offset += stride, from += block) {
      writer.put(from, {base + offset, base + offset + length});
    }
  });
  return writer.deferred();
}

}  // namespace thinwire::mpi
