// One function a constructor of MPI's: elements of one base, and where they lie.
#include <algorithm>

#include "run.h"
#include "types.h"

namespace legality {
namespace {

using Entries = std::vector<Entry>;

struct Made {
  MPI_Datatype handle;
  Entries entries;
};

int divisor(Random& random, int of) {
  std::vector<int> divisors;
  for (int each = 1; each <= of; ++each)
    if (of % each == 0) divisors.push_back(each);
  return random.pick(divisors);
}

void run_of(Entries& entries, MPI_Aint at, int length, Base base) {
  for (int each = 0; each < length; ++each) entries.push_back({at + each * size_of(base), base});
}

Made contiguous(Random&, Base base, int elements) {
  Made made{};
  MUST(MPI_Type_contiguous(elements, handle_of(base), &made.handle));
  run_of(made.entries, 0, elements, base);
  mark(Feature::contiguous_);
  return made;
}

Made vector(Random& random, Base base, int elements) {
  Made made{};
  const int length = divisor(random, elements), blocks = elements / length;
  const int stride = length + random.below(4);
  if (random.chance(50)) {
    MUST(MPI_Type_vector(blocks, length, stride, handle_of(base), &made.handle));
  } else {
    MUST(MPI_Type_create_hvector(blocks, length, MPI_Aint{stride} * size_of(base), handle_of(base),
                                 &made.handle));
  }
  for (int block = 0; block < blocks; ++block)
    run_of(made.entries, MPI_Aint{block} * stride * size_of(base), length, base);
  mark(Feature::vector_);
  if (stride > length && blocks > 1) mark(Feature::gaps_);
  return made;
}

// Cuts of random length that make `elements`, some of them empty; where each begins, in elements.
struct Cuts {
  std::vector<int> lengths, places;
  bool empty = false, gaps = false;
};

Cuts draw_blocks(Random& random, int elements, bool with_empty) {
  Cuts blocks;
  const int most = std::max(1, elements / random.between(1, 8));
  for (int left = elements; left > 0;) {
    const int length =
        with_empty && random.chance(15) ? 0 : random.between(1, std::min(left, most));
    blocks.lengths.push_back(length);
    blocks.empty = blocks.empty || length == 0;
    left -= length;
  }
  std::vector<int> order = random.permutation(static_cast<int>(blocks.lengths.size()));
  if (random.chance(60)) std::sort(order.begin(), order.end());
  blocks.places.resize(blocks.lengths.size());
  int at = random.below(3);
  for (int block : order) {
    const int gap = random.chance(50) ? random.below(5) : 0;
    blocks.gaps = blocks.gaps || gap > 0;
    blocks.places[static_cast<std::size_t>(block)] = at + gap;
    at += gap + blocks.lengths[static_cast<std::size_t>(block)];
  }
  return blocks;
}

void place_cuts(Made& made, const Cuts& blocks, Base base) {
  for (std::size_t block = 0; block < blocks.lengths.size(); ++block)
    run_of(made.entries, MPI_Aint{blocks.places[block]} * size_of(base), blocks.lengths[block],
           base);
  if (blocks.empty) mark(Feature::zero_blocks_);
  if (blocks.gaps) mark(Feature::gaps_);
}

std::vector<MPI_Aint> in_bytes(const std::vector<int>& places, int size) {
  std::vector<MPI_Aint> bytes;
  for (int each : places) bytes.push_back(MPI_Aint{each} * size);
  return bytes;
}

Made indexed(Random& random, Base base, int elements) {
  Made made{};
  const Cuts blocks = draw_blocks(random, elements, allowed(Feature::zero_blocks_));
  const int count = static_cast<int>(blocks.lengths.size());
  if (random.chance(50)) {
    MUST(MPI_Type_indexed(count, blocks.lengths.data(), blocks.places.data(), handle_of(base),
                          &made.handle));
  } else {
    const std::vector<MPI_Aint> bytes = in_bytes(blocks.places, size_of(base));
    MUST(MPI_Type_create_hindexed(count, blocks.lengths.data(), bytes.data(), handle_of(base),
                                  &made.handle));
  }
  place_cuts(made, blocks, base);
  mark(Feature::indexed_);
  return made;
}

Made indexed_block(Random& random, Base base, int elements) {
  Made made{};
  const int length = divisor(random, elements), count = elements / length;
  Cuts blocks;
  for (int at = 0, block = 0; block < count; ++block, at += length + random.below(3)) {
    blocks.lengths.push_back(length), blocks.places.push_back(at);
    blocks.gaps = blocks.gaps || at > block * length;
  }
  MUST(MPI_Type_create_indexed_block(count, length, blocks.places.data(), handle_of(base),
                                     &made.handle));
  place_cuts(made, blocks, base);
  mark(Feature::indexed_);
  return made;
}

// Members of one base, and with zero blocks members of others, which add nothing to the signature.
Made structure(Random& random, Base base, int elements) {
  Made made{};
  Cuts blocks = draw_blocks(random, elements, false);
  std::vector<MPI_Datatype> members(blocks.lengths.size(), handle_of(base));
  if (allowed(Feature::zero_blocks_) && random.chance(40)) {
    const std::size_t at =
        static_cast<std::size_t>(random.below(static_cast<int>(members.size()) + 1));
    blocks.lengths.insert(blocks.lengths.begin() + static_cast<long>(at), 0);
    blocks.places.insert(blocks.places.begin() + static_cast<long>(at), random.below(8));
    const std::vector<MPI_Datatype> others{MPI_INT, MPI_CHAR, MPI_DOUBLE, MPI_FLOAT};
    members.insert(members.begin() + static_cast<long>(at), random.pick(others));
    blocks.empty = true;
  }
  const std::vector<MPI_Aint> bytes = in_bytes(blocks.places, size_of(base));
  MUST(MPI_Type_create_struct(static_cast<int>(members.size()), blocks.lengths.data(), bytes.data(),
                              members.data(), &made.handle));
  place_cuts(made, blocks, base);
  mark(Feature::structure_);
  return made;
}

Made subarray(Random& random, Base base, int elements) {
  Made made{};
  const int rows = divisor(random, elements), columns = elements / rows;
  const int sub[2] = {rows, columns};
  const int whole[2] = {rows + random.below(3), columns + random.below(3)};
  const int start[2] = {random.below(whole[0] - rows + 1), random.below(whole[1] - columns + 1)};
  MUST(MPI_Type_create_subarray(2, whole, sub, start, MPI_ORDER_C, handle_of(base), &made.handle));
  for (int row = 0; row < rows; ++row)
    run_of(made.entries, (MPI_Aint{start[0] + row} * whole[1] + start[1]) * size_of(base), columns,
           base);
  mark(Feature::subarray_);
  if (whole[0] * whole[1] > elements) mark(Feature::gaps_);
  return made;
}

Made draw_simple(Random& random, Base base, int elements) {
  using Maker = Made (*)(Random&, Base, int);
  static const std::vector<Maker> makers{contiguous,    vector,    indexed,
                                         indexed_block, structure, subarray};
  return random.pick(makers)(random, base, elements);
}

void resize(Random& random, Made& made) {
  MPI_Aint lb = 0, extent = 0;
  MUST(MPI_Type_get_extent(made.handle, &lb, &extent));
  MPI_Datatype open = made.handle;
  const MPI_Aint before = random.chance(30) ? -8 * random.below(3) : 0;
  const MPI_Aint ub = std::max<MPI_Aint>(lb + extent, 0);
  const MPI_Aint wider = (ub + 7) / 8 * 8 - before + 8 * random.below(4);
  MUST(MPI_Type_create_resized(open, before, wider, &made.handle));
  MUST(MPI_Type_free(&open));
  mark(Feature::resized_);
}

// Several of a smaller type, one after the other or with a stride.
Made nest(Random& random, Base base, int elements) {
  const int inner_elements = divisor(random, elements), copies = elements / inner_elements;
  Made inner = draw_simple(random, base, inner_elements), made{};
  MPI_Aint lb = 0, extent = 0;
  MUST(MPI_Type_get_extent(inner.handle, &lb, &extent));
  const MPI_Aint stride = (extent + 7) / 8 * 8 + 8 * random.below(3);
  const bool dense = random.chance(40);
  if (dense) {
    MUST(MPI_Type_contiguous(copies, inner.handle, &made.handle));
  } else {
    MUST(MPI_Type_create_hvector(copies, 1, stride, inner.handle, &made.handle));
  }
  for (int copy = 0; copy < copies; ++copy)
    for (const Entry& entry : inner.entries)
      made.entries.push_back({entry.at + copy * (dense ? extent : stride), entry.base});
  MUST(MPI_Type_free(&inner.handle));
  mark(Feature::nested_);
  return made;
}

}  // namespace

Type draw_type(Random& random, Base base, int elements) {
  Made made =
      random.chance(25) ? nest(random, base, elements) : draw_simple(random, base, elements);
  if (random.chance(30)) resize(random, made);
  MUST(MPI_Type_commit(&made.handle));
  return {made.handle, std::move(made.entries), true};
}

}  // namespace legality
