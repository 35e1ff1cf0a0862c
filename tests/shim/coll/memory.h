// Memory of the programs' arrays. The build says which: host_memory.c, device_memory.c.
#pragma once

#include <stddef.h>

#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif

void* allocate(size_t bytes);
void release(void* array);
