#include "shim/mpi/native/loaded_objects.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace thinwire::mpi {
namespace {

LoadedObject object_of(const dl_phdr_info& info) {
  LoadedObject object;
  object.path = info.dlpi_name == nullptr ? "" : info.dlpi_name;
  object.base = info.dlpi_addr;
  const ElfW(Dyn)* dynamic = nullptr;
  for (int at = 0; at < info.dlpi_phnum; ++at) {
    const ElfW(Phdr)& part = info.dlpi_phdr[at];
    if (part.p_type == PT_DYNAMIC)
      dynamic = at_address<const ElfW(Dyn)*>(info.dlpi_addr + part.p_vaddr);
    if (part.p_type == PT_LOAD)
      object.end =
          std::max<std::uintptr_t>(object.end, info.dlpi_addr + part.p_vaddr + part.p_memsz);
  }
  // glibc has made addresses of what it says, but for the kernel's own object.
  const auto where = [&](std::uintptr_t value) {
    return value < object.base ? value + object.base : value;
  };
  for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) {
    const std::uintptr_t value = dynamic->d_un.d_ptr;
    const ElfW(Sxword) tag = dynamic->d_tag;
    if (tag == DT_SYMTAB) object.symbols = at_address<ElfW(Sym)*>(where(value));
    if (tag == DT_STRTAB) object.names = at_address<const char*>(where(value));
    if (tag == DT_JMPREL) object.calls = at_address<const ElfW(Rela)*>(where(value));
    if (tag == DT_PLTRELSZ) object.call_bytes = dynamic->d_un.d_val;
    if (tag == DT_RELA) object.others = at_address<const ElfW(Rela)*>(where(value));
    if (tag == DT_RELASZ) object.other_bytes = dynamic->d_un.d_val;
    if (tag == DT_HASH) object.hash = at_address<const std::uint32_t*>(where(value));
    if (tag == DT_GNU_HASH) object.gnu_hash = at_address<const std::uint32_t*>(where(value));
  }
  return object;
}

// The loader's lock is held: nothing may be looked up.
int note_object(dl_phdr_info* info, std::size_t, void* objects) {
  const LoadedObject object = object_of(*info);
  const bool has_symbols = object.symbols != nullptr && object.names != nullptr;
  if (has_symbols) static_cast<std::vector<LoadedObject>*>(objects)->push_back(object);
  return 0;
}

// The protection of all pages of [first, end), or -1 if it is unknown or they differ.
int protection_of(std::uintptr_t first, std::uintptr_t end) {
  std::FILE* const maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return -1;
  int found = -1;
  char line[512];
  while (found == -1 && std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long from = 0, to = 0;
    char rights[5] = "";
    const bool is_map = std::sscanf(line, "%lx-%lx %4s", &from, &to, rights) == 3;
    if (!is_map || first < from || end > to) continue;
    found = (rights[0] == 'r' ? PROT_READ : 0) | (rights[1] == 'w' ? PROT_WRITE : 0) |
            (rights[2] == 'x' ? PROT_EXEC : 0);
  }
  std::fclose(maps);
  return found;
}

}  // namespace

std::size_t LoadedObject::symbol_count() const {
  if (hash != nullptr) return hash[1];
  if (gnu_hash == nullptr) return 0;
  const std::uint32_t buckets = gnu_hash[0], first = gnu_hash[1], words = gnu_hash[2];
  const std::uint32_t* const bucket = gnu_hash + 4 + words * (sizeof(ElfW(Addr)) / 4);
  std::uint32_t last = 0;
  for (std::uint32_t at = 0; at < buckets; ++at) last = std::max(last, bucket[at]);
  if (last < first) return first;
  // The end of a chain has its lowest bit set.
  while ((bucket[buckets + last - first] & 1) == 0) ++last;
  return last + 1;
}

bool LoadedObject::defines(const char* name) const {
  const std::size_t count = symbol_count();
  for (std::size_t at = 0; at < count; ++at) {
    if (symbols[at].st_shndx != SHN_UNDEF && std::strcmp(names + symbols[at].st_name, name) == 0)
      return true;
  }
  return false;
}

std::vector<LoadedObject> loaded_objects() {
  std::vector<LoadedObject> objects;
  dl_iterate_phdr(note_object, &objects);
  return objects;
}

bool is_of_symbol(const ElfW(Rela) & word) {
#if defined(__x86_64__)
  constexpr std::uint32_t kCallSlot = R_X86_64_JUMP_SLOT, kOtherSlot = R_X86_64_GLOB_DAT,
                          kPointer = R_X86_64_64;
#elif defined(__aarch64__)
  constexpr std::uint32_t kCallSlot = R_AARCH64_JUMP_SLOT, kOtherSlot = R_AARCH64_GLOB_DAT,
                          kPointer = R_AARCH64_ABS64;
#else
  constexpr std::uint32_t kCallSlot = 0, kOtherSlot = 0, kPointer = 0;
#endif
  const auto kind = static_cast<std::uint32_t>(ELF64_R_TYPE(word.r_info));
  return kind != 0 && (kind == kCallSlot || kind == kOtherSlot || kind == kPointer);
}

unsigned long long times_loaded() {
  unsigned long long times = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* into) {
        *static_cast<unsigned long long*>(into) = info->dlpi_adds;
        return 1;
      },
      &times);
  return times;
}

Writable::Writable(const void* first, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto from = reinterpret_cast<std::uintptr_t>(first) & ~(page - 1);
  const auto end = (reinterpret_cast<std::uintptr_t>(first) + bytes + page - 1) & ~(page - 1);
  pages_ = at_address<void*>(from);
  bytes_ = end - from;
  before_ = protection_of(from, end);
  if (before_ == -1) return;
  is_changed_ = (before_ & PROT_WRITE) == 0;
  is_writable_ = !is_changed_ || mprotect(pages_, bytes_, before_ | PROT_WRITE) == 0;
  is_changed_ = is_changed_ && is_writable_;
}

Writable::~Writable() {
  if (is_changed_) mprotect(pages_, bytes_, before_);
}

bool write_word(void** place, void* value) {
  const Writable word(place, sizeof *place);
  if (word.is_writable()) __atomic_store_n(place, value, __ATOMIC_RELEASE);
  return word.is_writable();
}

}  // namespace thinwire::mpi
