// Whether this library's names are those of the MPI underneath.
#pragma once

namespace thinwire::mpi {

// Calls that not every MPI has: native/later_names.inc.
enum NameGroup : unsigned { kVersion4 = 1, kVersion41 = 2, kLargeCounts = 4 };

// Which of them this library exports besides all of MPI 3.1. Libraries of the same objects differ
// in this (exports.cmake).
extern const unsigned exported_groups;

// A call that the MPI has and this library lets pass, or nullptr. Its bytes would reach the program
// as they travel.
const char* call_that_passes_by();

// A call that this library shows and the MPI lacks, or nullptr.
const char* call_that_is_not_there();

}  // namespace thinwire::mpi
