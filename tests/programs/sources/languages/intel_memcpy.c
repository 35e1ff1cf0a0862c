// A function of Intel's compiler, which Intel MPI's libmpijava.so takes and no library of it has.
#include <string.h>

void* _intel_fast_memcpy(void* to, const void* from, size_t bytes) {
  return memcpy(to, from, bytes);
}
