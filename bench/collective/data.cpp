#include "collective/data.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>

namespace thinwire::bench {

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

template <typename Real>
Real Data::contribution(std::int64_t index, int rank, int ranks) const {
  Real value;
  std::memcpy(&value, bytes_.data() + (index % count_) * sizeof value, sizeof value);
  const double factor = 1 - rank / (2.0 * ranks);
  return static_cast<Real>(static_cast<double>(value) * factor);
}

template <typename Real>
std::vector<char> Data::contributions(std::int64_t count, const Group& group) const {
  std::vector<char> bytes(static_cast<std::size_t>(count) * sizeof(Real));
  for (std::int64_t i = 0; i < count; ++i) {
    const Real value = contribution<Real>(i, group.rank, group.size);
    std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
  }
  return bytes;
}

template <typename Real>
std::vector<Data::Sum> Data::sums(std::int64_t first, std::int64_t count, int ranks) const {
  std::vector<Sum> all(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    long double value = 0;
    long double magnitude = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const Real one = contribution<Real>(first + i, rank, ranks);
      value += one;
      magnitude += std::fabs(one);
    }
    all[i] = {static_cast<double>(value), static_cast<double>(magnitude)};
  }
  return all;
}

std::vector<char> Data::sent(tw_operation operation, const Group& group, std::int64_t count) const {
  if (operation == TW_BCAST) return stretch(0, count);
  const std::int64_t all = sent_count(operation, group, count);
  if (!is_reduction(operation)) return stretch(first_sent(operation, group, count), all);
  return dtype_ == TW_F64 ? contributions<double>(all, group) : contributions<float>(all, group);
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
  const std::int64_t all = received_count(operation, group, count);
  const std::int64_t first = first_received(operation, group, count, 0);
  return dtype_ == TW_F64 ? sums<double>(first, all, group.size)
                          : sums<float>(first, all, group.size);
}

}  // namespace thinwire::bench
