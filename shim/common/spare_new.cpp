// `operator new` of a preload library, for the library's own objects alone: its version script
// exports no other name, and the C++ runtime within it is its own. The program keeps its own.
#include <cstdlib>
#include <new>

#include "shim/common/spare_memory.h"

namespace thinwire::shim {
namespace {

// No constructor of it runs, as those of other objects may be earlier.
constinit SpareMemory spare_memory;

}  // namespace
}  // namespace thinwire::shim

using thinwire::shim::spare_memory;

void* operator new(std::size_t bytes) {
  if (void* const at = std::malloc(bytes == 0 ? 1 : bytes); at != nullptr) return at;
  if (void* const at = spare_memory.take(bytes); at != nullptr) return at;
  throw std::bad_alloc();
}

void operator delete(void* at) noexcept {
  if (spare_memory.holds(at)) {
    spare_memory.give_back(at);
  } else {
    std::free(at);
  }
}

void operator delete(void* at, std::size_t) noexcept { operator delete(at); }
