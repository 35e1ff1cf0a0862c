// plugin_host FILE [deep]: a program without MPI that loads its MPI part at run time, as Python
// does; with "deep" so that the part finds the MPI before a preload library's functions.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

typedef int (*RunPlugin)(int* argc, char*** argv);

int main(int argc, char** argv) {
  const int deep = argc > 2 ? RTLD_DEEPBIND : 0;
  void* plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | deep) : NULL;
  if (plugin == NULL) {
    fprintf(stderr, "cannot load the plugin: %s\n", argc > 1 ? dlerror() : "none named");
    return 2;
  }
  const RunPlugin run = (RunPlugin)(uintptr_t)dlsym(plugin, "run_plugin");
  return run ? run(&argc, &argv) : 3;
}
