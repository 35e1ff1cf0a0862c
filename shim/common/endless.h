// Objects of the library that no exit ends: a static object of the program's may call the MPI when
// those of this library have ended.
#pragma once

#include <utility>

namespace thinwire::shim {

template <typename Object>
union Endless {
  constexpr Endless() : object() {}
  ~Endless() {}

  Object object;
};

}  // namespace thinwire::shim
