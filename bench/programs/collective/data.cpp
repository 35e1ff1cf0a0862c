#include "collective/data.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <utility>

namespace thinwire::bench {

std::int64_t size_of(tw_dtype dtype) {
  if (dtype == TW_F64) return 8;
  return dtype == TW_F32 ? 4 : 2;
}

std::int64_t sent_count(tw_operation operation, const Group& group, std::int64_t count) {
  switch (operation) {
    case TW_BCAST:
      return 0;
    case TW_SCATTER:
      return group.is_root() ? count * group.size : 0;
    case TW_ALLTOALL:
    case TW_REDUCE_SCATTER:
      return count * group.size;
    default:
      return count;
  }
}

std::int64_t received_count(tw_operation operation, const Group& group, std::int64_t count) {
  switch (operation) {
    case TW_ALLGATHER:
    case TW_ALLTOALL:
      return count * group.size;
    case TW_GATHER:
      return group.is_root() ? count * group.size : 0;
    case TW_REDUCE:
      return group.is_root() ? count : 0;
    default:
      return count;
  }
}

std::int64_t first_sent(tw_operation operation, const Group& group, std::int64_t count) {
  if (operation == TW_ALLGATHER || operation == TW_GATHER) return count * group.rank;
  if (operation == TW_ALLTOALL) return count * group.size * group.rank;
  return 0;
}

std::int64_t first_received(tw_operation operation, const Group& group, std::int64_t count,
                            std::int64_t block) {
  if (operation == TW_SCATTER || operation == TW_REDUCE_SCATTER) return count * group.rank;
  if (operation == TW_ALLTOALL) return count * (group.size * block + group.rank);
  return count * block;
}

Data::Data(const std::string& path, tw_dtype dtype) : dtype_(dtype) {
  std::ifstream file(path, std::ios::binary);
  bytes_.assign(std::istreambuf_iterator<char>(file), {});
  count_ = static_cast<std::int64_t>(bytes_.size()) / size_of(dtype);
}

std::vector<char> Data::stretch(std::int64_t first, std::int64_t count) const {
  const std::int64_t width = size_of(dtype_);
  std::vector<char> values(static_cast<std::size_t>(count * width));
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t at = (first + done) % count_;
    const std::int64_t some = std::min(count - done, count_ - at);
    std::copy_n(bytes_.data() + at * width, some * width, values.data() + done * width);
    done += some;
  }
  return values;
}

void Data::contribute(std::int64_t index, const Group& group, int rank, char* to) const {
  const char* const from = bytes_.data() + index % count_ * size_of(dtype_);
  put_number(dtype_, number_at(dtype_, from) * (1 - rank / (2.0 * group.size)), to);
}

std::vector<char> Data::sent(tw_operation operation, const Group& group, std::int64_t count) const {
  if (operation == TW_BCAST) return stretch(0, count);
  const std::int64_t all = sent_count(operation, group, count);
  if (!is_reduction(operation)) return stretch(first_sent(operation, group, count), all);
  const std::int64_t width = size_of(dtype_);
  std::vector<char> bytes(static_cast<std::size_t>(all * width));
  for (std::int64_t i = 0; i < all; ++i) contribute(i, group, group.rank, bytes.data() + i * width);
  return bytes;
}

std::vector<char> Data::received(tw_operation operation, const Group& group,
                                 std::int64_t count) const {
  std::vector<char> all;
  const std::int64_t blocks = received_count(operation, group, count) / count;
  for (std::int64_t block = 0; block < blocks; ++block) {
    const std::vector<char> one = stretch(first_received(operation, group, count, block), count);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

std::vector<Data::Sum> Data::reduced(tw_operation operation, const Group& group,
                                     std::int64_t count) const {
  const std::int64_t first = first_received(operation, group, count, 0);
  std::vector<Sum> all(static_cast<std::size_t>(received_count(operation, group, count)));
  for (std::size_t i = 0; i < all.size(); ++i) {
    long double value = 0;
    long double magnitude = 0;
    for (int rank = 0; rank < group.size; ++rank) {
      char one[sizeof(double)];
      contribute(first + static_cast<std::int64_t>(i), group, rank, one);
      value += number_at(dtype_, one);
      magnitude += std::fabs(number_at(dtype_, one));
    }
    all[i] = {static_cast<double>(value), static_cast<double>(magnitude)};
  }
  return all;
}

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
