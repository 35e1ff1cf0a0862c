// CUDA C++ for a host's compiler, included before each CUDA source that the emulator runs. Types
// and API are those of CUDA's own headers.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

// Code that differs between host and device is the device's, as for compute capability 9.0, but for
// PTX, which needs __CUDACC__.
#ifndef EMULATOR_TAKES_HOST_FORMS
#define __CUDA_ARCH__ 900
#endif

// Each thread block has a thread of the host.
#undef __shared__
#define __shared__ thread_local
#undef __launch_bounds__
#define __launch_bounds__(...)
#undef __grid_constant__
#define __grid_constant__

// CUDA's take numbers of two types, which std's do not.
template <typename A, typename B>
constexpr std::common_type_t<A, B> min(A a, B b) {
  return b < a ? b : a;
}
template <typename A, typename B>
constexpr std::common_type_t<A, B> max(A a, B b) {
  return a < b ? b : a;
}

#include "indices.h"
#include "numbers.h"
#include "together.h"
