// Functions of this library that the process is not to find any more.
#pragma once

#include <functional>

namespace thinwire::mpi {

using IsMeant = std::function<bool(const char* name)>;
using Instead = std::function<void*(const char* name)>;

// Hides those that are meant from the loader, and binds what it has bound to them to what is
// `instead`. A name that nobody else has stays as it is bound: natively its call ends the process.
// False if memory cannot be written, or on processors whose tables are not known here.
bool unbind(const IsMeant& is_meant, const Instead& instead);

// Hides wrappers that a tool has, too, of those that come after this library in the loader's
// search, as mpiP that a program is linked to: the program's calls go to the tool first, as
// natively, and its calls of PMPI_ functions reach the wrappers.
void put_tools_first(void* mpi);

}  // namespace thinwire::mpi
