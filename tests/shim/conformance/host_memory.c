// Arrays of the program's own.
#include <stdlib.h>

#include "conformance.h"

enum { kMostArrays = 4096 };

static void* arrays[kMostArrays];
static int array_count;

void* allocate(size_t count) {
  void* data = calloc(count, 1);
  if (data == NULL || array_count == kMostArrays) abort();
  arrays[array_count++] = data;
  return data;
}

void release_all(void) {
  while (array_count > 0) free(arrays[--array_count]);
}
