#include "coding/ranges.h"

#include <string>

#include "process/reason.h"
#include "process/settings.h"

#ifdef THINWIRE_NVTX
#include "nvtx3/nvToolsExt.h"
#endif

namespace thinwire::nccl {

#ifdef THINWIRE_NVTX

namespace {

// Null where nobody listens.
nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t made = nvtxDomainCreateA("thinwire");
  return made;
}

nvtxEventAttributes_t event(const std::string& text, std::uint64_t bytes) {
  nvtxEventAttributes_t made{};
  made.version = NVTX_VERSION;
  made.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  made.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  made.payload.ullValue = bytes;
  made.messageType = NVTX_MESSAGE_TYPE_ASCII;
  made.message.ascii = text.c_str();  // which whoever listens copies
  return made;
}

// What the call reads or writes of the program's, in one array.
std::uint64_t bytes_of(const Planned& planned) {
  return planned.call.elements * element_bytes(planned.call.type);
}

std::string text_of(const std::string& what, unsigned codec, std::uint64_t bytes) {
  return what + " " + tw_codec_spec(settings().codecs[codec].codec) + " " + std::to_string(bytes) +
         " bytes";
}

}  // namespace

bool ranges_are_watched() { return domain() != nullptr; }

void Range::begin(std::span<const Planned> calls) {
  std::uint64_t bytes = 0;
  for (const Planned& each : calls) bytes += bytes_of(each);
  const bool alone = calls.size() == 1;
  const std::string what = alone ? operation_name(calls.front().call.operation)
                                 : "group of " + std::to_string(calls.size());
  const std::string text = text_of(what, calls.front().decision.codec, bytes);
  const nvtxEventAttributes_t whole = event(text, bytes);
  nvtxDomainRangePushEx(domain(), &whole);
  if (alone) return;
  for (const Planned& each : calls) {
    const std::string own =
        text_of(operation_name(each.call.operation), each.decision.codec, bytes_of(each));
    const nvtxEventAttributes_t mark = event(own, bytes_of(each));
    nvtxDomainMarkEx(domain(), &mark);
  }
}

void Range::end() { nvtxDomainRangePop(domain()); }

#else

bool ranges_are_watched() { return false; }
void Range::begin(std::span<const Planned>) {}
void Range::end() {}

#endif

}  // namespace thinwire::nccl
