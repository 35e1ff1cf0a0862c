// Memory of the programs' arrays: memory.c, and managed_memory.c for tests on GPUs.
#pragma once

#include <stddef.h>

#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif

void* allocate(size_t bytes);
void release(void* array);
