// Facts about this rank's settings and about a communicator that the helper compares with other
// ranks'.
#pragma once

#include <cstdint>
#include <string>

#include "agree/agree.h"

namespace thinwire::nccl {

// Terms of the policy, and of the name by which it takes the ranks: `rules`, a bit each.
agree::Terms policy_terms(std::uint64_t rules);

// Terms that ranks which compress together have alike, those of the policy among them.
agree::Terms all_terms(bool blocks, std::uint64_t rules);

// A term of ranks whose sums are added in the order of the ranks: whether this one has what that
// needs. None else.
agree::Terms order_terms(int device, int rank);

// Says whose communicators decide together. If nothing is decided together, each is as if it had
// all ranks.
agree::Kindred kindred(int ranks, std::uint64_t rules, const std::string& name);

}  // namespace thinwire::nccl
