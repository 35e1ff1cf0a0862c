// Reductions and statistics of arrays in GPU memory against those of the same arrays on the host:
// every type and reduction, wherever the operands lie and however they are aligned. Exit code 0
// where all agree, 1 if one does not, 77 if there is no GPU.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>
#include <stdexcept>
#include <vector>

#include "base/bytes.h"
#include "base/dtype.h"
#include "collective/gpu/values.h"
#include "collective/reduce.h"

namespace thinwire::collective {
namespace {

constexpr Dtype kDtypes[] = {Dtype::kF32, Dtype::kF64, Dtype::kF16, Dtype::kBf16};
constexpr std::uint64_t kRoom = 64;  // around an array, for offsets and canaries
constexpr std::uint64_t kMostCount = 300'007;
constexpr std::uint64_t kMostBytes = kMostCount * sizeof(double) + 2 * kRoom;

void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

// As many bytes on the GPU, in pinned memory and in pageable memory.
struct Memory {
  std::byte* device = nullptr;
  std::byte* pinned = nullptr;
  std::vector<std::byte> pageable = std::vector<std::byte>(kMostBytes);

  Memory() {
    check(cudaMalloc(reinterpret_cast<void**>(&device), kMostBytes));
    check(cudaMallocHost(reinterpret_cast<void**>(&pinned), kMostBytes));
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    cudaFree(device);
    cudaFreeHost(pinned);
  }

  std::byte* at(int place) { return place == 0 ? device : place == 1 ? pinned : pageable.data(); }
};

struct Tally {
  int agree = 0, differ = 0;

