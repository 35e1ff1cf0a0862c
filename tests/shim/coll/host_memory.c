// Arrays of the program's own.
#include <stdlib.h>

#include "memory.h"

void* allocate(size_t bytes) {
  void* array = malloc(bytes);
  if (array == NULL) abort();
  return array;
}

void release(void* array) { free(array); }
