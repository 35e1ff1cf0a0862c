// Which bytes of the program's memory belong to a receive at this moment, and what other receives
// have yet to write there.
//
// A receive is posted straight into the user's buffer if it can reserve its bytes; else into
// scratch. Reservations never share a byte, so each byte has one owner at most. Whoever else has
// data for a reserved byte leaves it with the owner, who writes it when the reservation ends:
// nobody waits.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <utility>
#include <vector>

#include "shim/mpi/state/byte_set.h"
#include "shim/mpi/state/pool.h"

namespace thinwire::mpi {

class InPlace {
 public:
  // How bytes come to where they belong; only memory of GPUs needs another way than memcpy().
  using Copy = void (*)(void* to, const void* from, std::size_t bytes);

 private:
  // Bytes that another receive has for a reservation.
  struct Deferred {
    std::shared_ptr<const Lease> stream;  // keeps `from`
    const std::byte* from;
    Range to;
    Copy copy;  // nullptr: memcpy()
  };
  struct Member {
    ByteSet bytes;
    std::pmr::vector<Deferred> deferred;  // in the order of their deliveries
  };
  struct Key {
    int length_class;  // of its hull, in powers of two
    std::int64_t
        first;  // of its hull; reservations share no byte, so none begins where another does
    auto operator<=>(const Key&) const = default;
  };
  using Members = std::pmr::map<Key, Member>;

 public:
  // Bytes that their owner may read and write without a lock until the reservation ends, with end()
  // or its destruction: all others write only bytes that nobody has reserved.
  class Reservation {
   public:
    Reservation() = default;
    Reservation(Reservation&& other) noexcept { *this = std::move(other); }
    Reservation& operator=(Reservation&& other) noexcept {
      std::swap(owner_, other.owner_);
      std::swap(member_, other.member_);
      return *this;
    }
    ~Reservation() { end(); }
    explicit operator bool() const { return owner_ != nullptr; }

    // Writes what others have left here.
    void end() {
      if (owner_ != nullptr) std::exchange(owner_, nullptr)->release(member_);
    }

   private:
    friend class InPlace;
    Reservation(InPlace* owner, Members::iterator member) : owner_(owner), member_(member) {}
    InPlace* owner_ = nullptr;
    Members::iterator member_;
  };

  // Nodes and lists come from a pool over `system`.
  explicit InPlace(std::pmr::memory_resource* system = std::pmr::new_delete_resource());
  InPlace(const InPlace&) = delete;
  InPlace& operator=(const InPlace&) = delete;

  // An empty reservation if a byte is reserved already, or may be: patterns that take long to
  // compare are not worth it.
  Reservation reserve(const ByteSet& bytes);

  // Writes the first `bytes` bytes of `stream` to the elements, for an owner without a reservation.
  // What falls on reserved bytes is left with their owners, which keep `stream` until then; returns
  // whether there was any.
  // `copy`, if given, is for elements without a map, and calls no MPI.
  bool write(Lease stream, std::uint64_t bytes, const Elements& to, Copy copy = nullptr);

  // How many there are at this moment.
  std::uint64_t reservations() const { return reservations_.load(std::memory_order_relaxed); }

 private:
  class Writer;
  static constexpr int kClasses = 64;

  template <typename Visit>
  bool any_meeting(Range hull, Visit&& visit);
  void release(Members::iterator member);

  std::atomic<std::uint64_t> reservations_{0};
  std::mutex mutex_;  // guards all below; nothing of MPI is called under it
  std::pmr::unsynchronized_pool_resource pool_;
  Members members_;
  std::array<std::uint64_t, kClasses> in_class_{};
  std::uint64_t classes_ = 0;  // a bit for each that has members
};

}  // namespace thinwire::mpi
