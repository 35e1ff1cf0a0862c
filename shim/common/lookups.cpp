// dlsym(), for programs that look functions up in a handle, where no preload library is searched.
// The shim's `answer()` says what is found; all that it leaves is left to the next dlsym() of the
// process, the other shim's or the loader's, which is jumped to, so that the loader's sees the
// program's call: what RTLD_NEXT and RTLD_DEFAULT mean follows from the address that it returns to.
#include "shim/common/lookups.h"

#include <dlfcn.h>

#include <mutex>
#include <set>
#include <string>

#include "thinwire/thinwire.h"

#if defined(__x86_64__) || defined(__aarch64__)

using thinwire::shim::Answer;
using thinwire::shim::Dlsym;

#define THINWIRE_OF_ASSEMBLY __attribute__((visibility("hidden"), used))

extern "C" {
// Not null after the function below has returned.
THINWIRE_OF_ASSEMBLY Dlsym thinwire_next_dlsym = nullptr;
THINWIRE_OF_ASSEMBLY Answer thinwire_look_up(void* handle, const char* name);
}

#ifdef __x86_64__
#define THINWIRE_FIRST_GLIBC "GLIBC_2.2.5"
asm(R"(
  .pushsection .text
  .globl dlsym
  .type dlsym, @function
  .p2align 4
dlsym:
  .cfi_startproc
  endbr64
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  callq thinwire_look_up
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  testq %rax, %rax
  jne 1f
  jmpq *thinwire_next_dlsym(%rip)
1:
  movq %rdx, %rax
  retq
  .cfi_endproc
  .size dlsym, .-dlsym
  .popsection
)");
#else
#define THINWIRE_FIRST_GLIBC "GLIBC_2.17"
asm(R"(
  .pushsection .text
  .globl dlsym
  .type dlsym, %function
  .p2align 4
dlsym:
  .cfi_startproc
  hint #34
  stp x29, x30, [sp, #-32]!
  .cfi_adjust_cfa_offset 32
  .cfi_rel_offset x30, 8
  stp x0, x1, [sp, #16]
  bl thinwire_look_up
  mov x16, x0
  mov x17, x1
  ldp x0, x1, [sp, #16]
  ldp x29, x30, [sp], #32
  .cfi_adjust_cfa_offset -32
  .cfi_restore x30
  cbnz x16, 1f
  adrp x16, thinwire_next_dlsym
  ldr x16, [x16, #:lo12:thinwire_next_dlsym]
  br x16
1:
  mov x0, x17
  ret
  .cfi_endproc
  .size dlsym, .-dlsym
  .popsection
)");
#endif

namespace {

Dlsym loaders = nullptr;

}  // namespace

THINWIRE_EARLY Answer thinwire_look_up(void* handle, const char* name) {
  if (__atomic_load_n(&thinwire_next_dlsym, __ATOMIC_ACQUIRE) == nullptr) {
    void* const own = dlvsym(RTLD_NEXT, "dlsym", THINWIRE_FIRST_GLIBC);
    const auto look_up = reinterpret_cast<Dlsym>(own);
    __atomic_store_n(&loaders, look_up, __ATOMIC_RELAXED);
    // After this library in the order of the search; without a version, as the other shim's has
    // none.
    void* const next = look_up(RTLD_NEXT, "dlsym");
    __atomic_store_n(&thinwire_next_dlsym,
                     next == nullptr ? look_up : reinterpret_cast<Dlsym>(next), __ATOMIC_RELEASE);
  }
  if (!thinwire::shim::may_be_taken(name)) return thinwire::shim::kLoaders;
  try {
    return thinwire::shim::answer(handle, name);
  } catch (...) {  // no memory: what the loader finds is the program's
    return thinwire::shim::kLoaders;
  }
}

void* thinwire::shim::loaders_dlsym(void* handle, const char* name) {
  return loaders(handle, name);
}

#else

void* thinwire::shim::loaders_dlsym(void* handle, const char* name) { return dlsym(handle, name); }

#endif

void thinwire::shim::tell_of_second(const char* what, void* found) {
  Dl_info about{};
  if (dladdr(found, &about) == 0 || about.dli_fname == nullptr) return;
  static std::mutex mutex;
  static auto* const said = new std::set<std::string>;
  const std::lock_guard lock(mutex);
  if (!said->insert(about.dli_fname).second) return;
  tw_log(TW_LOG_WARNING, ("this process has two " + std::string(what) +
                          "s: calls that it looks up in " + about.dli_fname + " stay as they are")
                             .c_str());
}
