// How many of the process's file descriptors a helper may take for what it could do without.
#pragma once

#include <cstddef>

namespace thinwire::nccl::agree {

// Connections of pairs of one process, at most: the program's own limit (RLIMIT_NOFILE) divided.
std::size_t most_connections();

// Connections whose other side has not said who it is, at most.
std::size_t most_strangers();

// Whether the program still has enough after this one: the system gives the lowest number that is
// free.
bool leaves_room(int fd);
// The same for what all ranks need, at last.
bool leaves_some(int fd);

}  // namespace thinwire::nccl::agree
