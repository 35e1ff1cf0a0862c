// The words of CUDA C++ that a host's compiler does not know, for kernels that the emulator runs;
// included before each CUDA source. Types and API are those of CUDA's own headers.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

// Each thread block has a thread of the host.
#undef __shared__
#define __shared__ thread_local
#undef __launch_bounds__
#define __launch_bounds__(...)
#undef __grid_constant__
#define __grid_constant__

// As overloads, of numbers of two types, too.
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
