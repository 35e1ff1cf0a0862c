// Datatypes of any make with a known type map: what an MPI makes of them can be checked.
#pragma once

#include <vector>

#include "random.h"
#include "run.h"

namespace legality {

enum class Base { kFloat, kDouble, kInt, kLong, kByte, kComplex, kDoubleComplex, kShort };

MPI_Datatype handle_of(Base base);
int size_of(Base base);
bool is_float(Base base);  // a lossy codec may take it
bool is_complex(Base base);

struct Entry {
  MPI_Aint at;
  Base base;
};

// An item of the type holds `entries` in the order in which they travel.
class Type {
 public:
  Type(MPI_Datatype handle, std::vector<Entry> entries, bool owned);
  ~Type() { release(); }
  Type(const Type&) = delete;
  Type& operator=(const Type&) = delete;
  Type(Type&& other) noexcept;
  Type& operator=(Type&&) = delete;

  MPI_Datatype handle() const { return handle_; }
  const std::vector<Entry>& entries() const { return entries_; }
  int elements() const { return static_cast<int>(entries_.size()); }
  MPI_Aint extent() const { return extent_; }
  MPI_Aint lowest() const { return lowest_; }    // byte of an item that is the program's
  MPI_Aint highest() const { return highest_; }  // first byte behind them
  bool owned() const { return owned_; }
  void commit() { MPI_Type_commit(&handle_); }
  void release();  // the map stays

 private:
  MPI_Datatype handle_;
  std::vector<Entry> entries_;
  MPI_Aint lb_ = 0, extent_ = 0, lowest_ = 0, highest_ = 0;
  bool owned_;
};

// The elements of a message: `unit`, over and over.
struct Signature {
  std::vector<Base> unit;
  int units = 0;

  int elements() const { return units * static_cast<int>(unit.size()); }
  Base at(int element) const { return unit[static_cast<std::size_t>(element) % unit.size()]; }
};

Signature draw_signature(Random& random);

struct Layout {
  Type type;
  int count;  // items that make the signature
};

// Any layout of the signature. With `plain` its base type alone; with `units` items of so many.
Layout draw_layout(Random random, const Signature& signature, bool plain, int units = 0);

// Units that an item may have if the signature is cut into items of one length.
int draw_units_of_item(Random& random, const Signature& signature);

// `elements` of one base in any order, with gaps or without, committed.
Type draw_type(Random& random, Base base, int elements);
Type plain_type(Base base);

}  // namespace legality
