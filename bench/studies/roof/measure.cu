// Measures formats of bf16 chunks beside what memory allows, on one GPU of compute capability 9.0:
//
//     nvcc -std=c++20 -arch=sm_90 -O3 bench/studies/roof/measure.cu -o roof
//     ./roof FILE.bf16 [once]
//
// The file is repeated to 64 MiB. Caches are flushed before each run; times are medians of 20, GB/s
// are those of the values. Values that come back and frames of 16 MiB are compared. With `once`
// each kernel runs a single time, for a profiler. check.cpp looks for mistakes without a GPU.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "variants.h"

namespace {

using namespace roof;

constexpr std::uint64_t kMiB = 1 << 20, kMost = 64 * kMiB, kFlush = 256 * kMiB;
constexpr std::uint64_t kSizes[] = {kMost, 16 * kMiB};

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorString(error));
  std::exit(2);
}

template <typename Element>
Element* allocate(std::uint64_t count) {
  void* at = nullptr;
  check(cudaMalloc(&at, count * sizeof(Element)));
  check(cudaMemset(at, 0, count * sizeof(Element)));
  return static_cast<Element*>(at);
}

// Memory of the GPU, and the values.
struct Bench {
  std::vector<std::uint16_t> values;
  int runs;  // the first three do not count
  std::uint8_t* in = allocate<std::uint8_t>(kMost);
  std::uint8_t* frame = allocate<std::uint8_t>(kMost * 3 / 2);
  std::uint8_t* slots = allocate<std::uint8_t>(kMost * 3 / 2);
  std::uint8_t* back = allocate<std::uint8_t>(kMost);
  std::uint8_t* flush = allocate<std::uint8_t>(kFlush);
  Word* words = allocate<Word>(kMiB);
  std::uint64_t* frame_bytes = allocate<std::uint64_t>(1);
  std::uint32_t* damaged = allocate<std::uint32_t>(1);
  std::uint32_t launches = 0;
  cudaEvent_t begin, end;

  template <typename Launch>
  double median_us(const Launch& launch) const {
    std::vector<float> times;
    for (int run = 0; run < runs; ++run) {
      check(cudaMemsetAsync(flush, 0, kFlush));
      check(cudaEventRecord(begin));
      launch();
      check(cudaEventRecord(end));
      check(cudaEventSynchronize(end));
      float ms = 0;
      check(cudaEventElapsedTime(&ms, begin, end));
      if (run >= 3 || runs == 1) times.push_back(ms);
    }
    check(cudaGetLastError());
    std::sort(times.begin(), times.end());
    return times[times.size() / 2] * 1e3;
  }

  EncodeJob encode_job(std::uint32_t chunks) {
    return {
        reinterpret_cast<const uint4*>(in), frame, words, frame_bytes, slots, chunks, ++launches};
  }
  DecodeJob decode_job(std::uint32_t chunks) {
    return {frame, reinterpret_cast<uint4*>(back), words, damaged, chunks, ++launches};
  }
  // Forgets what the variant before left.
  void clear() const {
    check(cudaMemset(frame, 0xA5, kMost * 3 / 2));
    check(cudaMemset(back, 0x5A, kMost));
    check(cudaMemset(damaged, 0, sizeof *damaged));
    check(cudaMemset(words, 0, kMiB * sizeof *words));
  }
};

// Warps of a multiprocessor.
template <typename Kernel>
int allow(Kernel* kernel, int threads, std::size_t shared) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(shared)));
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared));
  return blocks * threads / 32;
}

// Blocks of this kernel may be there before the one before it ends.
template <typename F>
void launch_gather(const EncodeJob& job) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = (job.chunks + kGatherChunks - 1) / kGatherChunks;
  config.blockDim = kGatherThreads;
  config.dynamicSmemBytes = 64;
  config.attrs = &early;
  config.numAttrs = 1;
  check(cudaLaunchKernelEx(&config, gather<F>, job));
}

template <typename V>
const char* verdict(const Bench& bench, std::uint64_t bytes, std::uint64_t frame_bytes) {
  std::vector<std::uint8_t> got(std::max(bytes, frame_bytes));
  std::uint32_t damaged = 0;
  check(cudaMemcpy(&damaged, bench.damaged, sizeof damaged, cudaMemcpyDeviceToHost));
  check(cudaMemcpy(got.data(), bench.back, bytes, cudaMemcpyDeviceToHost));
  if (damaged != 0) return "FOUND DAMAGED";
  if (std::memcmp(got.data(), bench.values.data(), bytes) != 0) return "OTHER VALUES";
  if (bytes == kMost) return "verified";  // the reference takes long
  const auto expected = V::kReference(bench.values.data(), bytes / 2);
  check(cudaMemcpy(got.data(), bench.frame, frame_bytes, cudaMemcpyDeviceToHost));
  const bool is_same =
      frame_bytes == expected.size() &&
      std::equal(expected.begin() + V::kHeader, expected.end(), got.begin() + V::kHeader);
  return is_same ? "verified, frame too" : "ANOTHER FRAME";
}

