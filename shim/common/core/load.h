// The core, libthinwire.so, which lies beside the preload libraries and is loaded by them: one copy
// of the codecs and their kernels, for all of them.
#pragma once

namespace thinwire::shim {

// Loads it, unless it is loaded already. Any thread, and from any library's constructor. Without it
// calls of the core fail, which leaves the program's calls as they are.
void load_core();

// "" with a core.
const char* why_no_core();

}  // namespace thinwire::shim
