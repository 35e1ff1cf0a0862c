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

namespace {

int draw_units(Random& random) {
  const int drawn = random.below(100);
  const int factor = random.pick(std::vector<int>{1, 2, 3, 4, 6, 8, 12, 16});
  if (drawn < 8) return 0;
  if (drawn < 20) return random.between(1, 16);
  if (drawn < 66) return factor * random.between(8, 128);
  if (drawn < 95) return factor * random.between(64, 512);
  mark(Feature::large_);
  return factor * random.between(2000, 3000);
}

// Bytes that an MPI moves at once, in any collective too.
constexpr int kPiece = 512;

int bytes_of(const std::vector<Base>& unit) {
  int bytes = 0;
  for (Base base : unit) bytes += size_of(base);
  return bytes;
}

// Several bases, all of one size.
bool mixes_one_size(const std::vector<Base>& unit) {
  const auto other = [&](Base base) { return base != unit.front(); };
  const auto as_long = [&](Base base) { return size_of(base) == size_of(unit.front()); };
  return std::any_of(unit.begin(), unit.end(), other) &&
         std::all_of(unit.begin(), unit.end(), as_long);
}

// Half of what is drawn as bytes travels as 16-bit integers, half of what is complex in doubles.
Base wider(Random random, Base base) {
  const bool is_wide = random.chance(50);
  if (base == Base::kComplex && is_wide && admit(Feature::double_complex_))
    base = Base::kDoubleComplex;
  if (base == Base::kByte && is_wide) base = Base::kShort;
  if (is_complex(base)) mark(Feature::complex_);
  if (base == Base::kByte || base == Base::kShort) mark(Feature::bytes_and_words_);
  return base;
}

}  // namespace

Signature draw_signature(Random& random) {
  Signature signature;
  signature.units = draw_units(random);
  const int drawn = random.below(100);
  if (drawn < 12) {
    const std::vector<Base> bases{Base::kFloat, Base::kInt, Base::kDouble, Base::kByte,
                                  Base::kLong};
    const int members = random.between(2, 5);
    for (int each = 0; each < members; ++each) {
      const Base base = random.pick(bases);
      for (int copies = random.between(1, 3); copies > 0; --copies) signature.unit.push_back(base);
    }
    signature.units = std::min(signature.units, 2000);
    if (mixes_one_size(signature.unit) && !admit(Feature::mixed_of_one_size_))
      signature.unit.assign(signature.unit.size(), signature.unit.front());
    const int few = kPiece / bytes_of(signature.unit);
    if (signature.units > few && !admit(Feature::mixed_in_pieces_)) signature.units = few;
    return signature;
  }
  static const std::vector<Base> bases{Base::kFloat,  Base::kFloat,  Base::kFloat,  Base::kFloat,
                                       Base::kDouble, Base::kDouble, Base::kDouble, Base::kInt,
                                       Base::kLong,   Base::kByte,   Base::kComplex};
  signature.unit = {wider(random.part(1), random.pick(bases))};
  return signature;
}

}  // namespace legality
