// Memory that stands for a GPU's in tests: at its device address nobody can touch it, and a second
// mapping of the same pages shows the program what lies there.
#pragma once

#include <stddef.h>

typedef struct FakeDeviceMemory {
  char* device;  // no access
  char* mirror;  // readable and writable
  size_t bytes;
} FakeDeviceMemory;

#ifdef __cplusplus
extern "C" {
#endif

// Made at the first call, exported by the program: the shim's fake device layer finds it there.
const FakeDeviceMemory* fake_device_memory(void);

// A place of the first half of that memory, as its mirror; all of them end together. The second
// half is the fake device layer's.
void* fake_device_allocate(size_t bytes);
void fake_device_forget_all(void);

// The address to hand to MPI: a mirror's device address, every other as it is.
void* fake_device_address(const void* pointer);

#ifdef __cplusplus
}
#endif
