/* Loads a module with all that it needs for that module alone, and runs it. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int count, char** words) {
  void* const module = count < 2 ? NULL : dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
  void* const found = module == NULL ? NULL : dlsym(module, "run");
  int (*run)(void) = NULL;
  if (found == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  memcpy(&run, &found, sizeof run);
  return run();
}
