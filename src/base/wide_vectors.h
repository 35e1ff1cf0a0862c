// Whether code that is written for vectors of 256 bits may run here.
#pragma once

namespace thinwire {

// AVX2, and POPCNT, which nothing has AVX2 without.
inline bool has_wide_vectors() {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
#else
  return false;
#endif
}

}  // namespace thinwire
