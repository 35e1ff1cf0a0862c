#include "shim/mpi/native/mpi_symbols.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "shim/common/lookups.h"
#include "shim/mpi/native/loaded_objects.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {
namespace {

// A symbol of the MPI's library that has a wrapper.
struct Shown {
  const char* name;
  void *own, *wrapper;
  ElfW(Sym) * symbol;
  std::uintptr_t base;
};
using Table = std::vector<Shown>;

// It is never freed, as threads may be reading it.
std::atomic<const Table*> table{nullptr};
std::atomic<bool> is_shown{false};

bool comes_before(const Shown& one, const char* name) { return std::strcmp(one.name, name) < 0; }

// Whether calls of the wrapper of `name` go on to this object, and not to a tool in between.
bool goes_on_to(const LoadedObject& mpi, const char* name) {
  const std::string inner = name[0] == 'P' ? name : "P" + std::string(name);
  return mpi.contains(find_symbol(inner.c_str()));
}

void add_symbols(const LoadedObject& mpi, Table& found) {
  const std::size_t count = mpi.symbol_count();
  for (std::size_t at = 0; at < count; ++at) {
    ElfW(Sym)& symbol = mpi.symbols[at];
    const char* const name = mpi.names + symbol.st_name;
    const bool is_call = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF;
    if (!is_call || std::strncmp(name[0] == 'P' ? name + 1 : name, "MPI", 3) != 0) continue;
    void* const wrapper = wrapper_of(name);
    void* const own = at_address<void*>(mpi.base + symbol.st_value);
    if (wrapper == nullptr || own == wrapper || !goes_on_to(mpi, name)) continue;
    found.push_back({name, own, wrapper, &symbol, mpi.base});
  }
}

void* own_function(const char* name, void* found) {
  const Table* const shown = table.load(std::memory_order_acquire);
  if (shown == nullptr) return found;
  const auto at = std::lower_bound(shown->begin(), shown->end(), name, comes_before);
  const bool is_wrapper = at != shown->end() && std::strcmp(at->name, name) == 0;
  return is_wrapper && found == at->wrapper ? at->own : found;
}

// Nothing is locked here but what the loader locks: a thread that is in it may wait for this one.
const Table* make_table() {
  if (const Table* const made = table.load(std::memory_order_acquire)) return made;
  const void* const of_mpi = find_symbol("PMPI_Init");
  if (of_mpi == nullptr || own_handle() == nullptr) return nullptr;
  auto found = std::make_unique<Table>();
  for (const LoadedObject& object : loaded_objects()) {
    if (object.contains(of_mpi)) add_symbols(object, *found);
  }
  std::sort(found->begin(), found->end(),
            [](const Shown& one, const Shown& other) { return comes_before(one, other.name); });
  const Table* first = nullptr;
  own_of_mpi = &own_function;
  return table.compare_exchange_strong(first, found.get()) ? found.release() : first;
}

bool write(const Table& shown) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (is_shown) return true;
  if (shown.empty()) return false;
  const auto [first, last] = std::minmax_element(
      shown.begin(), shown.end(),
      [](const Shown& one, const Shown& other) { return one.symbol < other.symbol; });
  const auto bytes = reinterpret_cast<const char*>(last->symbol + 1) -
                     reinterpret_cast<const char*>(first->symbol);
  const Writable symbols(first->symbol, static_cast<std::size_t>(bytes));
  if (!symbols.is_writable()) return false;
  for (const Shown& one : shown) {
    const ElfW(Addr) value = reinterpret_cast<std::uintptr_t>(one.wrapper) - one.base;
    __atomic_store_n(&one.symbol->st_value, value, __ATOMIC_RELEASE);
  }
  is_shown = true;
  return true;
}

}  // namespace

bool show_wrappers_in_mpi() {
  static std::atomic<unsigned long long> in_vain{0};  // what was loaded then
  if (is_shown.load(std::memory_order_acquire)) return true;
  const unsigned long long loaded = times_loaded();
  if (loaded == in_vain) return false;
  const bool outer = std::exchange(looks_up_itself, true);
  bool done = false;
  try {
    const Table* const shown = make_table();
    done = shown != nullptr && write(*shown);
    if (!done) in_vain = loaded;
  } catch (...) {  // no memory: the next look-up tries again
  }
  dlerror();
  looks_up_itself = outer;
  if (done) tw_log(TW_LOG_DEBUG, "what is bound to the MPI first calls the wrappers from now on");
  return done;
}

}  // namespace thinwire::mpi
