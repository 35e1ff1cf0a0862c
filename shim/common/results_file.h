// Opening the files that a program's run is told in: reports, traces, metrics, captures. Their
// folder may be one that others write to, as /tmp, where anybody can put a link, a pipe or a file
// of that name beforehand.
#pragma once

#include <string>

namespace thinwire::shim {

enum class Keeps { kNothing, kWhatIsThere };

// A descriptor that is open for writing, or -1 with errno set; never waits.
//
// Opens a file of results. A path that exists and is the user's own is taken as users expect it: a
// file of the last run is written over, a link is followed, a pipe whose reader waits is written
// to, so is a device of characters. Where others may have put it there, a link is not followed and
// nothing of theirs is written to: a file is replaced by a new one, if that may be done, and all
// else is refused.
int open_results(const std::string& path, Keeps keeps = Keeps::kNothing);

// The text of errno for a path that open_results() refused.
std::string why_refused(int error);

// Whether what is there may be replaced by a new file: nothing, or a file, or a link.
bool is_replaceable(const std::string& path);

// Writes it all, or fails with errno. A pipe that takes nothing for a second is given up.
bool write_results(int file, const char* data, std::size_t bytes);

// Opens, writes and closes; 0 or an errno. A file that could not be written whole is removed.
int write_results(const std::string& path, const char* data, std::size_t bytes);

}  // namespace thinwire::shim
