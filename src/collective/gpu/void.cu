// Values that could not be had become NaN: what was there before must not pass for them.
#include <algorithm>

#include "codec/reduce.h"
#include "collective/gpu/kernels.h"
#include "collective/gpu/units.h"
#include "device/launch.h"

namespace thinwire::collective {
namespace {

constexpr int kThreads = 256;
constexpr std::uint64_t kMostBlocks = 1024;

template <Dtype kDtype>
__global__ void __launch_bounds__(kThreads)
    void_kernel(const device::Outcome* outcome, std::uint64_t count, std::byte* values) {
  if (device::outcome_status(*outcome) == StatusCode::kOk) return;
  using Word = codec::WordOf<kDtype>;
  const auto nan = codec::word_of<kDtype>(codec::number_of<kDtype>(static_cast<Word>(~Word{0})));
  Loose<Word> bytes;
  memcpy(&bytes, &nan, sizeof nan);
  const std::uint64_t step = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t at = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; at < count;
       at += step) {
    reinterpret_cast<Loose<Word>*>(values)[at] = bytes;
  }
}

using Kernel = void (*)(const device::Outcome*, std::uint64_t, std::byte*);

}  // namespace

Status enqueue_void(const device::Outcome* outcome, Dtype dtype, std::uint64_t count, std::byte* at,
                    device::StreamHandle stream) {
  if (dtype == Dtype::kBytes) return {StatusCode::kUnsupported, "no byte stands for none"};
  const auto kernel =
      with_float_dtype(dtype, [](auto kDtype) -> Kernel { return void_kernel<kDtype>; });
  const std::uint64_t blocks = std::clamp<std::uint64_t>(count / kThreads + 1, 1, kMostBlocks);
  return device::launch("cannot start a kernel", kernel, {blocks, kThreads}, stream, outcome, count,
                        at);
}

}  // namespace thinwire::collective
