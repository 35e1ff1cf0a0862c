// Resources that ranks share: links, memory and processors, each of which serves who comes first.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "simulate/model.h"

namespace thinwire::simulate {

// Seconds that `bytes` take at a rate; none at rate 0.
inline double time_at(double bytes, double rate) { return rate > 0 ? bytes / rate : 0; }

// Processors of one node, or of all.
class Cores {
 public:
  explicit Cores(std::uint32_t count) : free_at_(count, 0.0) {}

  // When work of `seconds` that is there from `now` on is done; the first free processor does it.
  double work(double now, double seconds) {
    if (free_at_.empty() || seconds <= 0) return now + seconds;
    double& first = *std::ranges::min_element(free_at_);
    first = std::max(first, now) + seconds;
    return first;
  }

 private:
  std::vector<double> free_at_;
};

// A node's link each way, its memory, and one way of a rank's software.
struct Line {
  double free_at = 0;

  // When a transfer ends that may begin at `now`.
  double pass(double now, double seconds) { return free_at = std::max(free_at, now) + seconds; }
};

// The end of a link at a receiver. Those who wait there slow each other down.
struct Entry {
  Line line;
  std::vector<double> waiting;  // when the messages end that came and have not ended

  double pass(double now, double seconds, double incast) {
    if (incast <= 0) return line.pass(now, seconds);
    std::erase_if(waiting, [&](double end) { return end <= now; });
    const auto senders = static_cast<double>(waiting.size() + 1);
    const double end = line.pass(now, seconds * (1 + incast * std::log2(senders)));
    waiting.push_back(end);
    return end;
  }
};

}  // namespace thinwire::simulate
