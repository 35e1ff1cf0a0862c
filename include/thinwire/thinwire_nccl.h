/* Figures of the preload library for NCCL about the calls of its process, while the program runs.
 *
 * This function is no part of the core library: libthinwire_nccl.so exports it, so it is there
 * where that is preloaded. Look it up at run time; your program then runs without the library as
 * well:
 *
 *   tw_status (*nccl_report)(char*, uint64_t, uint64_t*) = NULL;
 *   *(void**)&nccl_report = dlsym(RTLD_DEFAULT, "tw_nccl_report");
 */
#ifndef THINWIRE_THINWIRE_NCCL_H
#define THINWIRE_THINWIRE_NCCL_H

#include "thinwire/thinwire.h"

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* BEGIN declarations */

/* Writes the report of this process so far, the JSON text that THINWIRE_REPORT has it write to a
 * file when it ends, into the `room` bytes at `text`, with a NUL after it. `bytes` gets the length
 * with the NUL; where that is more than `room`, nothing is written, and `text` may then be NULL.
 *
 * The text is empty, of 1 byte, where the process has made no communicator, and where nothing is
 * counted: no call could be compressed (as under the codec "off", or "auto" without THINWIRE_LINK),
 * and neither THINWIRE_REPORT nor THINWIRE_TRACE nor THINWIRE_METRICS is set.
 *
 * May be called from any thread at any time; waits for no GPU. Calls that streams have not come
 * past yet may lack what becomes known there (`frames`, `spilled_blocks`). Later versions may add
 * names to the text. TW_INVALID_ARGUMENT where `bytes` is NULL, or `text` is and there is `room`.
 */
tw_status tw_nccl_report(char* text, uint64_t room, uint64_t* bytes);

/* END declarations */

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif /* THINWIRE_THINWIRE_NCCL_H */
