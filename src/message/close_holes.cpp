// Values for a codec to see in the place of missing ones: the more alike their neighbours, the less
// they cost. On a line between these there is no step, neither to the left nor to the right.
#include <cstring>

#include "message/hole_line.h"
#include "message/missing.h"

namespace thinwire::message {
namespace {

// Closes the hole of `count` values from the `first` on, in a row of `row` that has others.
template <Dtype kDtype>
void close_hole(std::byte* values, std::uint64_t row, std::uint64_t first, std::uint64_t count) {
  using Word = WordOf<kDtype>;
  const std::uint64_t after = first + count;
  const auto word_at = [&](std::uint64_t at) { return load<Word>(values + at * sizeof(Word)); };
  const Word before = word_at(first > 0 ? first - 1 : after);
  const HoleLine<kDtype> line(before, after < row ? word_at(after) : before, count);
  for (std::uint64_t at = 0; at < count; ++at) {
    store(values + (first + at) * sizeof(Word), line.at(at));
  }
}

// False if the row has nothing but holes: it is left then.
template <Dtype kDtype>
bool close_row(std::byte* values, std::uint64_t row, WordOf<kDtype> fill) {
  using Word = WordOf<kDtype>;
  const auto is_missing = [&](std::uint64_t at) {
    return load<Word>(values + at * sizeof(Word)) == fill;
  };
  for (std::uint64_t at = 0; at < row; ++at) {
    if (!is_missing(at)) continue;
    const std::uint64_t first = at;
    while (at < row && is_missing(at)) ++at;
    if (at - first == row) return false;
    close_hole<kDtype>(values, row, first, at - first);
  }
  return true;
}

template <Dtype kDtype>
void close_rows(const Holed& chunk, std::byte* out) {
  const auto fill = static_cast<WordOf<kDtype>>(chunk.fill);
  const std::uint64_t bytes = chunk.row * sizeof fill;
  std::byte* const end = out + chunk.count * sizeof fill;
  std::byte* first = nullptr;  // row with values
  for (std::byte* row = out; row < end; row += bytes) {
    if (close_row<kDtype>(row, chunk.row, fill)) {
      first = first == nullptr ? row : first;
    } else if (first != nullptr) {
      std::memcpy(row, row - bytes, bytes);
    }
  }
  for (std::byte* row = out; row < first; row += bytes) std::memcpy(row, first, bytes);
}

}  // namespace

void close_holes(const Holed& chunk, std::byte* out) {
  std::memcpy(out, chunk.values, chunk.count * dtype_size(chunk.dtype));
  with_float_dtype(chunk.dtype, [&](auto kDtype) {
    close_rows<kDtype>(chunk, out);
    return 0;
  });
}

}  // namespace thinwire::message
