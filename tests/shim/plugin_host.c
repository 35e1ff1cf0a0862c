// plugin_host FILE: a program without MPI that loads its MPI part at run time, as Python does.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

typedef int (*RunPlugin)(int* argc, char*** argv);

int main(int argc, char** argv) {
  void* plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (plugin == NULL) {
    fprintf(stderr, "cannot load the plugin: %s\n", argc > 1 ? dlerror() : "none named");
    return 2;
  }
  const RunPlugin run = (RunPlugin)(uintptr_t)dlsym(plugin, "run_plugin");
  return run ? run(&argc, &argv) : 3;
}
