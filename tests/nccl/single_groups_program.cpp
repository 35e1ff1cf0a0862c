// Sums of fp32 in the order of the ranks, some in a group on rank 0 alone: other ranks make the
// same calls one by one. Prints "ok", or what is in another order.
//
// single_groups_program ELEMENTS [part]
// ELEMENTS: of each sum, and of a block of ReduceScatter
// part: also a product on a part of the communicator, in which rank 0 has no place
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "ranks.h"

namespace {

using Floats = std::vector<float>;

// Neighbours are equal in sixteens; magnitudes differ, so that the order of additions counts.
float value(int rank, std::size_t at) {
  std::uint64_t word = (at / 16 + 1) * 0x9E3779B97F4A7C15U + static_cast<std::uint64_t>(rank) * 131;
  word = (word ^ word >> 29) * 0xBF58476D1CE4E5B9U;
  word ^= word >> 32;
  const float digits = static_cast<float>((word >> 20 & 15) + 16) / 16;
  return std::ldexp((word & 1) != 0 ? digits : -digits, static_cast<int>(word >> 8 & 0xFF) % 27);
}

bool is_sum(const Floats& found, std::size_t first, int ranks, const char* what) {
  for (std::size_t at = 0; at < found.size(); ++at) {
    float sum = value(0, first + at);
    for (int rank = 1; rank < ranks; ++rank) sum += value(rank, first + at);
    if (std::memcmp(&sum, &found[at], sizeof sum) == 0) continue;
    std::fprintf(stderr, "wrong: %s, element %zu\n", what, at);
    return false;
  }
  return true;
}

// Makes a call, on rank 0 in a group of its own.
template <typename Make>
bool make(const ranks::Rank& self, Make call) {
  if (self.rank == 0) ncclGroupStart();
  ncclResult_t result = call();
  if (self.rank == 0) result = ncclGroupEnd();
  const bool is_done = ranks::final_result(result) == ncclSuccess;
  self.synchronize();
  return is_done;
}

bool sums(const ranks::Rank& self, std::size_t count) {
  const auto ranks = static_cast<std::size_t>(self.ranks),
             rank = static_cast<std::size_t>(self.rank);
  const int root = self.ranks - 1;
  Floats mine(count * ranks), all(count), block(count), at_root(count);
  for (std::size_t at = 0; at < mine.size(); ++at) mine[at] = value(self.rank, at);
  bool good = make(self, [&] {
    return ncclAllReduce(mine.data(), all.data(), count, ncclFloat32, ncclSum, self.comm,
                         self.stream);
  });
  good = make(self,
              [&] {
                return ncclReduceScatter(mine.data(), block.data(), count, ncclFloat32, ncclSum,
                                         self.comm, self.stream);
              }) &&
         good;
  good = make(self,
              [&] {
                return ncclReduce(mine.data(), at_root.data(), count, ncclFloat32, ncclSum, root,
                                  self.comm, self.stream);
              }) &&
         good;
  good = is_sum(all, 0, self.ranks, "AllReduce") && good;
  good = is_sum(block, rank * count, self.ranks, "ReduceScatter") && good;
  return (self.rank != root || is_sum(at_root, 0, self.ranks, "Reduce")) && good;
}

bool product_of_a_part(const ranks::Rank& self) {
  ncclComm_t part = nullptr;
  ncclCommSplit(self.comm, self.rank == 0 ? NCCL_SPLIT_NOCOLOR : 0, self.rank, &part, nullptr);
  if (part == nullptr) return self.rank == 0;
  Floats ones(1000, 1), made(1000);
  const ncclResult_t result = ncclAllReduce(ones.data(), made.data(), ones.size(), ncclFloat32,
                                            ncclProd, part, self.stream);
  self.synchronize();
  ncclCommDestroy(part);
  return result == ncclSuccess && made == ones;
}

}  // namespace

int main(int count, char** words) {
  const auto elements = static_cast<std::size_t>(count > 1 ? std::atol(words[1]) : 4'200'000);
  const bool has_part = count > 2 && std::string(words[2]) == "part";
  bool good = true;
  ranks::run(ranks::count(3), [&](ranks::Rank& self) {
    good = sums(self, elements);
    if (has_part) good = product_of_a_part(self) && good;
  });
  std::puts(good ? "ok" : "failed");
  return good ? 0 : 1;
}