  void add(bool agrees, const char* what, Dtype dtype, int detail, std::uint64_t count) {
    (agrees ? agree : differ) += 1;
    if (!agrees && differ < 20) {
      std::printf("FAILED %s of %s, %llu values, case %d\n", what, dtype_name(dtype),
                  static_cast<unsigned long long>(count), detail);
    }
  }
};

// Words of a dtype: any bits, subnormals, zeros of both signs, infinities, NaN, values around 1.
std::vector<std::byte> make_words(Dtype dtype, std::uint64_t count, unsigned seed, bool finite) {
  std::mt19937_64 random(seed);
  const std::uint64_t bytes = dtype_size(dtype);
  const int mantissa = dtype == Dtype::kF64   ? 52
                       : dtype == Dtype::kF32 ? 23
                       : dtype == Dtype::kF16 ? 10
                                              : 7;
  const int bits = static_cast<int>(8 * bytes);
  const std::uint64_t low = (std::uint64_t{1} << mantissa) - 1;
  const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
  const std::uint64_t infinity = (sign - 1) & ~low;
  std::vector<std::byte> words(count * bytes);
  for (std::uint64_t at = 0; at < count; ++at) {
    const std::uint64_t any = random();
    const std::uint64_t kinds[] = {any,
                                   any & (sign | low),
                                   any & sign,
                                   (any & sign) | infinity,
                                   any | infinity,
                                   (any & (sign | low)) | (infinity >> 1 & ~low)};
    std::uint64_t word = kinds[random() % 6];
    if (finite && (word & infinity) == infinity) word &= sign | low;
    std::memcpy(words.data() + at * bytes, &word, bytes);
  }
  return words;
}

// Puts `values` at `offset` into memory of canaries.
void put(std::byte* memory, std::uint64_t offset, const std::vector<std::byte>& values) {
  std::vector<std::byte> whole(values.size() + 2 * kRoom, std::byte{0xC5});
  std::memcpy(whole.data() + offset, values.data(), values.size());
  check(cudaMemcpy(memory, whole.data(), whole.size(), cudaMemcpyDefault));
  // The library's streams wait for nothing, and a copy from pageable memory may still be on its
  // way.
  check(cudaDeviceSynchronize());
}

std::vector<std::byte> take(const std::byte* memory, std::uint64_t bytes) {
  std::vector<std::byte> whole(bytes + 2 * kRoom);
  check(cudaMemcpy(whole.data(), memory, whole.size(), cudaMemcpyDefault));
  return whole;
}

void compare_combines(Memory& to, Memory& from, Dtype dtype, std::uint64_t count, Tally& tally) {
  const std::uint64_t word = dtype_size(dtype);
  const auto a = make_words(dtype, count, 1, false), b = make_words(dtype, count, 2, false);
  // Aligned alike and not, by words and by bytes.
  const std::uint64_t offsets[][2] = {
      {16, 16}, {16 + word, 16 + word}, {16, 16 + word}, {16 + word, 32}, {1, 1}, {3, 16}};
  for (int reduction = 0; reduction < plan::kReductionCount; ++reduction) {
    const auto which = static_cast<Reduction>(reduction);
    for (int places = 0; places < 9; ++places) {
      for (const auto& [into, of] : offsets) {
        std::byte* const target = to.at(places % 3);
        std::byte* const source = from.at(places / 3);
        put(target, into, a);
        put(source, of, b);
        std::vector<std::byte> expected = take(target, a.size());
        combine(which, dtype, count, expected.data() + into, b.data());
        const Status status = combine_anywhere(which, dtype, count, target + into, source + of);
        if (!status.ok()) throw std::runtime_error(status.message());
        const bool agrees = take(target, a.size()) == expected;
        tally.add(agrees, "reduction", dtype, 100 * reduction + places, count);
      }
    }
    // An array with itself.
    put(to.device, 16, a);
    std::vector<std::byte> expected = a;
    combine(which, dtype, count, expected.data(), expected.data());
    std::byte* const own = to.device + 16;
    const bool runs = combine_anywhere(which, dtype, count, own, own).ok();
    const auto found = take(to.device, a.size());
    tally.add(runs && std::memcmp(found.data() + 16, expected.data(), a.size()) == 0,
              "reduction with itself", dtype, reduction, count);
  }
}

// Sums of arrays with gaps of so many bytes between them.
void compare_exact_sums(Memory& memory, Dtype dtype, std::uint64_t count, Tally& tally) {
  constexpr int kArrays = 5;
  const std::uint64_t bytes = count * dtype_size(dtype);
  for (const bool finite : {true, false}) {
    for (const std::uint64_t gap : {std::uint64_t{0}, std::uint64_t{1}, 16 - bytes % 16}) {
      const std::uint64_t stride = bytes + gap;
      std::vector<std::byte> all(stride * kArrays);
      for (int array = 0; array < kArrays; ++array) {
        const auto words = make_words(dtype, count, 10 + static_cast<unsigned>(array), finite);
        std::memcpy(all.data() + stride * static_cast<std::uint64_t>(array), words.data(), bytes);
      }
      Operands arrays;
      arrays.stride = stride;
      arrays.count = kArrays;
      arrays.is_exact = true;
      for (const std::uint32_t divisor : {1, 4, 5}) {
        arrays.divisor = divisor;
        std::vector<std::byte> expected = all;
        arrays.first = expected.data();
        sum_exactly(dtype, count, arrays, expected.data());
        for (int place = 0; place < 2; ++place) {
          put(memory.at(place), 16, all);
          std::byte* const first = memory.at(place) + 16;
          arrays.first = first;
          if (!sum_anywhere(dtype, count, arrays, first).ok())
            throw std::runtime_error("an exact sum");
          const auto found = take(memory.at(place), all.size());
          tally.add(std::memcmp(found.data() + 16, expected.data(), all.size()) == 0, "exact sum",
                    dtype, static_cast<int>(10 * divisor) + place, count);
        }
      }
    }
  }
}

void compare_statistics(Memory& memory, Dtype dtype, std::uint64_t count, Tally& tally) {
  for (const bool finite : {true, false}) {
    const auto values = make_words(dtype, count, 3, finite);
    const Statistics expected = statistics(dtype, count, values.data());
    for (const std::uint64_t offset :
         {std::uint64_t{16}, 16 + dtype_size(dtype), std::uint64_t{1}}) {
      put(memory.device, offset, values);
      const auto found = statistics_anywhere(dtype, count, memory.device + offset);
      if (!found.ok()) throw std::runtime_error(found.status().message());
      const bool agrees = std::memcmp(&found->least, &expected.least, sizeof(double)) == 0 &&
                          std::memcmp(&found->most, &expected.most, sizeof(double)) == 0 &&
                          found->largest == expected.largest &&
                          found->all_finite == expected.all_finite;
      tally.add(agrees, "statistics", dtype, static_cast<int>(offset), count);
    }
  }
}

int run() {
  Memory to, from;
  Tally tally;
  for (const Dtype dtype : kDtypes) {
    for (const std::uint64_t count : {1, 2, 7, 33, 1025, 20'011}) {
      compare_combines(to, from, dtype, count, tally);
      compare_exact_sums(to, dtype, count, tally);
    }
    for (const std::uint64_t count : {1, 2, 7, 33, 8191, 300'007}) {
      compare_statistics(to, dtype, count, tally);
    }
  }
  std::printf("%d reductions and statistics agree, %d do not\n", tally.agree, tally.differ);
  return tally.differ == 0 && tally.agree > 0 ? 0 : 1;
}

// The best of several, of 64 MiB, waiting for the GPU included.
template <typename Work>
void time(const char* what, Dtype dtype, double bytes, Work work) {
  double best = 1;
  for (int round = 0; round < 10; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    if (!work().ok()) throw std::runtime_error(what);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    best = std::min(best, taken.count());
  }
  std::printf("%-24s %-5s %8.1f us %8.1f GB/s\n", what, dtype_name(dtype), 1e6 * best,
              1e-9 * bytes / best);
}

void time_all() {
  constexpr std::uint64_t kBytes = 64 << 20;
  std::byte *into = nullptr, *from = nullptr, *pinned = nullptr;
  check(cudaMalloc(reinterpret_cast<void**>(&into), kBytes));
  check(cudaMalloc(reinterpret_cast<void**>(&from), kBytes));
  check(cudaMallocHost(reinterpret_cast<void**>(&pinned), kBytes));
  std::memset(pinned, 0, kBytes);
  check(cudaMemset(into, 0, kBytes));
  check(cudaMemset(from, 0, kBytes));
  for (const Dtype dtype : kDtypes) {
    const std::uint64_t count = kBytes / dtype_size(dtype);
    const auto reduce = [&](Reduction reduction, const std::byte* of, std::uint64_t values) {
      return [=] { return combine_anywhere(reduction, dtype, values, into, of); };
    };
    // Bytes that cross the bus or the GPU's memory.
    time("sum", dtype, 3.0 * kBytes, reduce(Reduction::kSum, from, count));
    time("minimum", dtype, 3.0 * kBytes, reduce(Reduction::kMinimum, from, count));
    time("sum, one value off", dtype, 3.0 * kBytes,
         reduce(Reduction::kSum, from + dtype_size(dtype), count - 1));
    const auto add = [&](bool is_exact) {
      Operands arrays;
      arrays.first = from;
      arrays.stride = kBytes / 4;
      arrays.count = 4;
      arrays.is_exact = is_exact;
      return [=] { return sum_anywhere(dtype, count / 4, arrays, into); };
    };
    time("four arrays in order", dtype, 1.25 * kBytes, add(false));
    time("four arrays exactly", dtype, 1.25 * kBytes, add(true));
    time("sum from pinned memory", dtype, kBytes, reduce(Reduction::kSum, pinned, count));
    time("statistics", dtype, kBytes,
         [&] { return statistics_anywhere(dtype, count, into).status(); });
  }
  cudaFree(into);
  cudaFree(from);
  cudaFreeHost(pinned);
}

}  // namespace
}  // namespace thinwire::collective

int main(int count, char** arguments) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: no GPU\n");
    return 77;
  }
  try {
    const int result = thinwire::collective::run();
    const bool times = count > 1 && std::strcmp(arguments[1], "time") == 0;
    if (result == 0 && times) thinwire::collective::time_all();
    return result;
  } catch (const std::exception& error) {
    std::printf("FAILED: %s\n", error.what());
    return 1;
  }
}
