#include "shim/mpi/native/contents.h"

#include <algorithm>
#include <utility>
#include <vector>

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

namespace {

// An element without gaps whose next element follows at once.
bool extent_is_size(MPI_Datatype type, std::uint64_t size) {
  MPI_Count lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  real().Type_get_extent_x(type, &lower, &extent);
  real().Type_get_true_extent_x(type, &true_lower, &true_extent);
  return lower == 0 && true_lower == 0 && static_cast<std::uint64_t>(extent) == size &&
         static_cast<std::uint64_t>(true_extent) == size;
}

// Extents of 1 say nothing, and a shape has room for four others.
void set_shape(TypeFacts& facts, const std::int64_t* extents, std::int64_t rank, bool reversed) {
  std::uint32_t kept = 0;
  for (std::int64_t at = 0; at < rank; ++at) {
    const std::int64_t extent = extents[reversed ? rank - 1 - at : at];
    if (extent == 1) continue;
    if (kept == 4) return;
    facts.extent[kept++] = static_cast<std::uint64_t>(extent);
  }
  facts.rank = kept;
}

void find_shape(TypeFacts& facts, const Contents& from, const TypeFacts& part) {
  const std::vector<std::int64_t>& integers = from.integers;
  const bool leaves = part.dense && part.leaf != TW_BYTES && part.size == leaf_bytes(part.leaf);
  if (from.combiner == MPI_COMBINER_DUP || from.combiner == MPI_COMBINER_RESIZED) {
    facts.rank = part.rank;
    std::copy_n(part.extent, 4, facts.extent);
  } else if (from.combiner == MPI_COMBINER_SUBARRAY && leaves) {
    const std::int64_t rank = integers[0];
    set_shape(facts, &integers[1 + rank], rank, integers[1 + 3 * rank] == MPI_ORDER_FORTRAN);
  } else if ((from.combiner == MPI_COMBINER_VECTOR || from.combiner == MPI_COMBINER_HVECTOR) &&
             leaves) {
    set_shape(facts, integers.data(), 2, false);
  }
}

// Only a struct has several parts; what it has no blocks of is not in its signature.
bool has_blocks(const Contents& from, std::size_t part) {
  return from.parts.size() == 1 || from.integers[1 + part] > 0;
}

// Adds what a part is made of to what those before it are.
void add_part(TypeFacts& facts, const TypeFacts& part, bool is_first) {
  const bool alike = facts.leaf == part.leaf &&
                     (facts.values == Values::kWords) == (part.values == Values::kWords);
  if (is_first) {
    facts.leaf = part.leaf;
    facts.values = part.values;
  } else if (!alike) {
    facts.leaf = TW_BYTES;
    facts.values = Values::kOthers;
  } else if (part.values == Values::kPairs) {
    facts.values = Values::kPairs;
  }
}

// Whether elements stay in the order of memory, if there are no gaps and none lies twice: a
// permuted indexed type has its size as its extent, too. Vectors without gaps go upwards, and
// subarrays then are the whole array.
bool keeps_order(int combiner) {
  for (const int each : {MPI_COMBINER_CONTIGUOUS, MPI_COMBINER_DUP, MPI_COMBINER_VECTOR,
                         MPI_COMBINER_HVECTOR, MPI_COMBINER_SUBARRAY}) {
    if (combiner == each) return true;
  }
  return false;
}

// Types built from others: all leaves that are in the signature must agree.
TypeFacts examine_derived(const Contents& from) {
  TypeFacts facts;
  bool is_first = true, dense = from.parts.size() == 1;
  for (std::size_t at = 0; at < from.parts.size(); ++at) {
    const TypeFacts part = find_type_facts(from.parts[at]);
    if (at == 0) find_shape(facts, from, part);
    dense = dense && part.dense;
    if (part.size == 0 || !has_blocks(from, at)) continue;
    add_part(facts, part, std::exchange(is_first, false));
  }
  facts.dense = dense && keeps_order(from.combiner);
  return facts;
}

}  // namespace

TypeFacts find_type_facts(MPI_Datatype type) {
  const Contents from(type);
  MPI_Count size = 0;
  real().Type_size_x(type, &size);
  TypeFacts facts;
  if (from.combiner == MPI_COMBINER_NAMED) {
    const auto bytes = size < 0 ? 0 : static_cast<std::uint64_t>(size);
    const Leaves leaves = leaves_of(type, from.parametrised, bytes);
    facts.leaf = leaves.leaf;
    facts.values = leaves.values;
    facts.dense = true;
  } else {
    facts = examine_derived(from);
  }
  facts.size = size < 0 ? 0 : static_cast<std::uint64_t>(size);
  facts.dense = facts.dense && extent_is_size(type, facts.size);
  return facts;
}

}  // namespace thinwire::mpi
