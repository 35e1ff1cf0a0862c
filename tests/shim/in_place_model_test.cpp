// Reservations and deferred writes against a model of an MPI that writes into posted buffers
// whenever it likes, under random orders of posts, arrivals and completions.
#include <gtest/gtest.h>

#include <cstring>
#include <list>
#include <optional>
#include <set>
#include <vector>

#include "random_elements.h"
#include "shim/mpi/state/in_place.h"

namespace thinwire::mpi {
namespace {

constexpr std::size_t kMemory = 600;

// One receive of a message whose every byte is `value`, decoded. On the wire it is a frame, with
// bytes of another value, or raw.
struct Receive {
  enum class State { kPosted, kArriving, kArrived, kDecoding, kDone };
  Pattern pattern;
  State state = State::kPosted;
  InPlace::Reservation reservation;
  bool in_place = false;
  bool frame = false;
  std::byte value{};
  std::size_t raw_bytes = 0;   // what the user gets: at most the pattern's
  std::size_t wire_bytes = 0;  // what the MPI writes
  std::size_t progress = 0;
  Lease scratch;
  bool shared = false;  // some other receive of its lifetime had a byte of it

  std::byte on_wire() const { return frame ? static_cast<std::byte>(~value) : value; }
};

std::optional<ByteSet> bytes_of(const Pattern& pattern) {
  if (pattern.elements.map) return ByteSet::of(pattern.elements, pattern.count);
  const auto first = reinterpret_cast<std::intptr_t>(pattern.elements.buffer);
  return ByteSet({first, first + static_cast<std::int64_t>(pattern.bytes.size())});
}

class Model {
 public:
  explicit Model(std::uint64_t seed) : random_(seed), memory_(kMemory), writers_(kMemory) {}

  void run(int receives, bool legal) {
    while ((receives > 0 || !pending_.empty()) && !testing::Test::HasFatalFailure()) {
      if (receives > 0 && (pending_.empty() || random_.one_in(4))) {
        post(legal);
        --receives;
      } else {
        auto at = pending_.begin();
        std::advance(at, random_.below(static_cast<std::int64_t>(pending_.size())));
        step(*at);
        if (at->state == Receive::State::kDone) pending_.erase(at);
      }
    }
    EXPECT_EQ(in_place_.reservations(), 0u);
    // In the end each byte has what some receive wrote there, or nothing.
    for (std::size_t at = 0; at < kMemory; ++at) {
      if (writers_[at].empty()) {
        ASSERT_EQ(memory_[at], std::byte{});
      } else {
        ASSERT_TRUE(writers_[at].contains(memory_[at])) << at;
      }
    }
  }

  int in_place = 0, in_scratch = 0, deferred = 0;

 private:
  std::size_t place_of(const std::byte* address) const {
    return static_cast<std::size_t>(address - memory_.data());
  }

  bool overlaps_pending(const Pattern& pattern, bool mark) {
    std::vector<bool> mine(kMemory);
    for (const std::byte* byte : pattern.bytes) mine[place_of(byte)] = true;
    bool any = false;
    for (Receive& other : pending_) {
      bool shares = false;
      for (const std::byte* byte : other.pattern.bytes) shares |= mine[place_of(byte)];
      other.shared |= shares && mark;
      any |= shares;
    }
    return any;
  }

  void post(bool legal) {
    Receive receive;
    do {
      receive.pattern = random_pattern(random_, memory_);
    } while (legal && overlaps_pending(receive.pattern, false));
    receive.shared = overlaps_pending(receive.pattern, true);
    next_value_ = next_value_ % 127 + 1;  // its complement is nobody's value
    receive.value = static_cast<std::byte>(next_value_);
    const auto capacity = static_cast<std::int64_t>(receive.pattern.bytes.size());
    receive.raw_bytes = static_cast<std::size_t>(random_.between(1, capacity));
    receive.frame = random_.one_in(2);
    receive.wire_bytes = receive.frame ? (receive.raw_bytes + 2) / 3 : receive.raw_bytes;
    const auto bytes = bytes_of(receive.pattern);
    if (bytes) receive.reservation = in_place_.reserve(*bytes);
    receive.in_place = static_cast<bool>(receive.reservation);
    // A program that shares no buffer has all its receives in place.
    EXPECT_TRUE(receive.in_place || receive.shared || !bytes);
    if (!receive.in_place) receive.scratch = pool_.acquire(receive.pattern.bytes.size());
    ++(receive.in_place ? in_place : in_scratch);
    pending_.push_back(std::move(receive));
  }

