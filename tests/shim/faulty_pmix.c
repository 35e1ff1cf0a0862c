// A library preloaded after Thinwire's: PMIx with failures of one rank's own, as a server has that
// is busy or restarts.
//
// FAULTY_PMIX=RANK:CALL:TIMES:CODE, where CALL is a key that PMIx_Get asks for, "put" or "commit".
// SLOW_PMIX=RANK:OF:MILLISECONDS is how long rank RANK's questions after the capabilities of OF
// take.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failures;

// As PMIx has it.
struct Process {
  char name_space[256];
  uint32_t rank;
};

static void delay(const struct Process* process, const char* key) {
  int rank = -1, of = -1, milliseconds = 0;
  const char* told = getenv("SLOW_PMIX");
  const char* own = getenv("PMIX_RANK");
  if (told == NULL || own == NULL || strcmp(key, "thinwire.capabilities") != 0) return;
  if (sscanf(told, "%d:%d:%d", &rank, &of, &milliseconds) != 3 || rank != atoi(own)) return;
  if (process->rank == (uint32_t)of) usleep(1000 * (useconds_t)milliseconds);
}

static int failure_of(const char* call) {
  int rank = -1, times = 0, code = 0;
  char wanted[64] = "";
  const char* told = getenv("FAULTY_PMIX");
  const char* own = getenv("PMIX_RANK");
  if (told == NULL || own == NULL) return 0;
  if (sscanf(told, "%d:%63[^:]:%d:%d", &rank, wanted, &times, &code) != 4) return 0;
  if (rank != atoi(own) || strcmp(call, wanted) != 0) return 0;
  return __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED) < times ? code : 0;
}

int PMIx_Get(const void* process, const char* key, const void* info, size_t count, void** value) {
  const int code = key == NULL ? 0 : failure_of(key);
  if (code != 0) return code;
  if (process != NULL && key != NULL) delay(process, key);
  int (*call)(const void*, const char*, const void*, size_t, void**) = NULL;
  *(void**)&call = dlsym(RTLD_NEXT, "PMIx_Get");
  return call(process, key, info, count, value);
}

int PMIx_Put(uint8_t scope, const char* key, void* value) {
  const int code = strncmp(key, "thinwire", 8) == 0 ? failure_of("put") : 0;
  if (code != 0) return code;
  int (*call)(uint8_t, const char*, void*) = NULL;
  *(void**)&call = dlsym(RTLD_NEXT, "PMIx_Put");
  return call(scope, key, value);
}

int PMIx_Commit(void) {
  const int code = failure_of("commit");
  if (code != 0) return code;
  int (*call)(void) = NULL;
  *(void**)&call = dlsym(RTLD_NEXT, "PMIx_Commit");
  return call();
}
