// Wishes of a program for one collective, by the configuration that NCCL's twins of the collectives
// take. NCCL wants the same on every rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "native/nccl_abi.h"

namespace thinwire::nccl {

// Whether it can be read; NCCL refuses others.
bool may_be_sound(const ncclCollConfig_t& config);

// Whether a call in slots does all that it asks: it leaves all to NCCL. A tag for profilers may
// differ by rank and changes nothing of what travels. What later versions add is unknown here.
bool asks_nothing(const ncclCollConfig_t& config);

// A copy for a call that is made later, with the name of the algorithm: the program's may end as
// its call returns. What extensions point to stays the program's.
class KeptConfig {
 public:
  explicit KeptConfig(const ncclCollConfig_t& of);
  KeptConfig(const KeptConfig&) = delete;
  KeptConfig& operator=(const KeptConfig&) = delete;

  const ncclCollConfig_t* get() const {
    return reinterpret_cast<const ncclCollConfig_t*>(words_.data());
  }

 private:
  std::vector<std::uint64_t> words_;
  std::string selection_;
};

}  // namespace thinwire::nccl
