// Ranks that are threads of this process.
#pragma once

#include <memory>
#include <vector>

#include "transport/transport.h"

namespace thinwire::transport {

// One end for each of `size` ranks, to be used by a thread each. A message is copied after both
// sides are posted, by the later one: nothing is buffered. Ends may go in any order; what
// still waits for one that has gone is an error of the other's test().
std::vector<std::unique_ptr<Transport>> make_local(int size);

}  // namespace thinwire::transport
