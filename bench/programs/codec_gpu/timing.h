// How often, how cold, and which of the measured times counts.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "device.h"

namespace thinwire::bench {

// The bench's own kernels: holding a stream, warming clocks, comparing, and ceilings.

// Keeps the stream busy for `microseconds`, so that what is enqueued meanwhile starts at once.
void hold(const Stream& stream, std::uint64_t microseconds);

// Keeps every processor of the GPU busy until its clocks have risen.
void warm_clocks(const Stream& stream, double seconds);

// Adds to *differences, device memory, how many bytes differ. Both sides begin at a multiple of 8.
void count_differences(const Stream& stream, const std::byte* left, const std::byte* right,
                       std::uint64_t bytes, unsigned long long* differences);

// Reads `bytes` bytes at `source` and writes half as many at `target`: the traffic of a codec that
// halves its input. `bytes` is a multiple of 32.
void halve(const Stream& stream, const std::byte* source, std::byte* target, std::uint64_t bytes);

inline constexpr std::uint64_t kMebibyte = 1 << 20;
inline constexpr std::uint64_t kFlushBytes = 256 * kMebibyte;  // several times the L2 cache
inline constexpr int kWarmUps = 3;
inline constexpr std::uint64_t kHoldMicroseconds = 80;
inline constexpr double kFirstWarmSeconds = 0.4;
inline constexpr double kWarmSeconds = 0.1;  // after the host has checked a case

// Distinct arrays of `bytes` bytes that the calls cycle through, so that small ones are not read
// from the cache.
inline std::uint64_t slot_count(std::uint64_t bytes) {
  const std::uint64_t fitting = kFlushBytes / std::max<std::uint64_t>(bytes, 1);
  return std::clamp<std::uint64_t>(fitting, 4, 256);
}

inline int timed_calls(std::uint64_t bytes) { return bytes < 64 * kMebibyte ? 41 : 25; }

// Microseconds of calls alike.
struct Times {
  double median = 0;
  double p90 = 0;
};

inline Times summarise(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times[(times.size() * 9 + 9) / 10 - 1]};
}

// Before the first phase of a case.
inline void raise_clocks(const Stream& stream) {
  static bool cold = true;
  warm_clocks(stream, cold ? kFirstWarmSeconds : kWarmSeconds);
  cold = false;
}

// Between two phases: everything done, and the cache full of something else.
inline void flush_cache(const Stream& stream, const DeviceBytes& flush) {
  check(cudaMemsetAsync(flush.data(), 0, flush.size(), stream.get()));
  stream.finish();
}

// GPU time of `enqueue(call)` in a stream that is held, so that no launch is waited for. Each call
// is over before the next begins; `after(call)` sees what came of it.
template <typename Enqueue, typename After>
Times time_on_gpu(const Stream& stream, int calls, Enqueue&& enqueue, After&& after) {
  Event start, end;
  std::vector<double> times;
  for (int call = -kWarmUps; call < calls; ++call) {
    hold(stream, kHoldMicroseconds);
    start.record(stream);
    enqueue(call + kWarmUps);
    end.record(stream);
    stream.finish();
    if (call >= 0) times.push_back(end.microseconds_since(start));
    after(call + kWarmUps);
  }
  return summarise(std::move(times));
}

// Host time of `work(call)`, from an idle GPU until it returns; `after(call)` is not timed.
template <typename Work, typename After>
Times time_on_host(const Stream& stream, int calls, Work&& work, After&& after) {
  std::vector<double> times;
  for (int call = -kWarmUps; call < calls; ++call) {
    stream.finish();
    const auto start = std::chrono::steady_clock::now();
    work(call + kWarmUps);
    const auto end = std::chrono::steady_clock::now();
    if (call >= 0) times.push_back(std::chrono::duration<double, std::micro>(end - start).count());
    after(call + kWarmUps);
  }
  return summarise(std::move(times));
}

}  // namespace thinwire::bench
