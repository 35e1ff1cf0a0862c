// Functions of NCCL that move data, or may, and that this library has no wrapper of: calls of them
// are in no figure.
#pragma once

#include <string>
#include <vector>

namespace thinwire::nccl {

// The program looks such a name up.
void note_lookup(const char* name);

// The functions that were looked up, and those that this process's files are linked to, in order.
std::vector<std::string> functions_not_taken();

}  // namespace thinwire::nccl
