#include "shim/mpi/native/contents.h"

#include "shim/mpi/native/real.h"

namespace thinwire::mpi {
namespace {

using Numbers = std::vector<std::int64_t>;

// How many arguments of each kind the constructor had.
struct Envelope {
  MPI_Count integers = 0;
  MPI_Count addresses = 0;
  MPI_Count large_counts = 0;  // of `_c` constructors
  MPI_Count types = 0;
  int combiner = MPI_COMBINER_NAMED;
  int parametrised = MPI_COMBINER_NAMED;
};

Envelope envelope_of(MPI_Datatype type) {
  Envelope found;
  if (real().Type_get_envelope_c.is_there()) {
    real().Type_get_envelope_c(type, &found.integers, &found.addresses, &found.large_counts,
                               &found.types, &found.combiner);
  } else {
    int integers = 0, addresses = 0, types = 0;
    real().Type_get_envelope(type, &integers, &addresses, &types, &found.combiner);
    found.integers = integers;
    found.addresses = addresses;
    found.types = types;
  }
  const int combiner = found.combiner;
  if (combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
      combiner == MPI_COMBINER_F90_INTEGER) {
    found = {};
    found.parametrised = combiner;
  }
  return found;
}

// A `_c` constructor's counts, displacements and extents are all large counts, in the order of its
// parameters. The plain one's are integers, but for places and extents in bytes: the last ones.
std::size_t places_in_bytes(int combiner, const Numbers& large_counts) {
  switch (combiner) {
    case MPI_COMBINER_HVECTOR:
      return 1;
    case MPI_COMBINER_RESIZED:
      return 2;
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_HINDEXED_BLOCK:
    case MPI_COMBINER_STRUCT:
      return static_cast<std::size_t>(large_counts[0]);
    default:
      return 0;
  }
}

// The place in the plain constructor's integers from which a `_c` one has large counts: subarrays
// and distributed arrays mix both.
std::size_t large_counts_from(int combiner) {
  switch (combiner) {
    case MPI_COMBINER_SUBARRAY:
      return 1;  // rank; then sizes, subsizes, starts; then the order
    case MPI_COMBINER_DARRAY:
      return 3;  // size, rank, dimensions; then the global sizes; then the rest
    default:
      return 0;
  }
}

void put_in_plain_places(int combiner, const Numbers& large_counts, Numbers& integers,
                         Numbers& addresses) {
  const auto places = static_cast<std::ptrdiff_t>(places_in_bytes(combiner, large_counts));
  addresses.assign(large_counts.end() - places, large_counts.end());
  integers.insert(integers.begin() + static_cast<std::ptrdiff_t>(large_counts_from(combiner)),
                  large_counts.begin(), large_counts.end() - places);
}

}  // namespace

int combiner_of(MPI_Datatype type) { return envelope_of(type).combiner; }

std::uint64_t arguments_of(MPI_Datatype type) {
  const Envelope found = envelope_of(type);
  return static_cast<std::uint64_t>(found.integers + found.addresses + found.large_counts);
}

Contents::Contents(MPI_Datatype type) {
  const Envelope envelope = envelope_of(type);
  combiner = envelope.combiner;
  parametrised = envelope.parametrised;
  if (combiner == MPI_COMBINER_NAMED) return;
  std::vector<int> small(envelope.integers);
  std::vector<MPI_Aint> bytes(envelope.addresses);
  std::vector<MPI_Count> large(envelope.large_counts);
  parts.resize(envelope.types, MPI_DATATYPE_NULL);
  const int error =
      real().Type_get_contents_c.is_there()
          ? real().Type_get_contents_c(type, envelope.integers, envelope.addresses,
                                       envelope.large_counts, envelope.types, small.data(),
                                       bytes.data(), large.data(), parts.data())
          : real().Type_get_contents(
                type, static_cast<int>(envelope.integers), static_cast<int>(envelope.addresses),
                static_cast<int>(envelope.types), small.data(), bytes.data(), parts.data());
  if (error != MPI_SUCCESS) parts.clear();
  integers.assign(small.begin(), small.end());
  addresses.assign(bytes.begin(), bytes.end());
  if (large.empty()) return;
  put_in_plain_places(combiner, {large.begin(), large.end()}, integers, addresses);
}

Contents::~Contents() {
  for (MPI_Datatype& part : parts) {
    if (envelope_of(part).combiner != MPI_COMBINER_NAMED) real().Type_free(&part);
  }
}

}  // namespace thinwire::mpi
