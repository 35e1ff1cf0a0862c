// Which family of handles a loaded MPI has, and which one this library is built for.
#pragma once

#include <initializer_list>
#include <string>

#include "shim/mpi/native/mpi_abi.h"

namespace thinwire::mpi {

enum class Family { kOpenMpi, kMpich, kStandardAbi };

#if defined(OPEN_MPI)
constexpr Family kFamily = Family::kOpenMpi;
constexpr std::initializer_list<const char*> kSonames = {"libmpi.so.40"};
#elif defined(THINWIRE_MPI_ABI)
constexpr Family kFamily = Family::kStandardAbi;
constexpr std::initializer_list<const char*> kSonames = {"libmpi_abi.so.1", "libmpi_abi.so.0"};
#else
constexpr Family kFamily = Family::kMpich;
constexpr std::initializer_list<const char*> kSonames = {"libmpi.so.12", "libmpich.so.12"};
#endif

const char* name_of(Family family);

// The name by which `thinwire run` and `thinwire shim` call it, and the library's file has it.
const char* option_of(Family family);

// An MPI's library; `handle` is nullptr if there is none.
struct LoadedMpi {
  void* handle = nullptr;
  std::string path;
  Family family = kFamily;
};

// The first in the loader's order. One that the program itself carries is not found.
LoadedMpi first_mpi();

// Whether this library is loaded for that family, too, or for any besides this one.
bool has_preload_for(Family family);
bool has_other_preloads();

// Whether an address is in one of them.
bool is_in_preload(const void* at);

}  // namespace thinwire::mpi
