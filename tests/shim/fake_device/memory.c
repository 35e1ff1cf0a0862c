#define _GNU_SOURCE
#include "memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kAlignment = 256 };

static FakeDeviceMemory memory;
static size_t used;

static void* map(int file, int protection) {
  void* at = mmap(NULL, memory.bytes, protection, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (at == MAP_FAILED) abort();
  return at;
}

__attribute__((visibility("default"))) const FakeDeviceMemory* fake_device_memory(void) {
  if (memory.bytes != 0) return &memory;
  memory.bytes = (size_t)1 << 30;
  const int file = memfd_create("fake device", 0);
  if (file < 0 || ftruncate(file, (off_t)memory.bytes) != 0) abort();
  memory.mirror = map(file, PROT_READ | PROT_WRITE);
  // A GPU-aware MPI would reach it, and so does the MPI if a test pretends that it is one.
  const char* reachable = getenv("FAKE_DEVICE_REACHABLE");
  memory.device = map(file, reachable != NULL ? PROT_READ | PROT_WRITE : PROT_NONE);
  close(file);
  return &memory;
}

void* fake_device_allocate(size_t bytes) {
  const FakeDeviceMemory* all = fake_device_memory();
  const size_t padded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (used + padded > all->bytes / 2) abort();
  char* at = all->mirror + used;
  used += padded;
  memset(at, 0, padded);
  return at;
}

void fake_device_forget_all(void) { used = 0; }

void* fake_device_address(const void* pointer) {
  const FakeDeviceMemory* all = fake_device_memory();
  const uintptr_t at = (uintptr_t)pointer, mirror = (uintptr_t)all->mirror;
  if (at < mirror || at >= mirror + all->bytes) return (void*)pointer;
  return all->device + (at - mirror);
}
