// Whether somebody listens where a rank of this machine did, by the word of its kernel: a refused
// connection may be a firewall's word.
#pragma once

#include "agree/address.h"

namespace thinwire::nccl::agree {

// kUnknown: of another machine, or the kernel does not say.
enum class Listens { kNo, kYes, kUnknown };

Listens listens(const Address& at);

}  // namespace thinwire::nccl::agree