template <typename V>
void measure(Bench& bench, const char* name) {
  const int encode_warps = allow(V::kEncode, V::kThreads, V::kEncodeShared);
  const int decode_warps = allow(V::kDecode, V::kThreads, V::kDecodeShared);
  for (const std::uint64_t bytes : kSizes) {
    if (bench.runs == 1 && bytes != kMost) continue;
    const auto chunks = static_cast<std::uint32_t>(bytes / 2 / V::kChunkValues);
    const auto blocks = static_cast<unsigned>(bytes / 2 / V::kBlockValues);
    bench.clear();
    const double encode_us = bench.median_us([&] {
      const EncodeJob job = bench.encode_job(chunks);
      V::kEncode<<<blocks, V::kThreads, V::kEncodeShared>>>(job);
      if constexpr (V::kGathers) launch_gather<typename V::Its>(job);
    });
    std::uint64_t frame_bytes = 0;
    check(cudaMemcpy(&frame_bytes, bench.frame_bytes, 8, cudaMemcpyDeviceToHost));
    const double decode_us = bench.median_us(
        [&] { V::kDecode<<<blocks, V::kThreads, V::kDecodeShared>>>(bench.decode_job(chunks)); });
    std::printf(
        "%-40s %2d MiB ratio %.4f encode %5.1f us %4.0f GB/s %2d warps, "
        "decode %5.1f us %4.0f GB/s %2d warps: %s\n",
        name, static_cast<int>(bytes / kMiB), double(bytes) / frame_bytes, encode_us,
        bytes / encode_us / 1e3, encode_warps, decode_us, bytes / decode_us / 1e3, decode_warps,
        verdict<V>(bench, bytes, frame_bytes));
  }
}

// Measures an encode that does not wait for where to write.
template <typename F>
void measure_unwaiting(Bench& bench, const char* name) {
  constexpr int kThreads = 32 * F::kBlockWarps;
  constexpr std::size_t kShared = encode_shared<F>();
  allow(encode<F, Learns::kGuesses>, kThreads, kShared);
  const auto chunks = static_cast<std::uint32_t>(kMost / 2 / F::kChunkValues);
  const auto blocks = static_cast<unsigned>(kMost / 2 / F::kBlockValues);
  const double us = bench.median_us([&] {
    encode<F, Learns::kGuesses><<<blocks, kThreads, kShared>>>(bench.encode_job(chunks));
  });
  std::printf("%-40s 64 MiB without waiting: encode %5.1f us\n", name, us);
}

// Reads so many pieces of 16 bytes and writes so many.
template <int kIn, int kOut>
__global__ void __launch_bounds__(256) move(const uint4* in, uint4* out) {
  const std::uint32_t warp = (blockIdx.x * 256 + threadIdx.x) / 32, lane = threadIdx.x % 32;
  uint4 all[kIn], mixed{};
#pragma unroll
  for (int at = 0; at < kIn; ++at) {
    all[at] = __ldcs(in + (std::uint64_t{warp} * kIn + at) * 32 + lane);
    mixed.x ^= all[at].x ^ all[at].y ^ all[at].z ^ all[at].w;
  }
#pragma unroll
  for (int at = 0; at < kOut; ++at) {
    uint4 own = all[at % kIn];
    own.x ^= mixed.x + at;
    __stcs(out + (std::uint64_t{warp} * kOut + at) * 32 + lane, own);
  }
}

template <int kIn, int kOut>
void measure_move(Bench& bench) {
  for (const std::uint64_t bytes : kSizes) {
    const auto blocks = static_cast<unsigned>(bytes / 16 / std::max(kIn, kOut) / 256);
    const double us = bench.median_us([&] {
      move<kIn, kOut><<<blocks, 256>>>(reinterpret_cast<uint4*>(bench.in),
                                       reinterpret_cast<uint4*>(bench.frame));
    });
    std::printf("%d pieces read, %d written: of %2d MiB, the larger, %5.1f us %4.0f GB/s\n", kIn,
                kOut, static_cast<int>(bytes / kMiB), us, bytes / us / 1e3);
  }
}

std::vector<std::uint16_t> read_values(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
  if (bytes.size() < 2) std::puts("no values"), std::exit(2);
  std::vector<std::uint16_t> values(kMost / 2);
  for (std::size_t at = 0; at < values.size(); ++at) {
    std::memcpy(&values[at], &bytes[2 * (at % (bytes.size() / 2))], 2);
  }
  return values;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return std::puts("roof FILE.bf16 [once]"), 2;
  Bench bench{.values = read_values(arguments[1]), .runs = count > 2 ? 1 : 23};
  check(cudaEventCreate(&bench.begin));
  check(cudaEventCreate(&bench.end));
  check(cudaMemcpy(bench.in, bench.values.data(), kMost, cudaMemcpyHostToDevice));
  for (int at = 0; at < 3000 && bench.runs > 1; ++at) {
    check(cudaMemsetAsync(bench.flush, 0, kFlush));  // clocks rise
  }
  check(cudaDeviceSynchronize());
  measure_move<4, 4>(bench);
  measure_move<7, 5>(bench);
  measure_move<5, 7>(bench);
  for_each_variant([&]<typename V>(V, const char* name) { measure<V>(bench, name); });
  measure_unwaiting<Format<4, 8, 8, Parts::kApart>>(bench, "apart, 8 warps, 4 rows");
  measure_unwaiting<Format<8, 8, 8, Parts::kTogether>>(bench, "together, 8 warps, 8 rows");
  return 0;
}
