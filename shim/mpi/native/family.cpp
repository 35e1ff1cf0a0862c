#include "shim/mpi/native/family.h"

#include <dlfcn.h>

#include <string_view>

#include "shim/mpi/native/loaded_objects.h"

namespace thinwire::mpi {
namespace {

constexpr std::string_view kPreload = "libthinwire_mpi_", kMpi = "libmpi";

std::string_view file_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

int preloads(std::string_view beginning) {
  int found = 0;
  for (const LoadedObject& object : loaded_objects())
    found += file_of(object.path).starts_with(beginning) ? 1 : 0;
  return found;
}

}  // namespace

const char* name_of(Family family) {
  switch (family) {
    case Family::kOpenMpi:
      return "Open MPI";
    case Family::kMpich:
      return "MPICH";
    default:
      return "the standard MPI ABI";
  }
}

const char* option_of(Family family) {
  switch (family) {
    case Family::kOpenMpi:
      return "openmpi";
    case Family::kMpich:
      return "mpich";
    default:
      return "abi";
  }
}

LoadedMpi first_mpi() {
  for (const LoadedObject& object : loaded_objects()) {
    const std::string_view file = file_of(object.path);
    if (!file.starts_with(kMpi) || !object.defines("PMPI_Init")) continue;
    void* const handle = dlopen(object.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    const bool open_mpi = object.defines("ompi_mpi_comm_world");
    const bool standard = file.starts_with("libmpi_abi.so");
    return {handle, object.path,
            open_mpi   ? Family::kOpenMpi
            : standard ? Family::kStandardAbi
                       : Family::kMpich};
  }
  return {};
}

bool has_preload_for(Family family) {
  return preloads(std::string(kPreload) + option_of(family)) > 0;
}

bool has_other_preloads() { return preloads(kPreload) > 1; }

bool is_in_preload(const void* at) {
  Dl_info where{};
  return dladdr(at, &where) != 0 && where.dli_fname != nullptr &&
         file_of(where.dli_fname).starts_with(kPreload);
}

}  // namespace thinwire::mpi
