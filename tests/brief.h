// Whether `make test` runs the tests: then they take fewer of the cases that are alike. Every other
// way to run them, `make test-all` too, takes them all.
#pragma once

#include <cstdlib>

namespace thinwire {

inline bool is_brief() {
  static const bool brief = std::getenv("THINWIRE_TEST_BRIEF") != nullptr;
  return brief;
}

}  // namespace thinwire
