#include "segment.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

namespace fake_nccl {
namespace {

constexpr std::size_t kRingOfFew = 64 << 10, kRingOfMany = 4 << 10;  // with its counters
constexpr int kFew = 16;
// Whoever aborts rings nobody. With many ranks looking in vain takes all processors.
std::chrono::milliseconds longest_sleep(int ranks) {
  return std::chrono::milliseconds(ranks <= kFew ? 5 : 100);
}

std::size_t stride(int ranks) { return ranks <= kFew ? kRingOfFew : kRingOfMany; }

// So that rings of a page are in one.
std::size_t size_before_rings(int ranks) {
  constexpr std::size_t kPage = 4096;
  return (sizeof(Segment) + ranks * sizeof(Bell) + kPage - 1) / kPage * kPage;
}

std::size_t size_for(int ranks) {
  return size_before_rings(ranks) + static_cast<std::size_t>(ranks) * ranks * stride(ranks);
}

// New memory of this kind is zero, which is what a segment begins with.
Segment* map(const std::string& name, int ranks) {
  const int file = shm_open(name.c_str(), O_RDWR | O_CREAT, 0600);
  if (file < 0) return nullptr;
  void* mapped = MAP_FAILED;
  if (ftruncate(file, static_cast<off_t>(size_for(ranks))) == 0) {
    mapped = mmap(nullptr, size_for(ranks), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  close(file);
  return mapped == MAP_FAILED ? nullptr : static_cast<Segment*>(mapped);
}

// Calls futex(2) for memory that several processes share.
void futex(std::atomic<std::uint32_t>& on, int what, std::uint32_t value, const timespec* most) {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&on), what, value, most, nullptr, 0);
}

}  // namespace

std::size_t ring_bytes(int ranks) { return stride(ranks) - sizeof(Ring); }

std::size_t Ring::put(std::size_t size, const std::byte* from, std::size_t bytes_left) {
  std::byte* const bytes = reinterpret_cast<std::byte*>(this + 1);
  const std::uint64_t at = written.load(std::memory_order_relaxed);
  const std::uint64_t room = size - (at - read.load(std::memory_order_acquire));
  const std::size_t put = std::min<std::size_t>(bytes_left, room);
  const std::size_t first = std::min(put, size - at % size);
  // Not memcpy, which refuses a null pointer also if there is nothing to copy.
  std::copy_n(from, first, bytes + at % size);
  std::copy_n(from + first, put - first, bytes);
  written.store(at + put, std::memory_order_release);
  return put;
}

std::size_t Ring::take(std::size_t size, std::byte* to, std::size_t bytes_left) {
  const std::byte* const bytes = reinterpret_cast<const std::byte*>(this + 1);
  const std::uint64_t at = read.load(std::memory_order_relaxed);
  const std::uint64_t there = written.load(std::memory_order_acquire) - at;
  const std::size_t taken = std::min<std::size_t>(bytes_left, there);
  const std::size_t first = std::min(taken, size - at % size);
  std::copy_n(bytes + at % size, first, to);
  std::copy_n(bytes, taken - first, to + first);
  read.store(at + taken, std::memory_order_release);
  return taken;
}

Ring& Segment::ring(int from, int to, int ranks) {
  const std::size_t number = static_cast<std::size_t>(from) * ranks + to;
  return *reinterpret_cast<Ring*>(reinterpret_cast<std::byte*>(this) + size_before_rings(ranks) +
                                  number * stride(ranks));
}

void Bell::ring() {
  rung.fetch_add(1);
  if (sleeps.load() != 0) futex(rung, FUTEX_WAKE, 1 << 20, nullptr);
}

void Bell::sleep(std::uint32_t seen, std::chrono::milliseconds most) {
  const timespec time{most.count() / 1000, most.count() % 1000 * 1'000'000};
  sleeps.fetch_add(1);
  futex(rung, FUTEX_WAIT, seen, &time);
  sleeps.fetch_sub(1);
}

Segment* join(const std::string& name, int rank, int ranks, const std::function<bool()>& given_up) {
  Segment* const segment = map(name, ranks);
  if (segment == nullptr) return nullptr;
  if (segment->arrived.fetch_add(1) + 1 == static_cast<std::uint32_t>(ranks)) {
    segment->all_there.ring();
  }
  for (;;) {
    const std::uint32_t seen = segment->all_there.rung;
    if (segment->arrived == static_cast<std::uint32_t>(ranks)) break;
    if (given_up()) {
      leave(segment, ranks);
      return nullptr;
    }
    segment->all_there.sleep(seen, longest_sleep(ranks));
  }
  // The others have it open, or will not need its name any more.
  if (rank == 0) shm_unlink(name.c_str());
  return segment;
}

void leave(Segment* segment, int ranks) { munmap(segment, size_for(ranks)); }

Rest::Rest(Bell& bell, int ranks)
    : bell_(bell), tries_(ranks <= kFew ? kTries : 0), most_(longest_sleep(ranks)) {}

void Rest::rest() {
  if (++times_ <= tries_) return std::this_thread::yield();
  bell_.sleep(seen_, most_);
}

}  // namespace fake_nccl
