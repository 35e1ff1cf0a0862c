// The core's functions as a preload library calls them: each jumps to where load.cpp has found it.
#include "shim/common/core/load.h"

extern "C" __attribute__((visibility("hidden"), used)) void thinwire_load_core() {
  thinwire::shim::load_core();
}

// A function's place says `thinwire_core_first` until the core is looked for; that keeps the
// arguments of the call, looks, and goes on where the place says then.
#if defined(__x86_64__)
asm(R"(
  .pushsection .text
  .type thinwire_core_first, @function
  .p2align 4
thinwire_core_first:
  .cfi_startproc
  endbr64
  pushq %rbp
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset rbp, 0
  movq %rsp, %rbp
  .cfi_def_cfa_register rbp
  subq $192, %rsp
  andq $-16, %rsp
  movq %rdi, (%rsp)
  movq %rsi, 8(%rsp)
  movq %rdx, 16(%rsp)
  movq %rcx, 24(%rsp)
  movq %r8, 32(%rsp)
  movq %r9, 40(%rsp)
  movq %r11, 48(%rsp)
  movups %xmm0, 64(%rsp)
  movups %xmm1, 80(%rsp)
  movups %xmm2, 96(%rsp)
  movups %xmm3, 112(%rsp)
  movups %xmm4, 128(%rsp)
  movups %xmm5, 144(%rsp)
  movups %xmm6, 160(%rsp)
  movups %xmm7, 176(%rsp)
  callq thinwire_load_core
  movq (%rsp), %rdi
  movq 8(%rsp), %rsi
  movq 16(%rsp), %rdx
  movq 24(%rsp), %rcx
  movq 32(%rsp), %r8
  movq 40(%rsp), %r9
  movq 48(%rsp), %r11
  movups 64(%rsp), %xmm0
  movups 80(%rsp), %xmm1
  movups 96(%rsp), %xmm2
  movups 112(%rsp), %xmm3
  movups 128(%rsp), %xmm4
  movups 144(%rsp), %xmm5
  movups 160(%rsp), %xmm6
  movups 176(%rsp), %xmm7
  leave
  .cfi_def_cfa rsp, 8
  .cfi_restore rbp
  jmpq *(%r11)
  .cfi_endproc
  .size thinwire_core_first, .-thinwire_core_first
  .popsection
)");
#define THINWIRE_JUMP(name) " endbr64\n leaq thinwire_core_" #name "(%rip), %r11\n jmpq *(%r11)\n"
#elif defined(__aarch64__)
asm(R"(
  .pushsection .text
  .type thinwire_core_first, %function
  .p2align 4
thinwire_core_first:
  .cfi_startproc
  hint #34
  stp x29, x30, [sp, #-224]!
  .cfi_def_cfa_offset 224
  .cfi_rel_offset x29, 0
  .cfi_rel_offset x30, 8
  stp x0, x1, [sp, #16]
  stp x2, x3, [sp, #32]
  stp x4, x5, [sp, #48]
  stp x6, x7, [sp, #64]
  stp x8, x17, [sp, #80]
  stp q0, q1, [sp, #96]
  stp q2, q3, [sp, #128]
  stp q4, q5, [sp, #160]
  stp q6, q7, [sp, #192]
  bl thinwire_load_core
  ldp x0, x1, [sp, #16]
  ldp x2, x3, [sp, #32]
  ldp x4, x5, [sp, #48]
  ldp x6, x7, [sp, #64]
  ldp x8, x17, [sp, #80]
  ldp q0, q1, [sp, #96]
  ldp q2, q3, [sp, #128]
  ldp q4, q5, [sp, #160]
  ldp q6, q7, [sp, #192]
  ldp x29, x30, [sp], #224
  .cfi_def_cfa_offset 0
  .cfi_restore x29
  .cfi_restore x30
  ldr x16, [x17]
  br x16
  .cfi_endproc
  .size thinwire_core_first, .-thinwire_core_first
  .popsection
)");
#define THINWIRE_JUMP(name)                                                                   \
  " hint #34\n adrp x17, thinwire_core_" #name "\n add x17, x17, #:lo12:thinwire_core_" #name \
  "\n ldr x16, [x17]\n br x16\n"
#else
#error "preload libraries carry the core on this machine: THINWIRE_ONE_CORE=OFF"
#endif

#define THINWIRE_PLACE(name)                                                                    \
  asm(".pushsection .data.rel,\"aw\",%progbits\n .p2align 3\n .globl thinwire_core_" #name      \
      "\n .hidden thinwire_core_" #name "\n .type thinwire_core_" #name                         \
      ", %object\n"                                                                             \
      "thinwire_core_" #name ": .quad thinwire_core_first\n .size thinwire_core_" #name         \
      ", 8\n .popsection\n"                                                                     \
      ".pushsection .text\n .globl " #name "\n .hidden " #name "\n .type " #name                \
      ", %function\n .p2align 4\n" #name ":\n" THINWIRE_JUMP(name) " .size " #name ", .-" #name \
                                                                   "\n .popsection\n");
#define THINWIRE_CORE_STATUS THINWIRE_PLACE
#define THINWIRE_CORE_TEXT THINWIRE_PLACE
#define THINWIRE_CORE_NUMBER THINWIRE_PLACE
#define THINWIRE_CORE_NOTHING THINWIRE_PLACE
#include "shim/common/core/calls.inc"
#undef THINWIRE_CORE_STATUS
#undef THINWIRE_CORE_TEXT
#undef THINWIRE_CORE_NUMBER
#undef THINWIRE_CORE_NOTHING
