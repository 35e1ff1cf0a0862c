// Counts of a trace: a fixed table with a cell for each kind of message or call. Whoever sends adds
// to a cell without a lock or an allocation; one thread reads now and then.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>

namespace thinwire::shim {

// How long the bins of a trace are, so that its file stays below a bound however long the program
// runs. Pure: no clock, no file.

class Bins {
 public:
  static constexpr double kFirstSeconds = 0.25;
  static constexpr std::uint64_t kMostBytes = 64 << 20;
  // Kept free for the last line.
  static constexpr std::uint64_t kForTheEnd = 64 << 10;

  explicit Bins(std::uint64_t most_bytes = kMostBytes) : room_(most_bytes - kForTheEnd) {}

  // The seconds that the next bin lasts.
  double seconds() const { return seconds_; }

  // Whether `bytes` more bytes may be written. Each time half of what was left is full bins become
  // four times as long, so that each half lasts longer than all before it together.
  bool take(std::uint64_t bytes) {
    if (used_ + bytes > room_) return false;
    used_ += bytes;
    while (room_ - used_ < left_to_next_ * static_cast<double>(room_)) {
      seconds_ *= 4;
      left_to_next_ /= 2;
    }
    return true;
  }

 private:
  std::uint64_t room_;
  std::uint64_t used_ = 0;
  double seconds_ = kFirstSeconds;
  double left_to_next_ = 0.5;
};

// Properties that the messages of a cell have in common.
struct CellKey {
  std::uint32_t operation = 0;  // 0: messages; else 1 + the number of the shim's own call
  std::uint32_t place = 0;      // of the peer, as tw_peer has it
  std::uint32_t codec = 0;      // its number in the settings
  std::uint32_t reason = 0;     // why it stayed raw, as the shim numbers it; 0: compressed
  std::uint32_t name = 0;       // of the communicator, in Names
  std::int32_t peer = -1;       // its rank in the job; -1: none, or one of many

  bool operator==(const CellKey&) const = default;
};

// Packs a key into one word, which is never 0.
constexpr std::uint64_t packed(const CellKey& key) {
  return (std::uint64_t{key.operation & 0xff} << 56) | (std::uint64_t{key.place & 0xf} << 52) |
         (std::uint64_t{key.codec & 0xff} << 44) | (std::uint64_t{key.reason & 0x3f} << 38) |
         (std::uint64_t{key.name & 0xff} << 30) | static_cast<std::uint64_t>(key.peer + 2);
}

constexpr CellKey unpacked(std::uint64_t word) {
  return {static_cast<std::uint32_t>(word >> 56),
          static_cast<std::uint32_t>(word >> 52 & 0xf),
          static_cast<std::uint32_t>(word >> 44 & 0xff),
          static_cast<std::uint32_t>(word >> 38 & 0x3f),
          static_cast<std::uint32_t>(word >> 30 & 0xff),
          static_cast<std::int32_t>(word & ((std::uint64_t{1} << 30) - 1)) - 2};
}

// Counters that one thread changes at a time, or any number of threads: the first is cheaper.
enum class Writers { kOne, kMany };

class Counter {
 public:
  void add(std::uint64_t more, Writers writers) {
    if (writers == Writers::kMany) {
      value_.fetch_add(more, std::memory_order_relaxed);
    } else {
      value_.store(value_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
    }
  }
  std::uint64_t read() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

// Buckets of sizes in bytes and of times in nanoseconds: bucket b has those from 2^b to below
// 2^(b+1).
constexpr std::size_t kBuckets = 48;
constexpr std::size_t bucket_of(std::uint64_t value) {
  const auto bits = static_cast<std::size_t>(std::bit_width(value | 1)) - 1;
  return bits < kBuckets ? bits : kBuckets - 1;
}

// A message or a call.
struct Event {
  std::uint64_t bytes = 0;
  std::uint64_t wire_bytes = 0;
  std::uint64_t predicted_nanoseconds = 0;  // of what `nanoseconds` has; 0: not known
  std::uint64_t nanoseconds = 0;            // encoding a message, or a whole collective call
  // Predicted time of the whole message or call, had it gone raw. 0: not known.
  std::uint64_t raw_nanoseconds = 0;
  // The same as it went: what was measured, and of the rest what was predicted.
  std::uint64_t whole_nanoseconds = 0;
};

struct Cell {
  std::uint64_t key = 0;
  Counter calls, bytes, wire_bytes, predicted_nanoseconds, nanoseconds, raw_nanoseconds,
      whole_nanoseconds;
  std::array<Counter, kBuckets> sizes, times, predictions;

  void add(const Event& event, Writers writers) {
    calls.add(1, writers);
    bytes.add(event.bytes, writers);
    wire_bytes.add(event.wire_bytes, writers);
    if (event.bytes != 0) sizes[bucket_of(event.bytes)].add(1, writers);
    if (event.raw_nanoseconds != 0) {
      raw_nanoseconds.add(event.raw_nanoseconds, writers);
      whole_nanoseconds.add(event.whole_nanoseconds, writers);
    }
    if (event.nanoseconds == 0) return;
    if (event.predicted_nanoseconds != 0) {
      predicted_nanoseconds.add(event.predicted_nanoseconds, writers);
      predictions[bucket_of(event.predicted_nanoseconds)].add(1, writers);
    }
    nanoseconds.add(event.nanoseconds, writers);
    times[bucket_of(event.nanoseconds)].add(1, writers);
  }
};

class Cells {
 public:
  static constexpr std::size_t kMost = 2048;
  // Beyond so many, further peers share cells without a peer.
  static constexpr std::size_t kMostWithPeers = 1024;
  // The last cell has what finds no other.
  static constexpr std::uint64_t kOfAllOthers = packed({0xff, 0, 0, 0, 0, -1});

  Cells();

  // The cell of `key`, created at its first use. From any thread; finding one takes no lock.
  Cell& of(const CellKey& key);

  // The cells made so far, in the order in which they were made.
  std::size_t size() const { return size_.load(std::memory_order_acquire); }
  const Cell& at(std::size_t place) const { return cells_[place]; }

 private:
  static constexpr std::size_t kSlots = 2 * kMost;

  Cell* find(std::uint64_t key);
  Cell* make(std::uint64_t key);

  // Pages that nothing was written to take no memory.
  std::unique_ptr<Cell[]> cells_;
  std::array<std::atomic<std::uint32_t>, kSlots> slots_{};  // 1 + a cell's place
  std::atomic<std::size_t> size_{0};
  std::mutex mutex_;
};

// The names of communicators, as many as a trace tells apart.
class Names {
 public:
  static constexpr std::size_t kMost = 64;
  static constexpr std::size_t kLongest = 63;  // letters that are kept

  // The place of a name; 0, which stands for all others, if there is no room. From any thread.
  std::uint32_t of(const char* name);

  // The name, as it was given; "" at 0.
  const char* at(std::uint32_t place) const { return names_[place].data(); }

 private:
  std::uint32_t find(const char* name) const;

  std::array<std::array<char, kLongest + 1>, kMost> names_{};
  std::atomic<std::uint32_t> size_{1};
  std::mutex mutex_;
};

}  // namespace thinwire::shim
