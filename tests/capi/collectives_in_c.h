/* A test in C, for one in C++ to call. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Runs every operation on 1 to 8 ranks, each a thread; what went wrong, or "". */
const char* collectives_in_c(int ranks);

#ifdef __cplusplus
}
#endif
