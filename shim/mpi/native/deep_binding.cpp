#include "shim/mpi/native/deep_binding.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "shim/common/lookups.h"
#include "shim/mpi/native/loaded_objects.h"
#include "shim/mpi/native/mpi_symbols.h"
#include "shim/mpi/native/step_aside.h"
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
  // The MPI may come only with what is opened.
  if ((mode & RTLD_DEEPBIND) != 0 && !thinwire::mpi::stands_aside() &&
      !thinwire::mpi::show_wrappers_in_mpi())
    thinwire::mpi::deep_binding_may_be_open.store(true, std::memory_order_release);
}

namespace thinwire::mpi {
namespace {

// The wrapper that a call of `name` is to reach if the loader has bound it to the MPI's own;
// nullptr else. What it is still to bind, at a first call, finds the wrapper.
void* wrapper_for(const char* name, const void* bound) {
  const char* const inner = name[0] == 'P' ? name : nullptr;
  if (std::strncmp(inner == nullptr ? name : name + 1, "MPI", 3) != 0) return nullptr;
  void* const wrapper = wrapper_of(name);
  if (wrapper == nullptr || wrapper == bound) return nullptr;
  const std::string below = inner == nullptr ? "P" + std::string(name) : name;
  const bool is_mpis = bound == find_symbol(below.c_str()) || bound == find_symbol(name);
  return is_mpis ? wrapper : nullptr;
}

int bind(const LoadedObject& object, const ElfW(Rela) * words, std::size_t bytes) {
  int changed = 0;
  for (std::size_t at = 0; words != nullptr && at < bytes / sizeof *words; ++at) {
    if (!is_of_symbol(words[at])) continue;
    const ElfW(Sym)& symbol = object.symbols[ELF64_R_SYM(words[at].r_info)];
    if (symbol.st_shndx != SHN_UNDEF) continue;  // a tool that has calls of MPI itself
    void** const place = at_address<void**>(object.base + words[at].r_offset);
    void* const wrapper = wrapper_for(object.names + symbol.st_name, *place);
    if (wrapper != nullptr && write_word(place, wrapper)) ++changed;
  }
  return changed;
}

// Whether there was an MPI, so that what is opened from now on needs no binding.
bool bind_all() {
  const bool is_shown = show_wrappers_in_mpi();
  const void* const of_mpi = find_symbol("PMPI_Init");
  if (own_handle() == nullptr || of_mpi == nullptr) return false;
  int changed = 0;
  for (const LoadedObject& object : loaded_objects()) {
    // This library's own calls, and the MPI's among each other, are meant as they are.
    if (object.contains(reinterpret_cast<void*>(&bind_all)) || object.contains(of_mpi)) continue;
    changed += bind(object, object.calls, object.call_bytes);
    changed += bind(object, object.others, object.other_bytes);
  }
  if (changed > 0) {
    tw_log(TW_LOG_DEBUG, "a module that was opened with RTLD_DEEPBIND calls the wrappers");
  }
  return is_shown;
}

}  // namespace

void bind_modules_to_wrappers() {
  static std::atomic<unsigned long long> seen{0};
  const unsigned long long now = times_loaded();
  if (seen == now) return;
  const bool outer = looks_up_itself;
  looks_up_itself = true;
  try {
    if (bind_all()) deep_binding_may_be_open = false;
    seen = now;
  } catch (...) {  // no memory: the next look-up tries again
  }
  dlerror();
  looks_up_itself = outer;
}

}  // namespace thinwire::mpi

#else

void thinwire::mpi::bind_modules_to_wrappers() {}

#endif
