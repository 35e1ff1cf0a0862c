// Resources that ranks share: links, memory and processors, each of which serves who comes first.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "simulate/model.h"

namespace thinwire::simulate {

// Seconds that `bytes` take at a rate; none at rate 0.
inline double time_at(double bytes, double rate) { return rate > 0 ? bytes / rate : 0; }

// When the first and the last byte of a transfer leave.
struct Passage {
  double first, last;
};

// A node's link each way, or its memory: a bucket of tokens, each of which lets a byte through.
struct Line {
  // When the bucket was, or will be, empty: it fills up at the line's rate.
  double empty_at = 0;

  // A transfer that may begin at `now` and takes `seconds` at the line's rate. A full bucket has
  // tokens of `burst` seconds.
  Passage pass(double now, double seconds, double burst) {
    const double first = std::max(empty_at, now);
    empty_at = std::max(empty_at, now - burst) + seconds;
    return {first, std::max(empty_at, now)};
  }
};

// The end of a link at a receiver. Those who wait there slow each other down.
struct Entry {
  Line line;
  std::vector<double> waiting;  // when the messages end that came and have not ended

  double pass(double now, double seconds, double burst, double incast) {
    if (incast <= 0) return line.pass(now, seconds, burst).last;
    std::erase_if(waiting, [&](double end) { return end <= now; });
    const auto senders = static_cast<double>(waiting.size() + 1);
    const double slower = seconds * (1 + incast * std::log2(senders));
    const double end = line.pass(now, slower, burst).last;
    waiting.push_back(end);
    return end;
  }
};

}  // namespace thinwire::simulate
