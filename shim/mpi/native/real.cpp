#include "shim/mpi/native/real.h"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>

#include "shim/mpi/native/family.h"
#include "shim/mpi/native/step_aside.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

Objects objects;
thread_local bool looks_up_itself = false;
std::atomic<OwnOfMpi> own_of_mpi{nullptr};

namespace detail {
Real table;
std::atomic<bool> resolved{false};
}  // namespace detail

namespace {

// Python's MPI modules load the MPI with RTLD_LOCAL, where RTLD_NEXT does not look.
// Not remembered if there is none yet: programs ask before they load one.
void* loaded_mpi() {
  static std::atomic<void*> handle{nullptr};
  for (const char* soname : kSonames) {
    if (handle == nullptr) handle = dlopen(soname, RTLD_LAZY | RTLD_NOLOAD);
  }
  return handle;
}

// Unlike a function, an object of the MPI may have been copied into the program itself, which
// then is the place that the MPI uses too.
[[maybe_unused]] void* find_object(const char* name) {
  if (void* found = dlsym(RTLD_DEFAULT, name)) return found;
  return loaded_mpi() == nullptr ? nullptr : dlsym(loaded_mpi(), name);
}

[[noreturn]] void refuse(const std::string& why) {
  tw_log(TW_LOG_ERROR, why.c_str());
  std::abort();
}

// Handles of one family mean nothing to another, and the names of their calls are the same.
void check_family() {
  void* const call = find_symbol("PMPI_Init");
  const LoadedMpi mpi = first_mpi();
  if (call == nullptr && mpi.handle == nullptr) {
    refuse(
        std::string("this program has no MPI that the preloaded library could find; it is for ") +
        name_of(kFamily) + " (" + *kSonames.begin() + ")");
  }
  Family found = mpi.family;
  if (mpi.handle == nullptr) {
    const bool open_mpi = find_symbol("ompi_mpi_comm_world") != nullptr;
    found = open_mpi ? Family::kOpenMpi : Family::kMpich;
  }
  if (found == kFamily) return;
  refuse("the preloaded library is for " + std::string(name_of(kFamily)) +
         ", and this program's MPI is " + name_of(found) + " (" + mpi.path +
         "): preload $(thinwire shim mpi --mpi " + option_of(found) + ") instead");
}

template <typename Pointer>
void find_call(Pointer& slot, const char* name) {
  slot = reinterpret_cast<Pointer>(find_symbol(name));
}

// The plain form of a call that the MPI may lack.
template <typename... Parameters>
void find_narrow(int (*&slot)(Parameters...), const char* name) {
  find_call(slot, name);
  if (slot == nullptr) slot = &lacking<Parameters...>;
}

template <typename Call>
void find_later(LaterCall<Call>& slot, const char* name) {
  slot.set(reinterpret_cast<Call>(find_symbol(name)));
}

template <typename Pointer>
void need_call(Pointer& slot, const char* name) {
  slot = reinterpret_cast<Pointer>(stands_aside() ? find_symbol(name) : native_call(name));
}

}  // namespace

void* native_call(const char* name) {
  if (void* found = find_symbol(name)) return found;
  refuse(std::string("no ") + name + " in this " + name_of(kFamily));
}

// The standard ABI's library has MPICH's classes for what that standard has none of.
bool is_of_lost_ranks(int error) {
#ifdef OPEN_MPI
  constexpr int kFirst = 74,
                kLast = 77;  // Open MPI 5: aborted, failed, failed and pending, revoked
#else
  constexpr int kFirst = 101, kLast = 103;  // MPICH: failed, failed and pending, revoked
#endif
  int found = MPI_SUCCESS;
  if (error == MPI_SUCCESS || real().Error_class(error, &found) != MPI_SUCCESS) return false;
  return found >= kFirst && found <= kLast;
}

void* find_symbol(const char* name) {
  if (stands_aside()) return symbol_of_other_mpi(name);
  const bool before = std::exchange(looks_up_itself, true);
  void* found = dlsym(RTLD_NEXT, name);
  // Until it has seen its MPI, one for another family has functions of these names, too.
  static const bool is_one_of_several = has_other_preloads();
  if (is_one_of_several && found != nullptr && is_in_preload(found)) found = nullptr;
  if (found == nullptr && loaded_mpi() != nullptr) found = dlsym(loaded_mpi(), name);
  looks_up_itself = before;
  const OwnOfMpi own = own_of_mpi.load(std::memory_order_acquire);
  return own == nullptr || found == nullptr ? found : own(name, found);
}

void detail::resolve() {
  static std::once_flag once;
  std::call_once(once, [] {
    see_mpi();
    if (!stands_aside()) check_family();
#define THINWIRE_NEED_COUNTED(name)            \
  need_call(table.name.narrow, "PMPI_" #name); \
  find_call(table.name.wide, "PMPI_" #name "_c");
    THINWIRE_COUNTED_CALLS(THINWIRE_NEED_COUNTED)
#undef THINWIRE_NEED_COUNTED
#define THINWIRE_FIND_COUNTED(name)              \
  find_narrow(table.name.narrow, "PMPI_" #name); \
  find_call(table.name.wide, "PMPI_" #name "_c");
    THINWIRE_LATER_COUNTED_CALLS(THINWIRE_FIND_COUNTED)
#undef THINWIRE_FIND_COUNTED
#define THINWIRE_NEED(name) need_call(table.name, "PMPI_" #name);
    THINWIRE_PLAIN_CALLS(THINWIRE_NEED)
#undef THINWIRE_NEED
#define THINWIRE_FIND(name) find_later(table.name, "PMPI_" #name);
    THINWIRE_LATER_CALLS(THINWIRE_FIND)
#undef THINWIRE_FIND
#define THINWIRE_FIND_OBJECT(name) objects.name = find_object(#name);
    THINWIRE_MPI_OBJECTS(THINWIRE_FIND_OBJECT)
#undef THINWIRE_FIND_OBJECT
    resolved.store(true, std::memory_order_release);
  });
}

}  // namespace thinwire::mpi
