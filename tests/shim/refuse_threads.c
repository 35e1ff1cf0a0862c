// A library to preload: from refuse_threads(1) to refuse_threads(0) the process gets no threads, as
// under `ulimit -u` or pids.max of its cgroup.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

typedef int (*Create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

static atomic_int refused;

void refuse_threads(int whether) { refused = whether; }

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*),
                   void* argument) {
  Create create = NULL;
  if (refused) return EAGAIN;
  *(void**)&create = dlsym(RTLD_NEXT, "pthread_create");
  return create(thread, attributes, work, argument);
}
