// Names that several parts use in what they report.
#pragma once

#include <string>

namespace thinwire::nccl::agree {

inline std::string rank_text(int rank) { return "rank " + std::to_string(rank); }

}  // namespace thinwire::nccl::agree
