// The files of a rank's samples, and the lines that say what each one is.
#pragma once

#include <cstdint>
#include <string>

namespace thinwire::mpi {

// Writes a file; returns 0 or errno. Nothing is left of a file that was not written whole. A limit
// on the size of files (`ulimit -f`) is an error like others, not the end of the program.
int write_file(const std::string& path, const void* data, std::uint64_t bytes);

// Adds a line to a file, whole or not at all.
int add_line(const std::string& path, const std::string& line);

// Whether nobody has called it for the same path before, on any rank: makes a file of that name.
bool is_first(const std::string& path);

}  // namespace thinwire::mpi
