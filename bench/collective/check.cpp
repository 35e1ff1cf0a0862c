#include "collective/check.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace thinwire::bench {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

double half_to_double(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const double fraction = bits & 1023;
  double magnitude = std::ldexp(fraction, -24);
  if (exponent == 31) magnitude = fraction == 0 ? kUnbounded : std::nan("");
  if (exponent > 0 && exponent < 31) magnitude = std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

template <typename Value>
Value load(const char* at) {
  Value value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

double to_double(tw_dtype dtype, const char* at) {
  if (dtype == TW_F32) return load<float>(at);
  if (dtype == TW_F64) return load<double>(at);
  const auto bits = load<std::uint16_t>(at);
  if (dtype == TW_F16) return half_to_double(bits);
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// FNV-1a over words of 64 bits and what is left.
std::uint64_t hash_of(std::span<const char> bytes) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  std::uint64_t hash = 0xcbf29ce484222325;
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    hash = (hash ^ load<std::uint64_t>(bytes.data() + at)) * kPrime;
    hash ^= hash >> 32;
  }
  for (; at < bytes.size(); ++at) {
    hash = (hash ^ static_cast<unsigned char>(bytes[at])) * kPrime;
  }
  return hash;
}

}  // namespace

Check::Check(const Data& data, tw_operation operation, tw_dtype dtype, const Group& group,
             std::int64_t count)
    : dtype_(dtype), ranks_(group.size) {
  if (is_reduction(operation)) {
    sums_ = data.reduced(operation, group, count);
  } else {
    moved_ = data.received(operation, group, count);
  }
}

Judgement Check::judge(std::span<const char> received, const Tolerance& tolerance) const {
  Judgement judgement;
  judgement.hash = hash_of(received);
  if (!sums_.empty()) {
    judge_sums(received, tolerance, &judgement);
  } else if (!std::equal(received.begin(), received.end(), moved_.begin(), moved_.end())) {
    judge_moved(received, tolerance, &judgement);
  }
  return judgement;
}

void Check::judge_value(double expected, double value, double allowed, Judgement* judgement) const {
  if (!std::isfinite(expected)) {
    judgement->wrong += allowed < 0 || std::isfinite(value) ? 1 : 0;
    return;
  }
  const double difference = std::fabs(value - expected);
  if (!std::isfinite(difference)) {
    ++judgement->wrong;
    return;
  }
  judgement->max_error = std::max(judgement->max_error, difference);
  judgement->wrong += difference > allowed ? 1 : 0;
}

void Check::judge_moved(std::span<const char> received, const Tolerance& tolerance,
                        Judgement* judgement) const {
  const auto width = static_cast<std::size_t>(size_of(dtype_));
  const double allowed = tolerance.bound > 0 ? tolerance.bound : kUnbounded;
  for (std::size_t at = 0; at + width <= received.size(); at += width) {
    if (std::memcmp(received.data() + at, moved_.data() + at, width) == 0) continue;
    judge_value(to_double(dtype_, moved_.data() + at), to_double(dtype_, received.data() + at),
                tolerance.lossless ? -1 : allowed, judgement);
  }
}

void Check::judge_sums(std::span<const char> received, const Tolerance& tolerance,
                       Judgement* judgement) const {
  const auto width = static_cast<std::size_t>(size_of(dtype_));
  const double epsilon = dtype_ == TW_F64 ? std::numeric_limits<double>::epsilon()
                                          : std::numeric_limits<float>::epsilon();
  const bool bounded = tolerance.lossless || tolerance.bound > 0;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const double rounding = ranks_ * epsilon * (sums_[i].magnitude + tolerance.bound);
    judge_value(sums_[i].value, to_double(dtype_, received.data() + i * width),
                bounded ? tolerance.bound + rounding : kUnbounded, judgement);
  }
}

}  // namespace thinwire::bench
