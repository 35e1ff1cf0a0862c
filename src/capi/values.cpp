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

tw_status tw_values_add_exactly(tw_dtype dtype, uint64_t count, uint32_t arrays, const void* first,
                                uint64_t stride, void* into) {
  return guarded([&] {
    if (static_cast<int>(dtype) >= kDtypeCount || arrays == 0 || arrays > INT32_MAX) {
      return misuse("tw_values_add_exactly: no such dtype, or no number of arrays");
    }
    const auto values = static_cast<Dtype>(dtype);
    if (!is_added(values)) {
      return report(
          {StatusCode::kUnsupported, std::string(dtype_name(values)) + " cannot be reduced"});
    }
    if (count > 0 && (into == nullptr || first == nullptr)) {
      return misuse("tw_values_add_exactly: an array is null");
    }
    const collective::Operands all{.first = static_cast<const std::byte*>(first),
                                   .stride = stride,
                                   .count = static_cast<int>(arrays),
                                   .is_exact = true};
    return report(collective::sum_anywhere(values, count, all, static_cast<std::byte*>(into)));
  });
}
