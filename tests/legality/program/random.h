// Numbers drawn from a key: the same on every rank, whoever draws and in whatever order.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace legality {

inline std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

inline std::uint64_t join(std::uint64_t left, std::uint64_t right) {
  return mix(left * 0xd6e8feb86659fd93u + right + 1);
}

class Random {
 public:
  explicit Random(std::uint64_t key) : key_(mix(key)) {}

  std::uint64_t next() { return mix(key_ + ++drawn_); }
  int below(int bound) { return static_cast<int>(next() % static_cast<std::uint64_t>(bound)); }
  int between(int low, int high) { return low + below(high - low + 1); }  // both included
  bool chance(int percent) { return below(100) < percent; }

  template <typename T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(below(static_cast<int>(from.size())))];
  }

  std::vector<int> permutation(int count) {
    std::vector<int> order(static_cast<std::size_t>(count));
    for (int at = 0; at < count; ++at) order[static_cast<std::size_t>(at)] = at;
    for (int at = count - 1; at > 0; --at) std::swap(order[at], order[below(at + 1)]);
    return order;
  }

  // For a part of its own: what is drawn there changes nothing here.
  Random part(std::uint64_t number) const { return Random(join(key_, number)); }

 private:
  std::uint64_t key_;
  std::uint64_t drawn_ = 0;
};

}  // namespace legality
