// Memory that the ranks of a communicator share, threads of one process or several processes alike:
// a ring of bytes from each rank to each, itself among them. It takes memory as it is used.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace fake_nccl {

constexpr int kMostRanks = 1024;

// One writer, one reader. The bytes lie after it.
struct Ring {
  std::atomic<std::uint64_t> written;
  std::atomic<std::uint64_t> read;

  // As much as there is room for, or as there is; the number of bytes. `size`: the ring's.
  std::size_t put(std::size_t size, const std::byte* from, std::size_t bytes_left);
  std::size_t take(std::size_t size, std::byte* to, std::size_t bytes_left);
};

// A bell on which a rank sleeps: whoever has done something for it rings.
struct alignas(64) Bell {
  std::atomic<std::uint32_t> rung;
  std::atomic<std::uint32_t> sleeps;

  void ring();
  // Until it is rung, if it was not since it showed `seen`, or for a while.
  void sleep(std::uint32_t seen, std::chrono::milliseconds most);
};

struct alignas(64) Segment {
  std::atomic<std::uint32_t> arrived;  // ranks
  std::atomic<std::uint32_t> failed;   // a rank has met an error, or aborted
  Bell all_there;

  // They lie after it: bells, then rings.
  Bell& bell(int rank) { return reinterpret_cast<Bell*>(this + 1)[rank]; }
  Ring& ring(int from, int to, int ranks);
};

// Bytes that a ring takes: if there are many ranks, each ring has a page.
std::size_t ring_bytes(int ranks);

// Waits until all ranks have the segment of that name, or `given_up` says so: then null. The name
// is gone afterwards.
Segment* join(const std::string& name, int rank, int ranks, const std::function<bool()>& given_up);
void leave(Segment* segment, int ranks);

// Waits of one rank for others: a few times by giving its processor to them, if they are few,
// and then asleep.
class Rest {
 public:
  Rest(Bell& bell, int ranks);

  // Before it is looked whether there is something to do, and after there was.
  void look() { seen_ = bell_.rung.load(); }
  void did_something() { times_ = 0; }
  void rest();

 private:
  static constexpr int kTries = 100;

  Bell& bell_;
  const int tries_;
  const std::chrono::milliseconds most_;
  int times_ = 0;
  std::uint32_t seen_ = 0;
};

}  // namespace fake_nccl
