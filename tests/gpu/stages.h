// Stages of all codecs, and what they come to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace thinwire::stages {

// Counts what was compared; a stage that compares nothing has not passed.
struct Report {
  int passed = 0;
  int failed = 0;

  // `digest` is that of the results, by which two machines are compared.
  void add(const std::string& name, std::size_t differing, std::size_t total,
           std::uint64_t digest) {
    const bool good = differing == 0 && total > 0;
    (good ? passed : failed) += 1;
    std::printf("%s %s: %zu inputs, %zu differ, results %016llx\n", good ? "ok    " : "FAILED",
                name.c_str(), total, differing, static_cast<unsigned long long>(digest));
  }
};

using Compare = void (*)(Report& report);

// The comparisons of every codec that has stages; stages_main.cpp has them.
std::vector<Compare>& comparisons();

// Adds the stages of one codec; a file stages_X.cu has one, and is named nowhere else.
struct Comparison {
  explicit Comparison(Compare compare) { comparisons().push_back(compare); }
};

}  // namespace thinwire::stages
