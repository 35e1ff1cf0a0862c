#include "shim/mpi/native/names.h"

#include "shim/mpi/native/mpi_symbols.h"

namespace thinwire::mpi {

namespace {

struct LaterName {
  unsigned group;
  const char* name;
};

constexpr LaterName kLaterNames[] = {
#define LATER_NAME(group, name) {group, "MPI_" #name},
#include "shim/mpi/native/later_names.inc"
#undef LATER_NAME
};

}  // namespace

const char* call_that_passes_by() {
  for (const auto& [group, name] : kLaterNames) {
    if ((group & exported_groups) == 0 && find_symbol(name) != nullptr) return name;
  }
  return nullptr;
}

const char* call_that_is_not_there() {
  for (const auto& [group, name] : kLaterNames) {
    if ((group & exported_groups) != 0 && find_symbol(name) == nullptr) return name;
  }
  return nullptr;
}

}  // namespace thinwire::mpi
