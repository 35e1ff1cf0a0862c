// What the stages of all codecs come to.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

namespace thinwire::stages {

// Counts what was compared; a stage that compares nothing has not passed.
struct Report {
  int passed = 0;
  int failed = 0;

  void add(const std::string& name, std::size_t differing, std::size_t total) {
    const bool good = differing == 0 && total > 0;
    (good ? passed : failed) += 1;
    std::printf("%s %s: %zu inputs, %zu differ\n", good ? "ok    " : "FAILED", name.c_str(), total,
                differing);
  }
};

void compare_blockq(Report& report);
void compare_lorenzo(Report& report);
void compare_mpc(Report& report);
void compare_ndzip(Report& report);
void compare_szp(Report& report);
void compare_zfp(Report& report);

}  // namespace thinwire::stages
