// dlsym(), for programs that look functions up in a handle, where no preload library is searched.
// The shim's `answer()` says what is found; all that it leaves is left to the loader's own dlsym(),
// which is jumped to, so that it sees the program's call: what RTLD_NEXT and RTLD_DEFAULT mean
// follows from the address that it returns to.
#include "shim/common/lookups.h"

#include <dlfcn.h>

#if defined(__x86_64__) || defined(__aarch64__)

using thinwire::shim::Answer;
using thinwire::shim::Dlsym;

#define THINWIRE_OF_ASSEMBLY __attribute__((visibility("hidden"), used))

extern "C" {
// The loader's own; not null once the function below has returned.
THINWIRE_OF_ASSEMBLY Dlsym thinwire_loaders_dlsym = nullptr;
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
  jmpq *thinwire_loaders_dlsym(%rip)
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
  adrp x16, thinwire_loaders_dlsym
  ldr x16, [x16, #:lo12:thinwire_loaders_dlsym]
  br x16
1:
  mov x0, x17
  ret
  .cfi_endproc
  .size dlsym, .-dlsym
  .popsection
)");
#endif

THINWIRE_EARLY Answer thinwire_look_up(void* handle, const char* name) {
  if (__atomic_load_n(&thinwire_loaders_dlsym, __ATOMIC_ACQUIRE) == nullptr) {
    void* const loaders = dlvsym(RTLD_NEXT, "dlsym", THINWIRE_FIRST_GLIBC);
    __atomic_store_n(&thinwire_loaders_dlsym, reinterpret_cast<Dlsym>(loaders), __ATOMIC_RELEASE);
  }
  if (handle == RTLD_NEXT || !thinwire::shim::may_be_taken(name)) return thinwire::shim::kLoaders;
  return thinwire::shim::answer(handle, name);
}

void* thinwire::shim::loaders_dlsym(void* handle, const char* name) {
  return thinwire_loaders_dlsym(handle, name);
}

#else

void* thinwire::shim::loaders_dlsym(void* handle, const char* name) { return dlsym(handle, name); }

#endif
