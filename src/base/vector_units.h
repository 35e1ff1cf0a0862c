// Code for wider vector units than every processor has.
#pragma once

// Loops over arrays, compiled for wider vector units too and chosen at load time. The bytes are the
// same: the arithmetic on floats is one multiplication, never contracted.

// A build for tests of this machine names its vector units alone: of the clones one is ever run.
#if defined(THINWIRE_ONE_VECTOR_UNIT) && defined(__GNUC__) && !defined(__clang__)
#define THINWIRE_VECTOR_CLONES [[gnu::flatten, gnu::target(THINWIRE_ONE_VECTOR_UNIT)]]

// Sanitizers start after that choice is made, so under them there is none.
#elif defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define THINWIRE_VECTOR_CLONES \
  [[gnu::flatten, gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]]
#else
#define THINWIRE_VECTOR_CLONES
#endif

namespace thinwire {

// Whether code that is written for vectors of 256 bits may run here: AVX2, and POPCNT, which
// nothing has AVX2 without.
inline bool has_wide_vectors() {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
#else
  return false;
#endif
}

}  // namespace thinwire
