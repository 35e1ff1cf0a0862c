// dlsym(), for programs that look NCCL's functions up in a handle, where no preload library is
// searched (decision 0041). A function that this library takes is answered with its wrapper, if
// what the loader finds is the very function that the wrapper goes on to. All else is left to the
// loader's own dlsym(), which is jumped to, so that it sees the program's call: what RTLD_NEXT and
// RTLD_DEFAULT mean follows from the address that it returns to.
#if defined(__x86_64__) || defined(__aarch64__)

#include <dlfcn.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "abi/real.h"
#include "abi/taken.h"
#include "thinwire/thinwire.h"

using Dlsym = void* (*)(void* handle, const char* name);

// Sanitizers' own start comes here before their functions work.
#define THINWIRE_EARLY __attribute__((no_sanitize("address", "thread", "undefined")))
#define THINWIRE_OF_ASSEMBLY __attribute__((visibility("hidden"), used))

// In two registers.
struct Answer {
  unsigned long is_answered;  // 0: the loader's
  void* found;
};

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

namespace thinwire::nccl {
namespace {

constexpr Answer kLoaders = {0, nullptr};

struct Taken {
  std::string_view name;
  void* wrapper;
  void* (*below)();  // NCCL's own
};

const Taken kTaken[] = {
#define THINWIRE_NCCL_CALL(function)                           \
  {"nccl" #function, reinterpret_cast<void*>(&nccl##function), \
   [] { return reinterpret_cast<void*>(real().function); }},
    THINWIRE_NCCL_TAKEN(THINWIRE_NCCL_CALL)
#undef THINWIRE_NCCL_CALL
};

// What is found is not that of the NCCL that calls go on to: mixed, they would break.
void tell_of_second(const std::string& inner, void* handle, void* found) {
  Dl_info about{};
  const bool is_nccls = thinwire_loaders_dlsym(handle, inner.c_str()) == found;
  if (!is_nccls || dladdr(found, &about) == 0 || about.dli_fname == nullptr) return;
  static std::mutex mutex;
  static auto* const said = new std::set<std::string>;
  const std::lock_guard lock(mutex);
  if (!said->insert(about.dli_fname).second) return;
  tw_log(TW_LOG_WARNING, ("this process has two NCCLs: calls that it looks up in " +
                          std::string(about.dli_fname) + " stay as they are")
                             .c_str());
}

Answer answer(void* handle, const char* name) {
  const auto* const taken =
      std::find_if(std::begin(kTaken), std::end(kTaken),
                   [name = std::string_view(name)](const Taken& of) { return of.name == name; });
  if (taken == std::end(kTaken)) return kLoaders;
  void* const found = thinwire_loaders_dlsym(handle, name);
  const std::string inner = std::string("p") + name;
  if (found == taken->wrapper) {
    // By the search of a linked program, which is to see no function that its NCCL lacks; an error
    // names the inner one then.
    if (find(inner.c_str()) != nullptr) return kLoaders;
    return {1, thinwire_loaders_dlsym(handle, inner.c_str())};
  }
  const bool is_own = found != nullptr && handle != RTLD_DEFAULT;
  // What NCCL this process has is settled by its first call, not before there is one.
  if (!is_own || find("pncclGetVersion") == nullptr) return kLoaders;
  if (found == taken->below()) {
    dlerror();  // what was looked for here is no error of the program's
    return {1, taken->wrapper};
  }
  tell_of_second(inner, handle, found);
  return kLoaders;
}

}  // namespace
}  // namespace thinwire::nccl

THINWIRE_EARLY Answer thinwire_look_up(void* handle, const char* name) {
  if (__atomic_load_n(&thinwire_loaders_dlsym, __ATOMIC_ACQUIRE) == nullptr) {
    void* const loaders = dlvsym(RTLD_NEXT, "dlsym", THINWIRE_FIRST_GLIBC);
    __atomic_store_n(&thinwire_loaders_dlsym, reinterpret_cast<Dlsym>(loaders), __ATOMIC_RELEASE);
  }
  const bool is_nccls = name[0] == 'n' && name[1] == 'c' && name[2] == 'c' && name[3] == 'l';
  if (!is_nccls || handle == RTLD_NEXT) return {0, nullptr};
  return thinwire::nccl::answer(handle, name);
}

#endif
