// Properties that the ranks of a communicator must have in common, compared when it is made.
#pragma once

#include <string>
#include <vector>

#include "transport/transport.h"

namespace thinwire::comm {

// One thing that all ranks must say alike, as in {"codec", "zfp:rate=8"}.
struct Term {
  std::string name;
  std::string value;
};

// Collective: kVersion on every rank, with the first difference in words, if two ranks say
// different things. The terms themselves travel only then.
Status agree(transport::Transport& transport, const std::vector<Term>& terms);

}  // namespace thinwire::comm