  std::byte* wire_byte(Receive& receive, std::size_t at) {
    return receive.in_place ? receive.pattern.bytes[at] : receive.scratch.data() + at;
  }

  void step(Receive& receive) {
    switch (receive.state) {
      case Receive::State::kPosted:
        if (random_.one_in(12)) return finish(receive);  // cancelled, or failed
        receive.state = Receive::State::kArriving;
        break;
      case Receive::State::kArriving:
        for (int bytes = 0; bytes < 40 && receive.progress < receive.wire_bytes; ++bytes) {
          *wire_byte(receive, receive.progress++) = receive.on_wire();
        }
        if (receive.progress == receive.wire_bytes) receive.state = Receive::State::kArrived;
        break;
      case Receive::State::kArrived:
        complete(receive);
        break;
      case Receive::State::kDecoding:
        for (int bytes = 0; bytes < 40 && receive.progress < receive.raw_bytes; ++bytes) {
          *receive.pattern.bytes[receive.progress++] = receive.value;
        }
        if (receive.progress == receive.raw_bytes) check_and_finish(receive);
        break;
      case Receive::State::kDone:
        break;
    }
  }

  void complete(Receive& receive) {
    for (std::size_t at = 0; at < receive.wire_bytes; ++at) {
      ASSERT_EQ(*wire_byte(receive, at), receive.on_wire()) << "a torn message";
    }
    for (std::size_t at = 0; at < receive.raw_bytes; ++at) {
      writers_[place_of(receive.pattern.bytes[at])].insert(receive.value);
    }
    if (!receive.in_place) {
      if (const auto bytes = bytes_of(receive.pattern))
        receive.reservation = in_place_.reserve(*bytes);
      if (!receive.reservation) return write(receive);
    } else if (!receive.frame) {
      return check_and_finish(receive);
    }
    receive.progress = 0;
    receive.state = Receive::State::kDecoding;
  }

  void write(Receive& receive) {
    std::memset(receive.scratch.data(), std::to_integer<int>(receive.value), receive.raw_bytes);
    deferred +=
        in_place_.write(std::move(receive.scratch), receive.raw_bytes, receive.pattern.elements);
    check_and_finish(receive);
  }

  void check_and_finish(Receive& receive) {
    for (std::size_t at = 0; at < receive.raw_bytes && (receive.reservation || !receive.shared);
         ++at) {
      ASSERT_EQ(*receive.pattern.bytes[at], receive.value);
    }
    finish(receive);
  }

  void finish(Receive& receive) {
    receive.reservation.end();
    receive.state = Receive::State::kDone;
    if (receive.shared) return;
    for (std::size_t at = 0; at < receive.progress && receive.progress == receive.raw_bytes; ++at) {
      ASSERT_EQ(*receive.pattern.bytes[at], receive.value);
    }
  }

  Random random_;
  std::vector<std::byte> memory_;
  std::vector<std::set<std::byte>> writers_;  // by byte, what it may hold in the end
  Pool pool_;
  InPlace in_place_;
  std::list<Receive> pending_;
  int next_value_ = 0;
};

TEST(InPlace, ProgramsThatShareBuffersLoseNothing) {
  int in_place = 0, in_scratch = 0, deferred = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Model model(seed);
    model.run(60, false);
    if (HasFatalFailure()) FAIL() << "seed " << seed;
    in_place += model.in_place;
    in_scratch += model.in_scratch;
    deferred += model.deferred;
  }
  EXPECT_GT(in_place, 1000);
  EXPECT_GT(in_scratch, 1000);
  EXPECT_GT(deferred, 300);
}

TEST(InPlace, OtherProgramsDeferNothing) {
  for (std::uint64_t seed = 1000; seed < 1200; ++seed) {
    Model model(seed);
    model.run(40, true);
    if (HasFatalFailure()) FAIL() << "seed " << seed;
    EXPECT_EQ(model.deferred, 0);
  }
}

}  // namespace
}  // namespace thinwire::mpi
