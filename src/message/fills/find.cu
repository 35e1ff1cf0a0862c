// Finding the missing values of an array: as message/find_fill.cpp does, by several reads of the
// array instead of any word to the host.
#include <algorithm>

#include "codec/integers.h"
#include "message/fills/block.cuh"

namespace thinwire::message::fills {
namespace {

using Kind = codec::Fill::Kind;

constexpr std::uint64_t kMostBlocks = 1056;
constexpr std::uint64_t kValuesOfThread = 16;

__device__ unsigned long long key_of(std::uint64_t position) { return ~position; }
__device__ std::uint64_t position_of(unsigned long long key) { return ~key; }

// Calls visit(the word of a value, its position) for each of the thread's.
template <Dtype kDtype, typename Visit>
__device__ void for_each_word(const EncodeWork& work, Visit&& visit) {
  using Word = WordOf<kDtype>;
  const std::uint64_t count = work.layout.array.shape.count();
  const std::uint64_t step = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t at = blockIdx.x * std::uint64_t{kThreads} + threadIdx.x; at < count;
       at += step) {
    visit(load_value<Word>(work.source + at * sizeof(Word)), at);
  }
}

// The largest finite magnitude, the first NaN, a value as the spec has it, and integers.
template <Dtype kDtype>
__global__ void __launch_bounds__(kThreads) look(const __grid_constant__ EncodeWork work) {
  using F = FloatWordsOf<kDtype>;
  using Word = WordOf<kDtype>;
  __shared__ unsigned long long largest, nan;
  if (threadIdx.x == 0) largest = nan = 0;
  Word own_largest = 0;
  unsigned long long own_nan = 0;
  bool equal = false, integers = false;
  for_each_word<kDtype>(work, [&](Word word, std::uint64_t at) {
    const auto magnitude = static_cast<Word>(word & F::kMagnitude);
    if (magnitude < F::kInfinity && magnitude > own_largest) own_largest = magnitude;
    if (magnitude > F::kInfinity && own_nan == 0) own_nan = key_of(at);
    equal |= word == static_cast<Word>(work.wanted);
    if constexpr (kDtype == Dtype::kF64) integers |= codec::reads_as_integer(word);
  });
  __syncthreads();
  if (own_largest != 0) atomicMax(&largest, static_cast<unsigned long long>(own_largest));
  if (own_nan != 0) atomicMax(&nan, own_nan);
  const bool any_equal = __syncthreads_or(equal) != 0;
  const bool any_integers = __syncthreads_or(integers) != 0;
  if (threadIdx.x != 0) return;
  State& state = *work.state;
  atomicMax(&state.largest, largest);
  atomicMax(&state.nan, nan);
  if (any_equal) atomicOr(&state.equal, 1u);
  if (any_integers && work.looks_for_integers) atomicOr(&state.integers, 1u);
}

// Keeps a value that stands apart, or says that there are too many kinds of them.
__device__ void keep_kind(State& state, unsigned long long word) {
  for (unsigned long long& kind : state.kind) {
    unsigned long long known = *static_cast<volatile unsigned long long*>(&kind);
    if (known == 0) known = atomicCAS(&kind, 0ull, word);
    if (known == 0 || known == word) return;
  }
  atomicOr(&state.too_many, 1u);
}

// The kinds of values that stand apart. Most arrays have too many after a few values.
template <Dtype kDtype>
__global__ void __launch_bounds__(kThreads) tell_apart(const __grid_constant__ EncodeWork work) {
  using F = FloatWordsOf<kDtype>;
  using Word = WordOf<kDtype>;
  State& state = *work.state;
  const auto largest = static_cast<Word>(state.largest);
  if (largest <= F::kGap) {
    if (blockIdx.x == 0 && threadIdx.x == 0) atomicOr(&state.too_many, 1u);
    return;
  }
  const auto least = static_cast<Word>(largest - F::kGap);
  bool others = false;
  for_each_word<kDtype>(work, [&](Word word, std::uint64_t) {
    const auto magnitude = static_cast<Word>(word & F::kMagnitude);
    others |= magnitude < least && magnitude != 0;
    if (magnitude < least || magnitude >= F::kInfinity) return;
    if (*static_cast<volatile unsigned*>(&state.too_many) == 0) keep_kind(state, word);
  });
  if (__syncthreads_or(others) != 0 && threadIdx.x == 0) atomicOr(&state.others, 1u);
}

// How often each kind comes, and where first; NaN is the one after the last.
template <Dtype kDtype>
__global__ void __launch_bounds__(kThreads) count_kinds(const __grid_constant__ EncodeWork work) {
  using Word = WordOf<kDtype>;
  __shared__ unsigned long long times[kMostFills + 1], first[kMostFills + 1];
  State& state = *work.state;
  const bool has_nan = state.nan != 0;
  if (state.too_many != 0 && !has_nan) return;
  if (threadIdx.x <= kMostFills) times[threadIdx.x] = first[threadIdx.x] = 0;
  Word kind[kMostFills + 1];
  for (int at = 0; at < kMostFills; ++at) kind[at] = static_cast<Word>(state.kind[at]);
  kind[kMostFills] =
      has_nan ? load_value<Word>(work.source + position_of(state.nan) * sizeof(Word)) : Word{0};
  unsigned long long own_times[kMostFills + 1] = {}, own_first[kMostFills + 1] = {};
  for_each_word<kDtype>(work, [&](Word word, std::uint64_t at) {
    for (int each = 0; each <= kMostFills; ++each) {
      if (word != kind[each]) continue;
      ++own_times[each];
      if (own_first[each] == 0) own_first[each] = key_of(at);
    }
  });
  __syncthreads();
  for (int each = 0; each <= kMostFills; ++each) {
    if (own_times[each] == 0) continue;
    atomicAdd(&times[each], own_times[each]);
    atomicMax(&first[each], own_first[each]);
  }
  __syncthreads();
  if (threadIdx.x > kMostFills || times[threadIdx.x] == 0) return;
  atomicAdd(&state.times[threadIdx.x], times[threadIdx.x]);
  atomicMax(&state.first[threadIdx.x], first[threadIdx.x]);
}

// The kind of "auto": the most frequent, of equally frequent ones the first, NaN after all others.
template <Dtype kDtype>
__device__ int chosen_kind(const State& state) {
  using F = FloatWordsOf<kDtype>;
  const bool takes_kinds =
      has_magnitudes(kDtype) && state.too_many == 0 &&
      (state.others != 0 || static_cast<WordOf<kDtype>>(state.largest) > F::kHigh);
  int best = -1;
  for (int each = 0; takes_kinds && each < kMostFills && state.kind[each] != 0; ++each) {
    const bool is_more = best < 0 || state.times[each] > state.times[best];
    const bool is_first = best >= 0 && state.times[each] == state.times[best] &&
                          state.first[each] > state.first[best];
    if (is_more || is_first) best = each;
  }
  if (state.nan == 0) return best;
  return best < 0 || state.times[kMostFills] > state.times[best] ? kMostFills : best;
}

// One thread.
template <Dtype kDtype>
__global__ void choose(const __grid_constant__ EncodeWork work) {
  using Word = WordOf<kDtype>;
  State& state = *work.state;
  const int kind = work.kind == Kind::kAuto ? chosen_kind<kDtype>(state) : -1;
  const bool is_nan = work.kind == Kind::kNan || kind == kMostFills;
  if (work.kind == Kind::kValue) {
    state.has_fill = state.equal;
    state.fill = work.wanted;
  } else if (is_nan && state.nan != 0) {
    state.has_fill = 1;
    state.fill = load_value<Word>(work.source + position_of(state.nan) * sizeof(Word));
  } else if (kind >= 0) {
    state.has_fill = 1;
    state.fill = state.kind[kind];
  }
  if (state.has_fill == 0) state.fill = 0;
  if (work.told == nullptr) return;
  work.told[0] = state.has_fill;
  work.told[1] = state.fill;
  __threadfence_system();
}

}  // namespace

Status enqueue_find(const EncodeWork& work, device::StreamHandle stream) {
  const std::uint64_t count = work.layout.array.shape.count();
  const device::Grid grid{
      std::clamp<std::uint64_t>(count / (kThreads * kValuesOfThread), 1, kMostBlocks), kThreads};
  const char* const what = "cannot look for missing values";
  return with_float_dtype(work.layout.array.dtype, [&](auto kDtype) -> Status {
    const Status looked = device::launch(what, look<kDtype>, grid, stream, work);
    if (!looked.ok()) return looked;
    if (work.kind == Kind::kAuto && has_magnitudes(kDtype)) {
      const Status told = device::launch(what, tell_apart<kDtype>, grid, stream, work);
      if (!told.ok()) return told;
      const Status counted = device::launch(what, count_kinds<kDtype>, grid, stream, work);
      if (!counted.ok()) return counted;
    }
    return device::launch(what, choose<kDtype>, {1, 1}, stream, work);
  });
}

}  // namespace thinwire::message::fills
