#include "collective/gpu/values.h"
#include "base/dtype.h"
#include "capi/boundary.h"
#include "capi/convert.h"

using namespace thinwire;
using namespace thinwire::capi;

tw_status tw_values_reduce(tw_reduction reduction, tw_dtype dtype, uint64_t count, void* into,
                           const void* from) {
  return guarded([&] {
    if (static_cast<int>(dtype) >= kDtypeCount ||
        static_cast<int>(reduction) >= plan::kReductionCount) {
      return misuse("tw_values_reduce: no such dtype or reduction");
    }
    const auto values = static_cast<Dtype>(dtype);
    if (!is_added(values)) {
      return report(
          {StatusCode::kUnsupported, std::string(dtype_name(values)) + " cannot be reduced"});
    }
    if (count > 0 && (into == nullptr || from == nullptr)) {
      return misuse("tw_values_reduce: an array is null");
    }
    return report(collective::combine_anywhere(static_cast<plan::Reduction>(reduction), values,
                                               count, static_cast<std::byte*>(into),
                                               static_cast<const std::byte*>(from)));
  });
}
