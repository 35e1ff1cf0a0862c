#include "abi/contents.h"

#include "abi/real.h"

namespace thinwire::mpi {
namespace {

struct Envelope {
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = MPI_COMBINER_NAMED;
};

Envelope envelope_of(MPI_Datatype type) {
  Envelope found;
  real().Type_get_envelope(type, &found.integers, &found.addresses, &found.types, &found.combiner);
  if (found.combiner == MPI_COMBINER_F90_REAL || found.combiner == MPI_COMBINER_F90_COMPLEX ||
      found.combiner == MPI_COMBINER_F90_INTEGER) {
    found = {};
  }
  return found;
}

}  // namespace

Contents::Contents(MPI_Datatype type) {
  const Envelope envelope = envelope_of(type);
  combiner = envelope.combiner;
  if (combiner == MPI_COMBINER_NAMED) return;
  integers.resize(envelope.integers);
  addresses.resize(envelope.addresses);
  parts.resize(envelope.types, MPI_DATATYPE_NULL);
  if (real().Type_get_contents(type, envelope.integers, envelope.addresses, envelope.types,
                               integers.data(), addresses.data(), parts.data()) != MPI_SUCCESS) {
    parts.clear();
  }
}

Contents::~Contents() {
  for (MPI_Datatype& part : parts) {
    if (envelope_of(part).combiner != MPI_COMBINER_NAMED) real().Type_free(&part);
  }
}

}  // namespace thinwire::mpi
