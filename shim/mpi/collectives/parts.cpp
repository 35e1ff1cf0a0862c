#include "collectives/parts.h"

#include <set>

namespace thinwire::mpi {
namespace {

// In bytes a second. Measured: 2.5 Gbit/s gain, between two nodes 10 Gbit/s, too; between four and
// eight 10 Gbit/s lose.
constexpr double kFastest = 6.5e8;
constexpr double kFastestOfTwoNodes = 1.3e9;

}  // namespace

bool pays_in_parts(double link_bytes_per_second, const std::vector<std::int32_t>& nodes) {
  const std::set<std::int32_t> different(nodes.begin(), nodes.end());
  if (link_bytes_per_second <= 0 || different.size() < 2) return false;
  return link_bytes_per_second <= (different.size() == 2 ? kFastestOfTwoNodes : kFastest);
}

}  // namespace thinwire::mpi
