// Stands for what nvcc makes of kernels: their names are kept, and none runs.
#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "fake_cuda/state.h"

using namespace thinwire::fake_cuda;

namespace {

// "encode_variable_blocks" of what the compiler makes of it.
std::string short_name(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> whole(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), &std::free);
  std::string name = status == 0 ? whole.get() : mangled;
  constexpr std::string_view kUnnamed = "(anonymous namespace)";
  for (auto at = name.find(kUnnamed); at != std::string::npos; at = name.find(kUnnamed)) {
    name.erase(at, kUnnamed.size());
  }
  name.erase(std::min(name.find_first_of("<("), name.size()));
  for (const char before : {':', ' '}) {
    if (const auto at = name.rfind(before); at != std::string::npos) name.erase(0, at + 1);
  }
  return name;
}

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) { return 1; }
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}
void __cudaRegisterFunction(void**, const char* on_host, char*, const char* name, int, uint3*,
                            uint3*, dim3*, dim3*, int*) {
  state().kernels[on_host] = short_name(name);
}
// Kernels are launched by cudaLaunchKernel() alone.
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, size_t*, void*) { return cudaErrorUnknown; }
cudaError_t __cudaGetKernel(cudaKernel_t*, const void*) { return cudaErrorUnknown; }
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, size_t, cudaStream_t) {
  return cudaErrorUnknown;
}

}  // extern "C"
