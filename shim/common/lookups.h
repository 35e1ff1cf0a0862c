// Look-ups of functions by dlsym(), which a shim answers with its wrappers (decisions 0041 and
// 0068).
#pragma once

// Sanitizers' own start comes here before their functions work.
#define THINWIRE_EARLY __attribute__((no_sanitize("address", "thread", "undefined")))

namespace thinwire::shim {

using Dlsym = void* (*)(void* handle, const char* name);

// The answer of a look-up, which travels in two registers.
struct Answer {
  unsigned long is_answered;  // 0: it is left to the next dlsym()
  void* found;
};
inline constexpr Answer kLoaders = {0, nullptr};

// The shim's. By a few letters: whether `answer` is to be asked.
bool may_be_taken(const char* name);
// The shim's: what a look-up of `name` finds in a handle, RTLD_DEFAULT or RTLD_NEXT.
Answer answer(void* handle, const char* name);

// Says, once a library, that this process has two of what the shim is preloaded for: `what`, as
// "NCCL", whose function the look-up found. Mixed, they would break.
void tell_of_second(const char* what, void* found);

// The loader's own, for what `answer` asks it.
void* loaders_dlsym(void* handle, const char* name);

}  // namespace thinwire::shim
