#include "poly1305.h"

#include <string.h>

#include "utils.h"
#ifdef __SSE2__
#include "sse2/poly1305_sse2.h"
#define IMPLEMENTATION crypto_onetimeauth_poly1305_sse2_implementation
#else
#include "donna/poly1305_donna.h"
#define IMPLEMENTATION crypto_onetimeauth_poly1305_donna_implementation
#endif

void fast_poly1305(uint8_t tag[16], const uint8_t* message, size_t bytes, const uint8_t key[32]) {
  IMPLEMENTATION.onetimeauth(tag, message, bytes, key);
}

// libsodium's own lies in a file that wants the whole library.
void sodium_memzero(void* const bytes, const size_t count) { explicit_bzero(bytes, count); }
