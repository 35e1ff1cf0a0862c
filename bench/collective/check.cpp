#include "collective/check.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "collective/numbers.h"

namespace thinwire::bench {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

template <typename Value>
Value load(const char* at) {
  Value value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace

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

Check::Check(const Data& data, tw_operation operation, tw_dtype dtype, const Group& group,
             std::int64_t count)
    : dtype_(dtype), ranks_(group.size) {
  if (is_reduction(operation)) {
    sums_ = data.reduced(operation, group, count);
  } else {
    moved_ = data.received(operation, group, count);
  }
}

Check::Check(std::vector<char> expected, tw_dtype dtype)
    : dtype_(dtype), ranks_(1), moved_(std::move(expected)) {}

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
  judgement->energy += expected * expected;
  judgement->error_energy += difference * difference;
  judgement->wrong += difference > allowed ? 1 : 0;
}

void Check::judge_moved(std::span<const char> received, const Tolerance& tolerance,
                        Judgement* judgement) const {
  const auto width = static_cast<std::size_t>(size_of(dtype_));
  const double allowed = tolerance.bound > 0 ? tolerance.bound : kUnbounded;
  for (std::size_t at = 0; at + width <= received.size(); at += width) {
    if (std::memcmp(received.data() + at, moved_.data() + at, width) == 0) continue;
    judge_value(number_at(dtype_, moved_.data() + at), number_at(dtype_, received.data() + at),
                tolerance.lossless ? -1 : allowed, judgement);
  }
}

void Check::judge_sums(std::span<const char> received, const Tolerance& tolerance,
                       Judgement* judgement) const {
  const auto width = static_cast<std::size_t>(size_of(dtype_));
  const double epsilon = epsilon_of(dtype_);
  const bool bounded = tolerance.lossless || tolerance.bound > 0;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const double rounding = ranks_ * epsilon * (sums_[i].magnitude + tolerance.bound);
    judge_value(sums_[i].value, number_at(dtype_, received.data() + i * width),
                bounded ? tolerance.bound + rounding : kUnbounded, judgement);
  }
}

}  // namespace thinwire::bench
