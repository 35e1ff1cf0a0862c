#include "trace/ranges.h"

#ifdef THINWIRE_NVTX
#include <string>

#include "nvtx3/nvToolsExt.h"
#endif

namespace thinwire::mpi {

#ifdef THINWIRE_NVTX

namespace {

// Null where nobody listens. The preload library for NCCL has the same.
nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t made = nvtxDomainCreateA("thinwire");
  return made;
}

}  // namespace

bool ranges_are_watched() { return domain() != nullptr; }

void WatchedRange::begin(const char* what, const tw_codec* codec, std::uint64_t bytes) {
  std::string text = what;
  if (codec != nullptr) text += std::string(" ") + tw_codec_spec(codec);
  text += " " + std::to_string(bytes) + " bytes";
  nvtxEventAttributes_t made{};
  made.version = NVTX_VERSION;
  made.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  made.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  made.payload.ullValue = bytes;
  made.messageType = NVTX_MESSAGE_TYPE_ASCII;
  made.message.ascii = text.c_str();  // which whoever listens copies
  nvtxDomainRangePushEx(domain(), &made);
}

void WatchedRange::end() { nvtxDomainRangePop(domain()); }

#else

bool ranges_are_watched() { return false; }
void WatchedRange::begin(const char*, const tw_codec*, std::uint64_t) {}
void WatchedRange::end() {}

#endif

}  // namespace thinwire::mpi
