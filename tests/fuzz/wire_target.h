// Targets over what the MPI shim reads of other ranks and of launchers.
#pragma once

#include "fuzz/target.h"

namespace thinwire::fuzz {

// A wire message: a frame under a job's mark, and the lengths that the shim gives it.
void run_wire(const Target& target, ByteView input);
std::size_t mend_wire(const Target& target, MutableByteView input, std::size_t length,
                      unsigned seed);
std::vector<Bytes> wire_seeds(const Target& target);

// The capabilities that a rank publishes.
void run_capabilities(const Target& target, ByteView input);
std::vector<Bytes> capabilities_seeds(const Target& target);

// Answers of a launcher of MPICH's kin: lines, and which rank runs on which node.
void run_launcher(const Target& target, ByteView input);
std::vector<Bytes> launcher_seeds(const Target& target);

}  // namespace thinwire::fuzz
