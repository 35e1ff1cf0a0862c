#include "types.h"

#include <algorithm>
#include <utility>

#include "run.h"

namespace legality {

MPI_Datatype handle_of(Base base) {
  switch (base) {
    case Base::kFloat:
      return MPI_FLOAT;
    case Base::kDouble:
      return MPI_DOUBLE;
    case Base::kInt:
      return MPI_INT;
    case Base::kLong:
      return MPI_INT64_T;
    case Base::kByte:
      return MPI_BYTE;
    case Base::kComplex:
      return MPI_C_FLOAT_COMPLEX;
    case Base::kDoubleComplex:
      return MPI_C_DOUBLE_COMPLEX;
    case Base::kShort:
      return MPI_INT16_T;
  }
  return MPI_DATATYPE_NULL;
}

int size_of(Base base) {
  if (base == Base::kByte) return 1;
  if (base == Base::kShort) return 2;
  if (base == Base::kDoubleComplex) return 16;
  return base == Base::kFloat || base == Base::kInt ? 4 : 8;
}

bool is_complex(Base base) { return base == Base::kComplex || base == Base::kDoubleComplex; }

bool is_float(Base base) {
  return base == Base::kFloat || base == Base::kDouble || is_complex(base);
}

Type::Type(MPI_Datatype handle, std::vector<Entry> entries, bool owned)
    : handle_(handle), entries_(std::move(entries)), owned_(owned) {
  MUST(MPI_Type_get_extent(handle_, &lb_, &extent_));
  if (entries_.empty()) return;
  lowest_ = entries_.front().at;
  highest_ = lowest_;
  for (const Entry& entry : entries_) {
    lowest_ = std::min(lowest_, entry.at);
    highest_ = std::max(highest_, entry.at + size_of(entry.base));
  }
}

Type::Type(Type&& other) noexcept
    : handle_(std::exchange(other.handle_, MPI_DATATYPE_NULL)),
      entries_(std::move(other.entries_)),
      lb_(other.lb_),
      extent_(other.extent_),
      lowest_(other.lowest_),
      highest_(other.highest_),
      owned_(std::exchange(other.owned_, false)) {}

void Type::release() {
  if (owned_) MPI_Type_free(&handle_);
  owned_ = false;
}

Type plain_type(Base base) { return {handle_of(base), {{0, base}}, false}; }

namespace {

// A struct whose members follow the unit, with gaps between them.
Type mixed_type(Random& random, const std::vector<Base>& unit) {
  std::vector<int> lengths;
  std::vector<MPI_Aint> places;
  std::vector<MPI_Datatype> members;
  std::vector<Entry> entries;
  MPI_Aint at = 8 * random.below(3);
  for (std::size_t next = 0; next < unit.size();) {
    int length = 1;
    while (next + length < unit.size() && unit[next + length] == unit[next]) ++length;
    if (length > 1 && random.chance(30)) length = random.between(1, length);
    lengths.push_back(length), places.push_back(at), members.push_back(handle_of(unit[next]));
    for (int each = 0; each < length; ++each) {
      entries.push_back({at, unit[next]});
      at += size_of(unit[next]);
    }
    next += static_cast<std::size_t>(length);
    at = (at + 7) / 8 * 8 + 8 * (random.chance(50) ? 0 : random.below(4));
  }
  MPI_Datatype open = MPI_DATATYPE_NULL, made = MPI_DATATYPE_NULL;
  MUST(MPI_Type_create_struct(static_cast<int>(lengths.size()), lengths.data(), places.data(),
                              members.data(), &open));
  MUST(MPI_Type_create_resized(open, 0, at + 8 * random.below(2), &made));
  MUST(MPI_Type_free(&open));
  MUST(MPI_Type_commit(&made));
  mark(Feature::mixed_);
  return {made, std::move(entries), true};
}

}  // namespace

int draw_units_of_item(Random& random, const Signature& signature) {
  if (signature.unit.size() > 1) return 1;
  if (signature.units == 0) return random.between(1, 6);
  std::vector<int> divisors;
  for (int each = 1; each <= std::min(signature.units, 4096); ++each)
    if (signature.units % each == 0) divisors.push_back(each);
  return random.pick(divisors);
}

Layout draw_layout(Random random, const Signature& signature, bool plain, int units) {
  if (signature.units == 0) mark(Feature::zero_count_);
  if (signature.unit.size() > 1) return {mixed_type(random, signature.unit), signature.units};
  const Base base = signature.unit.front();
  if (plain || (random.chance(30) && units < 2)) return {plain_type(base), signature.units};
  const int each = units > 0 ? units : draw_units_of_item(random, signature);
  return {draw_type(random, base, each), signature.units / each};
}

}  // namespace legality
