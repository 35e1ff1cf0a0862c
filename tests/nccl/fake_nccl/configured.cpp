// The collectives' twins of 2.31, which take a configuration of the call, and functions that no
// library over NCCL knows.
#include "configured.h"

#include <cstddef>
#include <cstring>

#include "entry.h"
#include "group.h"

namespace fake_nccl {
namespace {

// As NCCL has it: read in the call, refused if it is none or asks for what there is not.
bool take(const ncclCollConfig_t* config) {
  if (config == nullptr) return true;
  if (config->magic != 0xcafebeef) return false;
  const bool names_one = config->algSelection != nullptr && *config->algSelection != '\0';
  if (names_one && std::strcmp(config->algSelection, "ring") != 0) return false;
  for (const auto* each = static_cast<const Extension*>(config->ext); each != nullptr;
       each = each->next) {
    if (each->vendor == kVendor) ++*static_cast<std::atomic<int>*>(each->value);
  }
  return true;
}

}  // namespace

#define TWIN(name, kind, ...)                                                                      \
  extern "C" ncclResult_t pnccl##name(                                                             \
      const void* send, void* receive, std::size_t count, ncclDataType_t type,                     \
      THINWIRE_NCCL_TAKES_##kind ncclComm_t comm, cudaStream_t stream);                            \
  FAKE_NCCL(name##Config, const void* send, void* receive, std::size_t count, ncclDataType_t type, \
            THINWIRE_NCCL_TAKES_##kind ncclComm_t comm, cudaStream_t stream,                       \
            const ncclCollConfig_t* config) {                                                      \
    if (!take(config)) return refuse(ncclInvalidArgument);                                         \
    return pnccl##name(send, receive, count, type, GIVES_##kind comm, stream);                     \
  }
#define GIVES_MOVES
#define GIVES_ROOT root,
#define GIVES_SUM op,
#define GIVES_SUM_AT_ROOT op, root,
THINWIRE_NCCL_COLLECTIVES(TWIN)

FAKE_NCCL(MoveByLink) { return ncclSuccess; }
FAKE_NCCL(MoveByName) { return ncclSuccess; }

}  // namespace fake_nccl
