#include "run/ranges.h"

#include <string>

#include "state/reason.h"
#include "state/settings.h"

#ifdef THINWIRE_NVTX
#include "shim/common/nvtx.h"
#endif

namespace thinwire::nccl {

#ifdef THINWIRE_NVTX

namespace {

// Bytes of the program's that the call reads or writes, in one array.
std::uint64_t bytes_of(const Planned& planned) {
  return planned.call.elements * element_bytes(planned.call.type);
}

std::string text_of(const std::string& what, unsigned codec, std::uint64_t bytes) {
  return shim::nvtx_text(what, settings().codecs[codec].codec, bytes);
}

}  // namespace

bool ranges_are_watched() { return shim::nvtx_domain() != nullptr; }

void Range::begin(std::span<const Planned> calls) {
  std::uint64_t bytes = 0;
  for (const Planned& each : calls) bytes += bytes_of(each);
  const bool alone = calls.size() == 1;
  const std::string what = alone ? operation_name(calls.front().call.operation)
                                 : "group of " + std::to_string(calls.size());
  const std::string text = text_of(what, calls.front().decision.codec, bytes);
  const nvtxEventAttributes_t whole = shim::nvtx_event(text, bytes);
  nvtxDomainRangePushEx(shim::nvtx_domain(), &whole);
  if (alone) return;
  for (const Planned& each : calls) {
    const std::string own =
        text_of(operation_name(each.call.operation), each.decision.codec, bytes_of(each));
    const nvtxEventAttributes_t mark = shim::nvtx_event(own, bytes_of(each));
    nvtxDomainMarkEx(shim::nvtx_domain(), &mark);
  }
}

void Range::end() { nvtxDomainRangePop(shim::nvtx_domain()); }

#else

bool ranges_are_watched() { return false; }
void Range::begin(std::span<const Planned>) {}
void Range::end() {}

#endif

}  // namespace thinwire::nccl
