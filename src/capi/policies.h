// The policy of the environment, and what it means that it is wrong.
#pragma once

#include <string>

#include "base/status.h"
#include "policy/policy.h"

namespace thinwire::capi {

// The file's policy; errors begin with "PATH:LINE: ", or "PATH: " if it cannot be read.
Result<policy::Policy> read_policy(const std::string& path);

// Says what is wrong with this process's settings or with its policy, "" if nothing is: whatever it
// is, no lossy codec is made. The first call logs it, if this process is its job's first rank.
const std::string& wrong_wish();

}  // namespace thinwire::capi
