// Arrays in the fake device's memory, or with COLL_MEMORY=mixed those of every second rank.
#include <stdlib.h>
#include <string.h>

#include "../fake_device/memory.h"
#include "memory.h"

static int arrays;  // of the device that are in use: they end together

static int on_device(void) {
  const char* kind = getenv("COLL_MEMORY");
  int world_rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  return kind == NULL || strcmp(kind, "mixed") != 0 || world_rank % 2 == 0;
}

void* allocate(size_t bytes) {
  if (on_device()) return ++arrays, fake_device_allocate(bytes);
  void* array = malloc(bytes);
  if (array == NULL) abort();
  return array;
}

void release(void* array) {
  if (!on_device()) {
    free(array);
  } else if (--arrays == 0) {
    fake_device_forget_all();
  }
}
