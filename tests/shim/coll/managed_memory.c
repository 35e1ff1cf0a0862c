// Arrays that a GPU and the host reach, which MPI programs may treat as either.
#include <cuda_runtime_api.h>
#include <stdlib.h>

#include "memory.h"

void* allocate(size_t bytes) {
  void* array = NULL;
  if (cudaMallocManaged(&array, bytes, cudaMemAttachGlobal) != cudaSuccess) abort();
  return array;
}

void release(void* array) { cudaFree(array); }
