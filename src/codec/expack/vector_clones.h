// Loops over rows, compiled for wider vector units too and chosen at load time. All arithmetic is
// on integers: the bytes are the same.
#pragma once

// Sanitizers start after that choice is made, so under them there is none.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define THINWIRE_EXPACK_CLONES \
  [[gnu::flatten, gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]]
#else
#define THINWIRE_EXPACK_CLONES
#endif
