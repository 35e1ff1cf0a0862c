// A preload library for tests, which refuses what the library under test asks the system for, as a
// system at its limits does: threads (REFUSE_THREADS=N: those beyond the first N, and
// REFUSE_THREADS_TO=M: of these the first M) and memory (REFUSE_MEMORY=N: the Nth piece that a
// thread of the program takes in it; REFUSE_OWN_MEMORY=N: that a thread of its own takes).
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" void* __libc_malloc(std::size_t bytes);

namespace {

using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

// The code of the library under test.
std::uintptr_t g_begin = 0, g_end = 0;
long g_threads = -1, g_last = -1, g_memory = -1, g_own_memory = -1;
std::atomic<long> g_made{0}, g_taken{0}, g_own_taken{0};
thread_local bool t_is_its_own = false;

long number(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? -1 : std::atol(text);
}

int find_it(dl_phdr_info* info, std::size_t, void* name) {
  if (std::strstr(info->dlpi_name, static_cast<const char*>(name)) == nullptr) return 0;
  for (int at = 0; at < info->dlpi_phnum; ++at) {
    const ElfW(Phdr)& part = info->dlpi_phdr[at];
    if (part.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
    if (g_end == 0) g_begin = begin;
    g_end = begin + part.p_memsz;
  }
  return 1;
}

__attribute__((constructor)) void begin() {
  char name[] = "libthinwire_";
  dl_iterate_phdr(find_it, name);
  g_threads = number("REFUSE_THREADS");
  g_last = number("REFUSE_THREADS_TO");
  g_memory = number("REFUSE_MEMORY");
  g_own_memory = number("REFUSE_OWN_MEMORY");
}

bool is_of_it(const void* caller) {
  const auto at = reinterpret_cast<std::uintptr_t>(caller);
  return at >= g_begin && at < g_end;
}

struct Start {
  void* (*work)(void*);
  void* with;
};

void* run_its_own(void* of) {
  const Start start = *static_cast<Start*>(of);
  delete static_cast<Start*>(of);
  t_is_its_own = true;
  return start.work(start.with);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* made,
                                                                     const pthread_attr_t* how,
                                                                     void* (*work)(void*),
                                                                     void* with) {
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  if (!is_of_it(__builtin_return_address(0))) return create(made, how, work, with);
  const long before = g_made.fetch_add(1);
  const bool is_late = g_last >= 0 && before >= g_threads + g_last;
  if (g_threads >= 0 && before >= g_threads && !is_late) return EAGAIN;
  return create(made, how, run_its_own, new Start{work, with});
}

extern "C" __attribute__((visibility("default"))) void* malloc(std::size_t bytes) {
  const long wanted = t_is_its_own ? g_own_memory : g_memory;
  std::atomic<long>& taken = t_is_its_own ? g_own_taken : g_taken;
  const bool counts = wanted >= 0 && is_of_it(__builtin_return_address(0));
  if (counts && taken.fetch_add(1) + 1 == wanted) {
    errno = ENOMEM;
    return nullptr;
  }
  return __libc_malloc(bytes);
}

// How much there was to refuse.
__attribute__((destructor)) void tell() {
  if (std::getenv("REFUSE_TELL") != nullptr) {
    std::fprintf(stderr, "refuse: %ld threads, %ld pieces\n", g_made.load(), g_taken.load());
  }
}
