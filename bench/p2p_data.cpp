#include "p2p_data.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <random>

namespace thinwire::bench {
namespace {

std::vector<float> read_file(const std::string& path, std::size_t count) {
  std::ifstream file(path, std::ios::binary);
  std::vector<float> values(count);
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(count * sizeof(float)));
  const std::size_t found = static_cast<std::size_t>(file.gcount()) / sizeof(float);
  if (found == 0) return {};
  for (std::size_t i = found; i < count; ++i) values[i] = values[i - found];
  return values;
}

float smooth(std::size_t index) {
  const auto x = static_cast<double>(index);
  return static_cast<float>(std::sin(x * 0.01) + 0.3 * std::sin(x * 0.00137));
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

}  // namespace

std::vector<float> make_data(const std::string& path, const std::string& pattern,
                             std::size_t count) {
  if (!path.empty()) return read_file(path, count);
  std::vector<float> values(count);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (std::size_t i = 0; i < count; ++i) {
    if (pattern == "smooth") values[i] = smooth(i);
    if (pattern == "random") values[i] = normal(random);
  }
  return values;
}

float* Arrivals::prepare() {
  buffer_->clear();
  return buffer_->message();
}

void Arrivals::check() {
  buffer_->read(received_);
  if (first_.empty()) {
    first_ = received_;
    identical_ = same_bits(received_, sent_);
    compare_values();
  } else if (!same_bits(received_, first_)) {
    broken_ = true;
  }
}

void Arrivals::compare_values() {
  for (std::size_t i = 0; i < sent_.size(); ++i) {
    if (!std::isfinite(sent_[i])) continue;
    const double difference = std::fabs(static_cast<double>(received_[i]) - sent_[i]);
    if (std::isfinite(difference)) {
      max_error_ = std::max(max_error_, difference);
    } else {
      broken_ = true;
    }
  }
}

}  // namespace thinwire::bench
