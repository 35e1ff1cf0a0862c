// Nothing of the kernels' library ends with the process: programs may send from functions that run
// at exit and were registered before the library was opened, while CUDA's driver is still there.
// These stand before the C library's functions for this library's own code alone.
extern "C" {

__attribute__((visibility("hidden"))) int atexit(void (*)()) noexcept { return 0; }

__attribute__((visibility("hidden"))) int __cxa_atexit(void (*)(void*), void*, void*) noexcept {
  return 0;
}

}  // extern "C"
