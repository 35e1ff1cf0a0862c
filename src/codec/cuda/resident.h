// How many thread blocks a multiprocessor is to hold, which bounds the registers of a thread.
#pragma once

namespace thinwire::codec::cuda {

// Threads that a multiprocessor holds.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr int kProcessorThreads = 1024;
#elif defined(__CUDA_ARCH__) && \
    ((__CUDA_ARCH__ > 800 && __CUDA_ARCH__ < 900) || __CUDA_ARCH__ >= 1200)
inline constexpr int kProcessorThreads = 1536;
#else
inline constexpr int kProcessorThreads = 2048;
#endif

// `blocks` of so many threads each, or as many as there are threads for.
constexpr int resident(int threads, int blocks) {
  return threads * blocks <= kProcessorThreads ? blocks : kProcessorThreads / threads;
}

}  // namespace thinwire::codec::cuda
