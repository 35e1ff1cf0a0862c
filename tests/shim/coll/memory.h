// Where the programs' arrays lie is for the build to say: host_memory.c, device_memory.c.
#pragma once

#include <stddef.h>

#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif

void* allocate(size_t bytes);
void release(void* array);
