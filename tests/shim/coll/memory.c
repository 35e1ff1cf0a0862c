// Arrays of the program's own, or with SHIM_TEST_FAKE_DEVICE in the fake device's memory: all of
// them, or with COLL_MEMORY=mixed those of every second rank.
#include "memory.h"

#include <stdlib.h>
#include <string.h>

#ifdef SHIM_TEST_FAKE_DEVICE
#include "../fake_device/memory.h"

static int arrays;  // of the device that are in use: they end together

static int on_device(void) {
  const char* kind = getenv("COLL_MEMORY");
  int world_rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  return kind == NULL || strcmp(kind, "mixed") != 0 || world_rank % 2 == 0;
}

static void* of_device(size_t bytes) { return ++arrays, fake_device_allocate(bytes); }

static void release_on_device(void) {
  if (--arrays == 0) fake_device_forget_all();
}
#else
static int on_device(void) { return 0; }
static void* of_device(size_t bytes) { return (void)bytes, NULL; }
static void release_on_device(void) {}
#endif

void* allocate(size_t bytes) {
  if (on_device()) return of_device(bytes);
  void* array = malloc(bytes);
  if (array == NULL) abort();
  return array;
}

void release(void* array) {
  if (on_device()) {
    release_on_device();
  } else {
    free(array);
  }
}
