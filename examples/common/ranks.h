// Agreement of all ranks, in messages of a few bytes.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace examples {

// Collective; the result is every rank's.
double largest(MPI_Comm comm, double value);
double smallest(MPI_Comm comm, double value);
double total(MPI_Comm comm, double value);
std::int64_t total(MPI_Comm comm, std::int64_t value);

// A checksum of the bits of an array in host memory: two arrays that differ in one bit have
// different ones, but for chance.
std::uint64_t checksum(const void* data, std::size_t bytes);

// One checksum of all ranks', each at its rank's place. Collective.
std::uint64_t checksum_of_all(MPI_Comm comm, std::uint64_t own);

// Whether all ranks pass the same value. Collective.
bool all_same(MPI_Comm comm, std::uint64_t value);

// 16 hexadecimal digits.
std::string hexadecimal(std::uint64_t value);

}  // namespace examples
