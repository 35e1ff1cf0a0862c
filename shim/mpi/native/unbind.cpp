#include "shim/mpi/native/unbind.h"

#include <dlfcn.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "shim/mpi/native/family.h"
#include "shim/mpi/native/loaded_objects.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {
namespace {

bool is_own_function(const LoadedObject& own, std::size_t at) {
  const ElfW(Sym)& symbol = own.symbols[at];
  return symbol.st_shndx != SHN_UNDEF && symbol.st_value != 0;
}

const LoadedObject* own_object(const std::vector<LoadedObject>& objects) {
  for (const LoadedObject& object : objects) {
    if (object.contains(reinterpret_cast<void*>(&own_object))) return &object;
  }
  return nullptr;
}

// The loader passes over symbols without a value, however it comes to this library.
bool hide(const LoadedObject& own, const IsMeant& is_meant) {
  const std::size_t count = own.symbol_count();
  const Writable symbols(own.symbols, count * sizeof *own.symbols);
  if (!symbols.is_writable()) return false;
  for (std::size_t at = 0; at < count; ++at) {
    ElfW(Sym)& symbol = own.symbols[at];
    if (is_own_function(own, at) && is_meant(own.names + symbol.st_name))
      __atomic_store_n(&symbol.st_value, ElfW(Addr){0}, __ATOMIC_RELEASE);
  }
  return true;
}

struct Unbound {
  const LoadedObject& own;
  const IsMeant& is_meant;
  const Instead& instead;

  void bind_again(const LoadedObject& object, const ElfW(Rela) * words, std::size_t bytes) const {
    for (std::size_t at = 0; words != nullptr && at < bytes / sizeof *words; ++at) {
      if (!is_of_symbol(words[at])) continue;
      void** const place = at_address<void**>(object.base + words[at].r_offset);
      const ElfW(Sym)& symbol = object.symbols[ELF64_R_SYM(words[at].r_info)];
      const char* const name = object.names + symbol.st_name;
      if (symbol.st_shndx != SHN_UNDEF || !own.contains(*place) || !is_meant(name)) continue;
      void* const found = instead(name);
      const bool may_lack = ELF64_ST_BIND(symbol.st_info) == STB_WEAK;
      if (found != nullptr || may_lack) write_word(place, found);
    }
  }
};

// Whether a tool has the function, and calls of its wrapper go on past it. To one that has the
// inner name as well, as Darshan, they go on.
bool is_passed_by(void* mpi, const char* name) {
  void* const next = dlsym(RTLD_NEXT, name);
  if (next == nullptr || next == dlsym(mpi, name) || is_in_preload(next)) return false;
  const std::string inner = "P" + std::string(name);
  return dlsym(RTLD_NEXT, inner.c_str()) == dlsym(mpi, inner.c_str());
}

}  // namespace

bool unbind(const IsMeant& is_meant, const Instead& instead) {
#if !defined(__x86_64__) && !defined(__aarch64__)
  return false;
#endif
  const std::vector<LoadedObject> objects = loaded_objects();
  const LoadedObject* const own = own_object(objects);
  if (own == nullptr || !hide(*own, is_meant)) return false;
  const Unbound unbound{*own, is_meant, instead};
  for (const LoadedObject& object : objects) {
    if (&object == own) continue;
    unbound.bind_again(object, object.calls, object.call_bytes);
    unbound.bind_again(object, object.others, object.other_bytes);
  }
  return true;
}

void put_tools_first(void* mpi) {
  const std::vector<LoadedObject> objects = loaded_objects();
  const LoadedObject* const own = own_object(objects);
  std::set<std::string> of_tools;
  for (std::size_t at = 0; own != nullptr && at < own->symbol_count(); ++at) {
    const char* const name = own->names + own->symbols[at].st_name;
    if (!is_own_function(*own, at) || std::strncmp(name, "MPI", 3) != 0) continue;
    if (is_passed_by(mpi, name)) of_tools.insert(name);
  }
  if (of_tools.empty()) return;
  unbind([&](const char* name) { return of_tools.contains(name); },
         [](const char* name) { return dlsym(RTLD_NEXT, name); });
  tw_log(TW_LOG_DEBUG, "a tool between the program and the MPI comes before this library");
}

}  // namespace thinwire::mpi
