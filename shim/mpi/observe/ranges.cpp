#include "shim/mpi/observe/ranges.h"

#ifdef THINWIRE_NVTX
#include <string>

#include "shim/common/nvtx.h"
#endif

namespace thinwire::mpi {

#ifdef THINWIRE_NVTX

bool ranges_are_watched() { return shim::nvtx_domain() != nullptr; }

void WatchedRange::begin(const char* what, const tw_codec* codec, std::uint64_t bytes) {
  const std::string text = shim::nvtx_text(what, codec, bytes);
  const nvtxEventAttributes_t range = shim::nvtx_event(text, bytes);
  nvtxDomainRangePushEx(shim::nvtx_domain(), &range);
}

void WatchedRange::end() { nvtxDomainRangePop(shim::nvtx_domain()); }

#else

bool ranges_are_watched() { return false; }
void WatchedRange::begin(const char*, const tw_codec*, std::uint64_t) {}
void WatchedRange::end() {}

#endif

}  // namespace thinwire::mpi
