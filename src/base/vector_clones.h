// Loops over arrays, compiled for wider vector units too and chosen at load time. The bytes are the
// same: the arithmetic on floats is one multiplication, never contracted.
#pragma once

// Sanitizers start after that choice is made, so under them there is none.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define THINWIRE_VECTOR_CLONES \
  [[gnu::flatten, gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]]
#else
#define THINWIRE_VECTOR_CLONES
#endif
