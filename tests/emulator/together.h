// CUDA's functions by which threads of a kernel meet: barriers, exchanges of a warp, atomics.
#pragma once

#include <sched.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "indices.h"
#include "lanes.h"

// ---- Barriers ----

inline void __syncthreads() { thinwire::emulator::meet(false); }
inline int __syncthreads_or(int own) { return thinwire::emulator::meet(own != 0).nonzero != 0; }
inline int __syncthreads_and(int own) {
  const auto counted = thinwire::emulator::meet(own != 0);
  return counted.nonzero == counted.all;
}
inline void __syncwarp(unsigned mask = ~0u) { thinwire::emulator::exchange(mask, 0); }

inline unsigned __activemask() { return thinwire::emulator::active(); }

// ---- Exchanges ----

namespace thinwire::emulator {

template <typename Value>
std::uint64_t word_of(Value value) {
  static_assert(sizeof(Value) <= 8);
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof value);
  return word;
}

// `value` of the lane of that number; the own one's if it has no such lane or that one is not in
// the mask.
template <typename Value>
Value value_of(unsigned mask, Value value, unsigned own, unsigned from) {
  const Told told = exchange(mask, word_of(value));
  if (from >= kWarpLanes || (told.present >> from & 1) == 0) from = own;
  std::memcpy(&value, &told.value[from], sizeof value);
  return value;
}

inline unsigned own_lane() { return threadIdx.x % kWarpLanes; }

// Lanes in runs of `width`, as __shfl_*_sync() count them.
inline unsigned first_of_run(int width) {
  return own_lane() / static_cast<unsigned>(width) * static_cast<unsigned>(width);
}

template <typename Join>
unsigned joined(unsigned mask, unsigned own, Join&& join) {
  const Told told = exchange(mask, own);
  unsigned result = own;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    if ((told.present >> lane & 1) != 0)
      result = join(result, static_cast<unsigned>(told.value[lane]), lane);
  }
  return result;
}

}  // namespace thinwire::emulator

template <typename Value>
Value __shfl_sync(unsigned mask, Value value, int from, int width = 32) {
  using namespace thinwire::emulator;
  const unsigned lane =
      first_of_run(width) + static_cast<unsigned>(from) % static_cast<unsigned>(width);
  return value_of(mask, value, own_lane(), lane);
}
template <typename Value>
Value __shfl_up_sync(unsigned mask, Value value, unsigned distance, int width = 32) {
  using namespace thinwire::emulator;
  const unsigned own = own_lane(), inside = own - first_of_run(width);
  return value_of(mask, value, own, distance > inside ? own : own - distance);
}
template <typename Value>
Value __shfl_down_sync(unsigned mask, Value value, unsigned distance, int width = 32) {
  using namespace thinwire::emulator;
  const unsigned own = own_lane(), end = first_of_run(width) + static_cast<unsigned>(width);
  return value_of(mask, value, own, own + distance < end ? own + distance : own);
}
template <typename Value>
Value __shfl_xor_sync(unsigned mask, Value value, int bits, int width = 32) {
  using namespace thinwire::emulator;
  const unsigned own = own_lane(), other = own ^ static_cast<unsigned>(bits);
  const bool is_far = other >= first_of_run(width) + static_cast<unsigned>(width);
  return value_of(mask, value, own, is_far ? own : other);
}

inline unsigned __ballot_sync(unsigned mask, int own) {
  return thinwire::emulator::exchange(mask, own != 0).nonzero;
}
inline int __any_sync(unsigned mask, int own) { return __ballot_sync(mask, own) != 0; }
inline int __all_sync(unsigned mask, int own) {
  const auto told = thinwire::emulator::exchange(mask, own != 0);
  return told.nonzero == told.present;
}

inline unsigned __reduce_add_sync(unsigned mask, unsigned own) {
  const unsigned self = thinwire::emulator::own_lane();
  return thinwire::emulator::joined(mask, own, [self](unsigned a, unsigned b, unsigned lane) {
    return lane == self ? a : a + b;
  });
}
inline unsigned __reduce_min_sync(unsigned mask, unsigned own) {
  return thinwire::emulator::joined(mask, own,
                                    [](unsigned a, unsigned b, unsigned) { return b < a ? b : a; });
}
inline unsigned __reduce_max_sync(unsigned mask, unsigned own) {
  return thinwire::emulator::joined(mask, own,
                                    [](unsigned a, unsigned b, unsigned) { return a < b ? b : a; });
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned own) {
  return thinwire::emulator::joined(mask, own,
                                    [](unsigned a, unsigned b, unsigned) { return a | b; });
}

// ---- Memory that threads share ----

inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __threadfence(); }
inline void __threadfence_system() { __threadfence(); }
inline void __nanosleep(unsigned) { sched_yield(); }

template <typename Value, typename Change>
Value change(Value* at, Change&& changed) {
  Value before = __atomic_load_n(at, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(at, &before, changed(before), false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_SEQ_CST)) {
  }
  return before;
}

template <typename Value>
Value atomicAdd(Value* at, std::type_identity_t<Value> value) {
  return change(at, [value](Value old) { return static_cast<Value>(old + value); });
}
template <typename Value>
Value atomicOr(Value* at, std::type_identity_t<Value> value) {
  return change(at, [value](Value old) { return old | value; });
}
template <typename Value>
Value atomicAnd(Value* at, std::type_identity_t<Value> value) {
  return change(at, [value](Value old) { return old & value; });
}
template <typename Value>
Value atomicMin(Value* at, std::type_identity_t<Value> value) {
  return change(at, [value](Value old) { return value < old ? value : old; });
}
template <typename Value>
Value atomicMax(Value* at, std::type_identity_t<Value> value) {
  return change(at, [value](Value old) { return old < value ? value : old; });
}
template <typename Value>
Value atomicExch(Value* at, std::type_identity_t<Value> value) {
  return change(at, [value](Value) { return value; });
}
template <typename Value>
Value atomicCAS(Value* at, std::type_identity_t<Value> expected,
                std::type_identity_t<Value> value) {
  return change(at, [=](Value old) { return old == expected ? value : old; });
}
inline unsigned atomicInc(unsigned* at, unsigned most) {
  return change(at, [most](unsigned old) { return old >= most ? 0 : old + 1; });
}
