// Completes requests by whichever calls the draw says.
#pragma once

#include <vector>

#include "random.h"
#include "run.h"

namespace legality {

enum class Among { kPlain, kPersistent, kPersistentCollectives };  // what the requests are

// A status for each request. Without `wanted` they may be ignored, and are then left as they were.
// True if they were filled in.
bool complete(Random& random, std::vector<MPI_Request>& requests, std::vector<MPI_Status>& statuses,
              bool wanted, Among among = Among::kPlain);

}  // namespace legality
