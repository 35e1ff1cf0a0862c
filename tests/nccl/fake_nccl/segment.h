// Memory that the ranks of a communicator share, threads of one process or several processes alike:
// a ring of bytes from each rank to each, itself among them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace fake_nccl {

constexpr int kMostRanks = 16;
constexpr std::size_t kRingBytes = 64 << 10;

// One writer, one reader.
struct Ring {
  std::atomic<std::uint64_t> written;
  std::atomic<std::uint64_t> read;
  std::byte bytes[kRingBytes];

  // As much as there is room for, or as there is; the number of bytes.
  std::size_t put(const std::byte* from, std::size_t bytes_left);
  std::size_t take(std::byte* to, std::size_t bytes_left);
};

struct alignas(64) Segment {
  std::array<std::atomic<std::uint32_t>, kMostRanks> arrived;
  std::atomic<std::uint32_t> failed;  // a rank has met an error, or aborted

  // They lie behind it.
  Ring& ring(int from, int to, int ranks) {
    return reinterpret_cast<Ring*>(this + 1)[from * ranks + to];
  }
};

// Waits until all ranks have the segment of that name, or `given_up` says so: then null. The name
// is gone afterwards.
Segment* join(const std::string& name, int rank, int ranks, const std::function<bool()>& given_up);
void leave(Segment* segment, int ranks);

// For a while, in a loop that waits for another rank: longer the more often it was called in vain.
void rest(int times);

}  // namespace fake_nccl
