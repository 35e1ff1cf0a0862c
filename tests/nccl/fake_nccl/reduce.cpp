#include "reduce.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <type_traits>

#include "base/numbers.h"
#include "comm.h"
#include "group.h"

namespace fake_nccl {
namespace {

// NCCL promises no order of additions: with FAKE_NCCL_SUMS=backwards the last rank's values come
// first.
bool goes_backwards() {
  static const char* const named = std::getenv("FAKE_NCCL_SUMS");
  return named != nullptr && std::strcmp(named, "backwards") == 0;
}

template <typename T>
T combine(T left, T right, int op) {
  switch (op) {
    case ncclProd:
      return left * right;
    case ncclMax:
      return std::max(left, right);
    case ncclMin:
      return std::min(left, right);
    default:
      return left + right;
  }
}

// The factor by which NCCL multiplies each value of an average before it adds; integers it divides
// afterwards.
template <typename T>
T factor_of(int blocks, int op) {
  return op == ncclAvg ? T{1} / static_cast<T>(blocks) : T{1};
}

template <typename T>
void reduce_as(std::byte* parts, int blocks, std::size_t count, int op) {
  constexpr bool kWhole = std::is_integral_v<T>;
  const T factor = kWhole ? T{1} : factor_of<T>(blocks, op);
  const bool backwards = goes_backwards();
  const auto at = [&](int number, std::size_t i) {
    const int block = backwards ? blocks - 1 - number : number;
    T value{};
    std::memcpy(&value, parts + (block * count + i) * sizeof(T), sizeof(T));
    return value * factor;
  };
  for (std::size_t i = 0; i < count; ++i) {
    T sum = at(0, i);
    for (int block = 1; block < blocks; ++block) sum = combine(sum, at(block, i), op);
    if (kWhole && op == ncclAvg) sum = sum / static_cast<T>(blocks);
    std::memcpy(parts + i * sizeof(T), &sum, sizeof(T));
  }
}

// As NCCL: in fp32, rounded once.
template <float (*kNumber)(std::uint16_t), std::uint16_t (*kWord)(float)>
void reduce_halves(std::byte* parts, int blocks, std::size_t count, int op) {
  const auto factor = factor_of<float>(blocks, op);
  const bool backwards = goes_backwards();
  const auto at = [&](int number, std::size_t i) {
    const int block = backwards ? blocks - 1 - number : number;
    std::uint16_t word = 0;
    std::memcpy(&word, parts + (block * count + i) * sizeof word, sizeof word);
    return kNumber(word) * factor;
  };
  for (std::size_t i = 0; i < count; ++i) {
    float sum = at(0, i);
    for (int block = 1; block < blocks; ++block) sum = combine(sum, at(block, i), op);
    const std::uint16_t word = kWord(sum);
    std::memcpy(parts + i * sizeof word, &word, sizeof word);
  }
}

// A number of an 8-bit type whose sums stay in its range.
float float_of_eight(std::uint8_t word, int mantissa_bits) {
  const int bias = (1 << (6 - mantissa_bits)) - 1;
  const int exponent = (word & 0x7F) >> mantissa_bits, mantissa = word & ((1 << mantissa_bits) - 1);
  const int steps = exponent == 0 ? mantissa : mantissa + (1 << mantissa_bits);
  const float number =
      std::ldexp(static_cast<float>(steps), std::max(exponent, 1) - bias - mantissa_bits);
  return word >> 7 != 0 ? -number : number;
}

std::uint8_t eight_of(float number, int mantissa_bits) {
  const int least = 2 - (1 << (6 - mantissa_bits));
  const float magnitude = std::fabs(number);
  const int exponent = magnitude == 0 ? least : std::max(std::ilogb(magnitude), least);
  const auto steps =
      static_cast<int>(std::nearbyint(std::ldexp(magnitude, mantissa_bits - exponent)));
  return static_cast<std::uint8_t>((steps + ((exponent - least) << mantissa_bits)) |
                                   (std::signbit(number) ? 0x80 : 0));
}

void reduce_float8(std::byte* parts, int blocks, std::size_t count, int op, int mantissa_bits) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = [&](int block) {
      return float_of_eight(static_cast<std::uint8_t>(parts[block * count + i]), mantissa_bits);
    };
    float sum = at(0);
    for (int block = 1; block < blocks; ++block) sum = combine(sum, at(block), op);
    if (op == ncclAvg) sum = sum / static_cast<float>(blocks);
    parts[i] = static_cast<std::byte>(eight_of(sum, mantissa_bits));
  }
}

bool is_eight(ncclDataType_t type) { return type == ncclFloat8e4m3 || type == ncclFloat8e5m2; }

}  // namespace

std::size_t element_bytes(ncclDataType_t type) {
  constexpr std::size_t kBytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return kBytes[type];
}

bool can_reduce(ncclDataType_t type, int op) {
  const bool known = type == ncclFloat32 || type == ncclFloat64 || type == ncclInt32 ||
                     type == ncclInt64 || type == ncclFloat16 || type == ncclBfloat16 ||
                     is_eight(type);
  return known && op >= ncclSum && op <= ncclAvg;
}

void reduce_parts(std::byte* parts, int blocks, std::size_t count, ncclDataType_t type, int op) {
  if (type == ncclFloat32) reduce_as<float>(parts, blocks, count, op);
  if (type == ncclFloat64) reduce_as<double>(parts, blocks, count, op);
  if (type == ncclFloat16) {
    reduce_halves<thinwire::float_of_f16, thinwire::f16_of>(parts, blocks, count, op);
  }
  if (type == ncclBfloat16) {
    reduce_halves<thinwire::float_of_bf16, thinwire::bf16_of>(parts, blocks, count, op);
  }
  if (is_eight(type)) {
    reduce_float8(parts, blocks, count, op, type == ncclFloat8e4m3 ? 3 : 2);
  }
  if (type == ncclInt32) reduce_as<std::int32_t>(parts, blocks, count, op);
  if (type == ncclInt64) reduce_as<std::int64_t>(parts, blocks, count, op);
}

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
