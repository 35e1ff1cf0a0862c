// Values that sender and receiver can both name, and a program's buffer, with what must be in every
// byte of it: data, gaps, and what lies around.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "run.h"
#include "types.h"

namespace legality {

enum class Kind { kSmooth, kRandom, kWhole, kSpecial, kConstant, kSmall };

struct Content {
  Kind kind = Kind::kSmooth;
  std::uint64_t key = 0;
};

Content draw_content(Random& random);

// The bytes of one element.
void write_value(const Content& content, int element, Base base, void* to);

// A value of kSmall: a whole number other than zero. Sums over ranks are exact in any order.
int small_value(const Content& content, int element);

struct Piece {
  std::shared_ptr<Type> type;
  MPI_Aint offset = 0;  // in bytes from the buffer's address
  int items = 0;

  int elements() const { return items * type->elements(); }
};

class Buffer {
 public:
  // The memory is filled with a pattern of `key`.
  Buffer(std::vector<Piece> pieces, std::uint64_t key);
  Buffer(std::shared_ptr<Type> type, int items, std::uint64_t key);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* address() const { return memory_ + origin_; }
  const Piece& piece(int at = 0) const { return pieces_[static_cast<std::size_t>(at)]; }
  MPI_Datatype handle(int at = 0) const { return piece(at).type->handle(); }
  int items(int at = 0) const { return piece(at).items; }

  // As it was when it was made.
  void reset();

  // From here on the piece's first elements are these.
  void fill(const Content& content, int piece = 0) { fill(content, piece, all(piece)); }
  void fill(const Content& content, int piece, int elements);
  // Sets the values that the elements must have after the receive.
  void expect(const Content& content, int piece, int elements);
  // The same for the real (0) or the imaginary `part` of a complex number.
  void expect_number(int piece, int element, std::int64_t value, int part = 0);
  // The element becomes the content's `number`th.
  void fill_value(int piece, int element, const Content& content, int number);

  // Writing ends the process, until `writable`.
  void read_only();
  void writable();

  // Reports elements that differ from the expected ones. Floats may be off by `codings` times the
  // tolerance: 0 for values that no codec may have changed.
  void check(Record& record, const char* what, double codings = 1) const;
  // From now on the elements from `first` on, in all pieces, may hold anything.
  void forget_from(int first);
  // A hash of the values of a piece in the order in which they travel.
  std::uint64_t hash_of(int piece, int elements) const;

 private:
  int all(int piece) const { return pieces_[static_cast<std::size_t>(piece)].elements(); }
  Base base_of(const Piece& piece, int element) const;
  MPI_Aint place_of(const Piece& piece, int element) const;
  bool near(const Piece& piece, int element, double tolerance) const;

  std::vector<Piece> pieces_;
  std::uint64_t key_;
  std::size_t bytes_ = 0, mapped_ = 0;
  MPI_Aint origin_ = 0;
  unsigned char* memory_ = nullptr;
  std::vector<unsigned char> image_;
};

std::uint64_t hash_bytes(const void* data, std::size_t bytes);

}  // namespace legality
