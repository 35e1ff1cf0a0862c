// Texts of what ranks compare and report: settings that must be equal on all of them, a line
// "name=value" each, and ranks' names.
#pragma once

#include <string>

#include "agree/agree.h"

namespace thinwire::nccl::agree {

inline std::string rank_text(int rank) { return "rank " + std::to_string(rank); }

// Writes the terms, at most kMostText long; text that is too long to be shown is still compared.
std::string terms_text(const Terms& terms);

// Tells what two ranks say differently, "codec is a on rank 0 and b on rank 2"; "" if nothing.
std::string difference(int one, const std::string& its_terms, int other,
                       const std::string& other_terms);

}  // namespace thinwire::nccl::agree
