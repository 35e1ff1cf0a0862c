#include "own_sums.h"

#include <cstdint>
#include <cstring>
#include <mutex>

#include "base/half.h"
#include "comm.h"
#include "entry.h"
#include "reduce.h"

namespace fake_nccl {
namespace {

template <typename Value>
Value value_at(const void* at) {
  Value value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <typename Value>
void multiply_as(const void* scalar, const std::byte* values, std::size_t count, std::byte* to) {
  const auto factor = value_at<Value>(scalar);
  for (std::size_t at = 0; at < count; ++at) {
    const Value product = value_at<Value>(values + at * sizeof(Value)) * factor;
    std::memcpy(to + at * sizeof product, &product, sizeof product);
  }
}

template <float (*kNumber)(std::uint16_t), std::uint16_t (*kWord)(float)>
void multiply_halves(const void* scalar, const std::byte* values, std::size_t count,
                     std::byte* to) {
  const float factor = kNumber(value_at<std::uint16_t>(scalar));
  for (std::size_t at = 0; at < count; ++at) {
    const std::uint16_t word = kWord(kNumber(value_at<std::uint16_t>(values + at * 2)) * factor);
    std::memcpy(to + at * sizeof word, &word, sizeof word);
  }
}

}  // namespace

void multiply(const OwnSum& by, const std::byte* values, std::size_t count, std::byte* to) {
  using namespace thinwire;
  const void* const scalar = by.in_memory != nullptr ? by.in_memory : by.scalar.data();
  if (by.type == ncclFloat32) multiply_as<float>(scalar, values, count, to);
  if (by.type == ncclFloat64) multiply_as<double>(scalar, values, count, to);
  if (by.type == ncclInt32) multiply_as<std::int32_t>(scalar, values, count, to);
  if (by.type == ncclInt64) multiply_as<std::int64_t>(scalar, values, count, to);
  if (by.type == ncclFloat16) multiply_halves<float_of_f16, f16_of>(scalar, values, count, to);
  if (by.type == ncclBfloat16) multiply_halves<float_of_bf16, bf16_of>(scalar, values, count, to);
}

FAKE_NCCL(RedOpCreatePreMulSum, ncclRedOp_t* op, void* scalar, ncclDataType_t type,
          ncclScalarResidence_t where, ncclComm_t comm) {
  if (const ncclResult_t error = usable(comm); error != ncclSuccess) return error;
  // No test multiplies 8-bit floats.
  const bool can_multiply = can_reduce(type, ncclSum) && element_bytes(type) > 1;
  if (scalar == nullptr || !can_multiply) return ncclInvalidArgument;
  OwnSum made{.type = type, .scalar = {}, .in_memory = nullptr};
  if (where == ncclScalarHostImmediate) {
    const auto* const bytes = static_cast<const std::byte*>(scalar);
    made.scalar.assign(bytes, bytes + element_bytes(type));
  } else {
    made.in_memory = scalar;
  }
  const std::lock_guard lock(comm->mutex);
  // The least that is free, as NCCL does; the communicator's own number makes handles differ.
  int index = 0;
  const auto handle = [&] { return ncclNumOps + index * 16 + comm->rank; };
  while (comm->own_sums.contains(handle())) ++index;
  *op = static_cast<ncclRedOp_t>(handle());
  comm->own_sums.emplace(handle(), std::make_shared<const OwnSum>(std::move(made)));
  return ncclSuccess;
}

FAKE_NCCL(RedOpDestroy, ncclRedOp_t op, ncclComm_t comm) {
  if (const ncclResult_t error = usable(comm); error != ncclSuccess) return error;
  const std::lock_guard lock(comm->mutex);
  return comm->own_sums.erase(op) == 1 ? ncclSuccess : ncclInvalidArgument;
}

}  // namespace fake_nccl
