#include "reduce.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/half.h"

namespace fake_nccl {
namespace {

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

template <typename T>
void reduce_as(std::byte* parts, int blocks, std::size_t count, int op) {
  for (std::size_t i = 0; i < count; ++i) {
    T sum{};
    std::memcpy(&sum, parts + i * sizeof(T), sizeof(T));
    for (int block = 1; block < blocks; ++block) {
      T next{};
      std::memcpy(&next, parts + (block * count + i) * sizeof(T), sizeof(T));
      sum = combine(sum, next, op);
    }
    if (op == ncclAvg) sum = sum / static_cast<T>(blocks);
    std::memcpy(parts + i * sizeof(T), &sum, sizeof(T));
  }
}

// As NCCL: in fp32, rounded once.
template <float (*kNumber)(std::uint16_t), std::uint16_t (*kWord)(float)>
void reduce_halves(std::byte* parts, int blocks, std::size_t count, int op) {
  const auto at = [&](int block, std::size_t i) {
    std::uint16_t word = 0;
    std::memcpy(&word, parts + (block * count + i) * sizeof word, sizeof word);
    return kNumber(word);
  };
  for (std::size_t i = 0; i < count; ++i) {
    float sum = at(0, i);
    for (int block = 1; block < blocks; ++block) sum = combine(sum, at(block, i), op);
    if (op == ncclAvg) sum = sum / static_cast<float>(blocks);
    const std::uint16_t word = kWord(sum);
    std::memcpy(parts + i * sizeof word, &word, sizeof word);
  }
}

}  // namespace

std::size_t element_bytes(ncclDataType_t type) {
  constexpr std::size_t kBytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return kBytes[type];
}

bool can_reduce(ncclDataType_t type, int op) {
  const bool known = type == ncclFloat32 || type == ncclFloat64 || type == ncclInt32 ||
                     type == ncclInt64 || type == ncclFloat16 || type == ncclBfloat16;
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
  if (type == ncclInt32) reduce_as<std::int32_t>(parts, blocks, count, op);
  if (type == ncclInt64) reduce_as<std::int64_t>(parts, blocks, count, op);
}

}  // namespace fake_nccl
