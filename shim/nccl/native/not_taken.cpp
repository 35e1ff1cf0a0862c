#include "native/not_taken.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <set>
#include <string_view>

#include "native/real.h"
#include "native/taken.h"

namespace thinwire::nccl {
namespace {

constexpr std::string_view kTakenNames[] = {
#define THINWIRE_NCCL_CALL(function) "nccl" #function,
#define THINWIRE_NCCL_COLLECTIVE(function, ...) \
  THINWIRE_NCCL_CALL(function) THINWIRE_NCCL_CALL(function##Config)
    THINWIRE_NCCL_TAKEN(THINWIRE_NCCL_CALL) THINWIRE_NCCL_COLLECTIVES(THINWIRE_NCCL_COLLECTIVE)
#undef THINWIRE_NCCL_COLLECTIVE
#undef THINWIRE_NCCL_CALL
};

// How the names begin of those that make, ask, set and describe.
constexpr std::string_view kMovesNothing[] = {
    "ncclComm",   "ncclGet",        "ncclMem",   "ncclRedOp", "ncclGroup", "ncclParam",
    "ncclTeam",   "ncclDev",        "ncclWin",   "ncclReset", "ncclSet",   "ncclGin",
    "ncclSignal", "ncclWaitSignal", "ncclLLA2A", "ncclLsa",   "ncclOn"};

bool may_move_unseen(std::string_view name) {
  const bool is_nccls =
      name.starts_with("nccl") && name.size() > 4 && name[4] >= 'A' && name[4] <= 'Z';
  return is_nccls && std::ranges::find(kTakenNames, name) == std::end(kTakenNames) &&
         std::ranges::none_of(kMovesNothing, [&](auto begin) { return name.starts_with(begin); });
}

using Names = std::set<std::string, std::less<>>;

struct LookedUp {
  std::mutex mutex;
  Names names;
};
// Never destroyed: other threads may look up while the process ends.
LookedUp& looked_up() {
  static auto* const made = new LookedUp;
  return *made;
}

// Names in a file's relocations; each call of another file's function has one.
class Imports {
 public:
  explicit Imports(const dl_phdr_info& file) : base_(file.dlpi_addr) {
    for (int at = 0; at < file.dlpi_phnum; ++at) {
      if (file.dlpi_phdr[at].p_type != PT_DYNAMIC) continue;
      const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(base_ + file.dlpi_phdr[at].p_vaddr);
      for (; entry->d_tag != DT_NULL; ++entry) take(*entry);
    }
  }

  void add_to(Names& names) const {
    if (symbols_ == nullptr || texts_ == nullptr) return;
    for (const auto& [at, bytes] : {std::pair(calls_, call_bytes_), std::pair(others_, bytes_)}) {
      for (std::size_t each = 0; at != nullptr && each < bytes / sizeof *at; ++each) {
        const char* const name = texts_ + symbols_[ELF64_R_SYM(at[each].r_info)].st_name;
        if (may_move_unseen(name)) names.insert(name);
      }
    }
  }

 private:
  // The loader has made addresses of them, but for a few files of its own.
  template <typename What>
  const What* at(ElfW(Addr) address) const {
    return reinterpret_cast<const What*>(address < base_ ? base_ + address : address);
  }
  void take(const ElfW(Dyn) & entry) {
    switch (entry.d_tag) {
      case DT_SYMTAB:
        symbols_ = at<ElfW(Sym)>(entry.d_un.d_ptr);
        break;
      case DT_STRTAB:
        texts_ = at<char>(entry.d_un.d_ptr);
        break;
      case DT_JMPREL:
        calls_ = at<ElfW(Rela)>(entry.d_un.d_ptr);
        break;
      case DT_PLTRELSZ:
        call_bytes_ = entry.d_un.d_val;
        break;
      case DT_RELA:
        others_ = at<ElfW(Rela)>(entry.d_un.d_ptr);
        break;
      case DT_RELASZ:
        bytes_ = entry.d_un.d_val;
        break;
      default:
        break;
    }
  }

  ElfW(Addr) base_;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* texts_ = nullptr;
  const ElfW(Rela) * calls_ = nullptr, *others_ = nullptr;
  std::size_t call_bytes_ = 0, bytes_ = 0;
};

// NCCL's own file calls itself through its public names.
bool is_nccl(const dl_phdr_info& file) {
  Dl_info about{};
  const auto* const inside = reinterpret_cast<const void*>(real().GetVersion);
  return inside != nullptr && dladdr(inside, &about) != 0 &&
         reinterpret_cast<ElfW(Addr)>(about.dli_fbase) == file.dlpi_addr;
}

}  // namespace

void note_lookup(const char* name) {
  if (!may_move_unseen(name)) return;
  LookedUp& of = looked_up();
  const std::lock_guard lock(of.mutex);
  of.names.insert(name);
}

std::vector<std::string> functions_not_taken() {
  Names names;
  {
    LookedUp& of = looked_up();
    const std::lock_guard lock(of.mutex);
    names = of.names;
  }
  dl_iterate_phdr(
      [](dl_phdr_info* file, std::size_t, void* into) {
        // The kernel's own file has no imports.
        const bool has_name = file->dlpi_name != nullptr;
        if (has_name && !is_nccl(*file) &&
            std::string_view(file->dlpi_name).find("vdso") == std::string_view::npos) {
          Imports(*file).add_to(*static_cast<Names*>(into));
        }
        return 0;
      },
      &names);
  return {names.begin(), names.end()};
}

}  // namespace thinwire::nccl
