#include "segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>

namespace fake_nccl {
namespace {

std::size_t size_for(int ranks) {
  return sizeof(Segment) + static_cast<std::size_t>(ranks) * ranks * sizeof(Ring);
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

}  // namespace

std::size_t Ring::put(const std::byte* from, std::size_t bytes_left) {
  const std::uint64_t at = written.load(std::memory_order_relaxed);
  const std::uint64_t room = kRingBytes - (at - read.load(std::memory_order_acquire));
  const std::size_t put = std::min<std::size_t>(bytes_left, room);
  const std::size_t first = std::min(put, kRingBytes - at % kRingBytes);
  // Not memcpy, which refuses a null pointer also where there is nothing to copy.
  std::copy_n(from, first, bytes + at % kRingBytes);
  std::copy_n(from + first, put - first, bytes);
  written.store(at + put, std::memory_order_release);
  return put;
}

std::size_t Ring::take(std::byte* to, std::size_t bytes_left) {
  const std::uint64_t at = read.load(std::memory_order_relaxed);
  const std::uint64_t there = written.load(std::memory_order_acquire) - at;
  const std::size_t taken = std::min<std::size_t>(bytes_left, there);
  const std::size_t first = std::min(taken, kRingBytes - at % kRingBytes);
  std::copy_n(bytes + at % kRingBytes, first, to);
  std::copy_n(bytes, taken - first, to + first);
  read.store(at + taken, std::memory_order_release);
  return taken;
}

Segment* join(const std::string& name, int rank, int ranks, const std::function<bool()>& given_up) {
  Segment* const segment = map(name, ranks);
  if (segment == nullptr) return nullptr;
  segment->arrived[rank] = 1;
  for (int other = 0, times = 0; other < ranks;) {
    if (segment->arrived[other] != 0) {
      ++other;
    } else if (given_up()) {
      leave(segment, ranks);
      return nullptr;
    } else {
      rest(times++);
    }
  }
  // The others have it open, or will not need its name any more.
  if (rank == 0) shm_unlink(name.c_str());
  return segment;
}

void leave(Segment* segment, int ranks) { munmap(segment, size_for(ranks)); }

void rest(int times) {
  if (times < 100) {
    std::this_thread::yield();
  } else {
    usleep(100);
  }
}

}  // namespace fake_nccl
