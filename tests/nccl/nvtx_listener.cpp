// A profiler of NVTX's ranges, as NVTX_INJECTION64_PATH loads it into a program: what comes in the
// domain "thinwire" is written to the file that NVTX_LISTENER_FILE names.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "nvtx3/nvToolsExt.h"

namespace {

std::mutex mutex;
int domain_of_thinwire = 0;

void write(const char* what, const nvtxEventAttributes_t* of) {
  const std::lock_guard lock(mutex);
  static std::FILE* const file = std::fopen(std::getenv("NVTX_LISTENER_FILE"), "w");
  if (of == nullptr) {
    std::fprintf(file, "%s\n", what);
  } else {
    const auto bytes = static_cast<unsigned long long>(of->payload.ullValue);
    std::fprintf(file, "%s %s, payload %llu\n", what, of->message.ascii, bytes);
  }
  std::fflush(file);
}

bool is_ours(nvtxDomainHandle_t domain) {
  return domain == reinterpret_cast<nvtxDomainHandle_t>(&domain_of_thinwire);
}

nvtxDomainHandle_t create(const char* name) {
  static int others = 0;
  int* const handle = std::strcmp(name, "thinwire") == 0 ? &domain_of_thinwire : &others;
  return reinterpret_cast<nvtxDomainHandle_t>(handle);
}

int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* of) {
  if (is_ours(domain)) write("push", of);
  return 0;
}

int pop(nvtxDomainHandle_t domain) {
  if (is_ours(domain)) write("pop", nullptr);
  return 0;
}

void mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* of) {
  if (is_ours(domain)) write("mark", of);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_table) {
  const auto* const callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) {
    return 0;
  }
  *table[NVTX_CBID_CORE2_DomainCreateA] = reinterpret_cast<NvtxFunctionPointer>(create);
  *table[NVTX_CBID_CORE2_DomainRangePushEx] = reinterpret_cast<NvtxFunctionPointer>(push);
  *table[NVTX_CBID_CORE2_DomainRangePop] = reinterpret_cast<NvtxFunctionPointer>(pop);
  *table[NVTX_CBID_CORE2_DomainMarkEx] = reinterpret_cast<NvtxFunctionPointer>(mark);
  return 1;
}
