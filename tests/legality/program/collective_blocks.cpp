// Buffers of blocks, and what reductions come to.
#include <algorithm>
#include <cstring>

#include "collective.h"

namespace legality {
namespace {

MPI_Aint span(const Piece& piece) { return piece.items * piece.type->extent(); }

// One type for all blocks, in steps.
Blocks uniform(Random& random, const Signature& signature, const std::vector<int>& steps,
               Placing placing, std::uint64_t key, int units_of_item) {
  Blocks blocks;
  Layout layout = draw_layout(random.part(1), signature, placing == Placing::kPlain, units_of_item);
  auto type = std::make_shared<Type>(std::move(layout.type));
  std::vector<Piece> pieces;
  int place = 0;
  for (int step : steps) {
    const int items = layout.count * step;
    if (placing == Placing::kSpread && random.chance(40)) place += random.between(1, 3);
    blocks.counts.push_back(items), blocks.places.push_back(place);
    pieces.push_back({type, place * type->extent(), items});
    place += items;
  }
  blocks.types.push_back(type->handle());
  blocks.owned.push_back(type);
  blocks.buffer = std::make_unique<Buffer>(std::move(pieces), key);
  return blocks;
}

// Each block with a type of its own, its place in bytes.
Blocks typed(Random& random, const Signature& signature, const std::vector<int>& steps,
             std::uint64_t key) {
  Blocks blocks;
  std::vector<Piece> pieces;
  MPI_Aint place = 0;
  for (std::size_t at = 0; at < steps.size(); ++at) {
    Signature one = signature;
    one.units *= steps[at];
    Layout layout = draw_layout(random.part(at), one, false);
    auto type = std::make_shared<Type>(std::move(layout.type));
    // A lower bound below 0 takes room in front. Alone, Open MPI takes the first place for 0.
    place = at == 0 ? 0 : (place + 127) / 64 * 64;
    blocks.counts.push_back(layout.count), blocks.places.push_back(static_cast<int>(place));
    blocks.types.push_back(type->handle()), blocks.owned.push_back(type);
    pieces.push_back({type, place, layout.count});
    place += span(pieces.back()) + type->highest();
  }
  blocks.buffer = std::make_unique<Buffer>(std::move(pieces), key);
  return blocks;
}

void keep_left(void* in, void* inout, int* count, MPI_Datatype* type) {
  int size = 0;
  MPI_Type_size(*type, &size);
  std::memcpy(inout, in, static_cast<std::size_t>(*count) * static_cast<std::size_t>(size));
}

std::int64_t combine(int operation, std::int64_t left, std::int64_t right) {
  switch (operation) {
    case 0:
      return left + right;
    case 1:
      return left * right;
    case 2:
      return std::min(left, right);
    case 3:
      return std::max(left, right);
    default:
      return left;
  }
}

}  // namespace

Blocks make_blocks(Random random, const Signature& signature, const std::vector<int>& steps,
                   Placing placing, std::uint64_t key, int units_of_item) {
  if (placing == Placing::kTyped) return typed(random, signature, steps, key);
  return uniform(random, signature, steps, placing, key, units_of_item);
}

void expect_reduced(const Drawn& drawn, Buffer& buffer, int elements, int first, int ranks) {
  // In place it may reach over several blocks, which lie one after the other.
  int piece = 0, before = 0;
  for (int element = 0; element < elements; ++element) {
    while (element - before >= buffer.piece(piece).elements())
      before += buffer.piece(piece++).elements();
    const int parts = is_complex(drawn.signature.at(element)) ? 2 : 1;
    for (int part = 0; part < parts; ++part) {
      const int number = parts * (first + element) + part;
      std::int64_t value = small_value(drawn.content_of(0, 0), number);
      for (int rank = 1; rank < ranks; ++rank)
        value = combine(drawn.operation, value, small_value(drawn.content_of(rank, 0), number));
      buffer.expect_number(piece, element - before, value, part);
    }
  }
}

MPI_Op operation_of(const Drawn& drawn) {
  if (!drawn.reduces()) return MPI_OP_NULL;
  const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX};
  if (drawn.operation < 4) return ops[drawn.operation];
  MPI_Op own = MPI_OP_NULL;
  MUST(MPI_Op_create(keep_left, 0, &own));
  mark(Feature::own_operation_);
  return own;
}

void free_operation(const Drawn& drawn, MPI_Op& op) {
  if (drawn.reduces() && drawn.operation == 4) MUST(MPI_Op_free(&op));
}

}  // namespace legality
