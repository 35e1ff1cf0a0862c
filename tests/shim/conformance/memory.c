// Arrays of the program's own, or with SHIM_TEST_FAKE_DEVICE in the fake device's memory: all of
// them, or with CONFORMANCE_MEMORY=mixed every other pair on rank 0 and the rest on other ranks, so
// that both kinds meet.
#include <stdlib.h>
#include <string.h>

#include "conformance.h"

#ifdef SHIM_TEST_FAKE_DEVICE
#include "../fake_device/memory.h"

static int turn;

static int on_device(void) {
  const char* kind = getenv("CONFORMANCE_MEMORY");
  if (kind == NULL || strcmp(kind, "mixed") != 0) return 1;
  return (turn++ / 2 + rank) % 2 == 0;
}

static void* of_device(size_t count) { return fake_device_allocate(count); }

static void release_device(void) {
  fake_device_forget_all();
  turn = 0;
}
#else
static int on_device(void) { return 0; }
static void* of_device(size_t count) { return (void)count, NULL; }
static void release_device(void) {}
#endif

enum { kMostArrays = 4096 };

static void* arrays[kMostArrays];
static int array_count;

void* allocate(size_t count) {
  if (on_device()) return of_device(count);
  void* data = calloc(count, 1);
  if (data == NULL || array_count == kMostArrays) abort();
  arrays[array_count++] = data;
  return data;
}

void release_all(void) {
  release_device();
  while (array_count > 0) free(arrays[--array_count]);
}
