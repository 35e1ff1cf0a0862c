#include "state/own_sums.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/dtype.h"
#include "state/reason.h"

namespace thinwire::nccl {
namespace {

template <typename Value>
Value value_at(const void* at) {
  Value value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

double number_of_f16(std::uint16_t word) {
  const int exponent = word >> 10 & 31;
  const int fraction = word & 1023;
  double number =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31) {
    number = fraction == 0 ? std::numeric_limits<double>::infinity()
                           : std::numeric_limits<double>::quiet_NaN();
  }
  return word >> 15 != 0 ? -number : number;
}

double number_at(const void* scalar, std::uint32_t dtype) {
  switch (dtype) {
    case TW_F64:
      return value_at<double>(scalar);
    case TW_F16:
      return number_of_f16(value_at<std::uint16_t>(scalar));
    case TW_BF16:
      return std::bit_cast<float>(std::uint32_t{value_at<std::uint16_t>(scalar)} << 16);
    default:
      return value_at<float>(scalar);
  }
}

}  // namespace

void OwnSums::add(ncclRedOp_t op, const void* scalar, ncclDataType_t type,
                  ncclScalarResidence_t where) {
  const std::uint32_t dtype = dtype_of(type);
  std::optional<Factor> factor;
  if (is_added(static_cast<Dtype>(dtype))) {
    factor.emplace();
    if (where == ncclScalarHostImmediate) {
      factor->number = number_at(scalar, dtype);
    } else {
      factor->at = scalar;
    }
  }
  const std::lock_guard lock(mutex_);
  sums_.insert_or_assign(op, Sum{type, factor});
}

void OwnSums::remove(ncclRedOp_t op) {
  const std::lock_guard lock(mutex_);
  sums_.erase(op);
}

std::optional<Factor> OwnSums::find(ncclRedOp_t op, ncclDataType_t type) const {
  const std::lock_guard lock(mutex_);
  const auto found = sums_.find(op);
  if (found == sums_.end() || found->second.type != type) return std::nullopt;
  return found->second.factor;
}

bool OwnSums::has(ncclRedOp_t op, ncclDataType_t type) const {
  const std::lock_guard lock(mutex_);
  const auto found = sums_.find(op);
  return found != sums_.end() && found->second.type == type;
}

}  // namespace thinwire::nccl
