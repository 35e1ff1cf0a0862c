// Poly1305 of libsodium: the vector unit's on x86-64, else the one of 64-bit integers.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The tag of a message under a key that serves this message alone.
void fast_poly1305(uint8_t tag[16], const uint8_t* message, size_t bytes, const uint8_t key[32]);

#ifdef __cplusplus
}
#endif
