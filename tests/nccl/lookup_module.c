// Functions that dlsym() finds from this module by its caller's position, not by a handle.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

// The program, which is before this module, has one that says 1.
int lookup_which(void) { return 2; }

// Nobody else has it, and this module is loaded for itself alone.
int lookup_here_alone(void) { return 3; }

typedef int (*Which)(void);

static int ask(void* found) {
  Which which;
  *(void**)&which = found;
  return found == NULL ? 0 : which();
}

// Returns 0: no module loaded after this one has it.
int lookup_next(void) { return ask(dlsym(RTLD_NEXT, "lookup_which")); }

int lookup_default(void) { return ask(dlsym(RTLD_DEFAULT, "lookup_here_alone")); }
