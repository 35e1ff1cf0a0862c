#include "abi/deep_binding.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "abi/symbols.h"
#include "shim/common/lookups.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

std::atomic<bool> deep_binding_may_be_open{false};

}  // namespace thinwire::mpi

#if defined(__x86_64__) || defined(__aarch64__)

using Dlopen = void* (*)(const char* file, int mode);

extern "C" {
__attribute__((visibility("hidden"), used)) Dlopen thinwire_next_dlopen = nullptr;
__attribute__((visibility("hidden"), used)) void thinwire_note_opening(const char* file, int mode);
}

// The next dlopen() is jumped to, so that the loader sees the program's call: whose search path
// counts follows from the address that it returns to.
#ifdef __x86_64__
asm(R"(
  .pushsection .text
  .globl dlopen
  .type dlopen, @function
  .p2align 4
dlopen:
  .cfi_startproc
  endbr64
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  callq thinwire_note_opening
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  jmpq *thinwire_next_dlopen(%rip)
  .cfi_endproc
  .size dlopen, .-dlopen
  .popsection
)");
#else
asm(R"(
  .pushsection .text
  .globl dlopen
  .type dlopen, %function
  .p2align 4
dlopen:
  .cfi_startproc
  hint #34
  stp x29, x30, [sp, #-32]!
  .cfi_adjust_cfa_offset 32
  .cfi_rel_offset x30, 8
  stp x0, x1, [sp, #16]
  bl thinwire_note_opening
  ldp x0, x1, [sp, #16]
  ldp x29, x30, [sp], #32
  .cfi_adjust_cfa_offset -32
  .cfi_restore x30
  adrp x16, thinwire_next_dlopen
  ldr x16, [x16, #:lo12:thinwire_next_dlopen]
  br x16
  .cfi_endproc
  .size dlopen, .-dlopen
  .popsection
)");
#endif

THINWIRE_EARLY void thinwire_note_opening(const char*, int mode) {
  if (__atomic_load_n(&thinwire_next_dlopen, __ATOMIC_ACQUIRE) == nullptr) {
    void* const next = dlsym(RTLD_NEXT, "dlopen");
    __atomic_store_n(&thinwire_next_dlopen, reinterpret_cast<Dlopen>(next), __ATOMIC_RELEASE);
  }
  if ((mode & RTLD_DEEPBIND) != 0) {
    thinwire::mpi::deep_binding_may_be_open.store(true, std::memory_order_release);
  }
}

namespace thinwire::mpi {
namespace {

#ifdef __x86_64__
constexpr std::uint32_t kCallSlot = R_X86_64_JUMP_SLOT, kOtherSlot = R_X86_64_GLOB_DAT,
                        kPointer = R_X86_64_64;
#else
constexpr std::uint32_t kCallSlot = R_AARCH64_JUMP_SLOT, kOtherSlot = R_AARCH64_GLOB_DAT,
                        kPointer = R_AARCH64_ABS64;
#endif

// What an object's dynamic section says of the words that the loader fills in.
struct Object {
  std::uintptr_t base = 0, end = 0;  // where it is loaded
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela) * calls = nullptr;
  std::size_t call_bytes = 0;
  const ElfW(Rela) * others = nullptr;
  std::size_t other_bytes = 0;

  bool contains(const void* at) const {
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    return address >= base && address < end;
  }
};

template <typename T>
T at_address(std::uintptr_t address) {
  return reinterpret_cast<T>(address);
}

Object object_of(const dl_phdr_info& info) {
  Object object;
  object.base = info.dlpi_addr;
  const ElfW(Dyn)* dynamic = nullptr;
  for (int at = 0; at < info.dlpi_phnum; ++at) {
    const ElfW(Phdr)& part = info.dlpi_phdr[at];
    if (part.p_type == PT_DYNAMIC)
      dynamic = at_address<const ElfW(Dyn)*>(info.dlpi_addr + part.p_vaddr);
    if (part.p_type == PT_LOAD && info.dlpi_addr + part.p_vaddr + part.p_memsz > object.end)
      object.end = info.dlpi_addr + part.p_vaddr + part.p_memsz;
  }
  // glibc has made addresses of what it says, but for the kernel's own object.
  const auto where = [&](std::uintptr_t value) {
    return value < object.base ? value + object.base : value;
  };
  for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) {
    const std::uintptr_t value = dynamic->d_un.d_ptr;
    if (dynamic->d_tag == DT_SYMTAB) object.symbols = at_address<const ElfW(Sym)*>(where(value));
    if (dynamic->d_tag == DT_STRTAB) object.names = at_address<const char*>(where(value));
    if (dynamic->d_tag == DT_JMPREL) object.calls = at_address<const ElfW(Rela)*>(where(value));
    if (dynamic->d_tag == DT_PLTRELSZ) object.call_bytes = dynamic->d_un.d_val;
    if (dynamic->d_tag == DT_RELA) object.others = at_address<const ElfW(Rela)*>(where(value));
    if (dynamic->d_tag == DT_RELASZ) object.other_bytes = dynamic->d_un.d_val;
  }
  return object;
}

struct Binding {
  void* own = nullptr;  // this library's handle
  int changed = 0;
};

// The wrapper that a call of `name` is to reach, where the loader has bound it to the MPI's own, or
// is still to bind it; nullptr else.
void* wrapper_for(const Object& object, const Binding& binding, const char* name, void* bound,
                  bool may_be_unbound) {
  const char* const inner = name[0] == 'P' ? name : nullptr;
  if (std::strncmp(inner == nullptr ? name : name + 1, "MPI_", 4) != 0) return nullptr;
  void* const wrapper = shim::loaders_dlsym(binding.own, name);
  if (wrapper == nullptr || wrapper == bound) return nullptr;
  if (may_be_unbound && object.contains(bound)) return wrapper;
  const std::string below = inner == nullptr ? "P" + std::string(name) : name;
  const bool is_mpis = bound == find_symbol(below.c_str()) || bound == find_symbol(name);
  return is_mpis ? wrapper : nullptr;
}

// The page may be read-only by now.
bool write_word(void** place, void* value) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(place) & ~(page - 1);
  if (mprotect(at_address<void*>(first), page, PROT_READ | PROT_WRITE) != 0) return false;
  __atomic_store_n(place, value, __ATOMIC_RELEASE);
  return true;
}

void bind(const Object& object, const ElfW(Rela) * words, std::size_t bytes, Binding& binding) {
  for (std::size_t at = 0; words != nullptr && at < bytes / sizeof *words; ++at) {
    const auto kind = static_cast<std::uint32_t>(ELF64_R_TYPE(words[at].r_info));
    if (kind != kCallSlot && kind != kOtherSlot && kind != kPointer) continue;
    const ElfW(Sym)& symbol = object.symbols[ELF64_R_SYM(words[at].r_info)];
    if (symbol.st_shndx != SHN_UNDEF) continue;  // a tool that has calls of MPI itself
    void** const place = at_address<void**>(object.base + words[at].r_offset);
    const char* const name = object.names + symbol.st_name;
    void* const wrapper = wrapper_for(object, binding, name, *place, kind == kCallSlot);
    if (wrapper != nullptr && write_word(place, wrapper)) ++binding.changed;
  }
}

// The loader's lock is held: nothing may be looked up.
int note_object(dl_phdr_info* info, std::size_t, void* objects) {
  const Object object = object_of(*info);
  const bool has_calls = object.symbols != nullptr && object.names != nullptr;
  if (has_calls) static_cast<std::vector<Object>*>(objects)->push_back(object);
  return 0;
}

int bind_all() {
  std::vector<Object> objects;
  dl_iterate_phdr(note_object, &objects);
  Binding binding;
  binding.own = own_handle();
  const void* const of_mpi = find_symbol("PMPI_Init");
  if (binding.own == nullptr || of_mpi == nullptr) return 0;
  for (const Object& object : objects) {
    // This library's own calls, and the MPI's among each other, are meant as they are.
    if (object.contains(reinterpret_cast<void*>(&note_object)) || object.contains(of_mpi)) continue;
    bind(object, object.calls, object.call_bytes, binding);
    bind(object, object.others, object.other_bytes, binding);
  }
  return binding.changed;
}

}  // namespace

void bind_modules_to_wrappers() {
  if (!deep_binding_may_be_open.exchange(false, std::memory_order_acq_rel)) return;
  const bool outer = looks_up_itself;
  looks_up_itself = true;
  int changed = 0;
  try {
    changed = bind_all();
  } catch (...) {  // no memory: the next look-up tries again
    deep_binding_may_be_open = true;
  }
  dlerror();
  looks_up_itself = outer;
  if (changed > 0) {
    tw_log(TW_LOG_DEBUG, "a module that was opened with RTLD_DEEPBIND calls the wrappers");
  }
}

}  // namespace thinwire::mpi

#else

void thinwire::mpi::bind_modules_to_wrappers() {}

#endif
