// The planes of blocks of 16 values side by side as a list for each block, the highest plane first,
// so that a coder reaches four planes of a block with one load.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "codec/zfp/group_planes.h"
#include "codec/zfp/vectors.h"

namespace thinwire::codec::zfp {

inline constexpr int kListPiece = 16;  // planes of a list that are made at once, those of a piece

// Eight rows of eight words to columns; its own inverse.
inline void transpose_eights(Vector<std::uint32_t> (&row)[8]) {
  using V = Vector<std::uint32_t>;
  V fours[8];
  for (int i = 0; i < 8; i += 4) {
    const V a = THINWIRE_ZFP_SHUFFLE_8(row[i], row[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    const V b = THINWIRE_ZFP_SHUFFLE_8(row[i], row[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    const V c = THINWIRE_ZFP_SHUFFLE_8(row[i + 2], row[i + 3], 0, 8, 1, 9, 4, 12, 5, 13);
    const V d = THINWIRE_ZFP_SHUFFLE_8(row[i + 2], row[i + 3], 2, 10, 3, 11, 6, 14, 7, 15);
    fours[i] = THINWIRE_ZFP_SHUFFLE_8(a, c, 0, 1, 8, 9, 4, 5, 12, 13);
    fours[i + 1] = THINWIRE_ZFP_SHUFFLE_8(a, c, 2, 3, 10, 11, 6, 7, 14, 15);
    fours[i + 2] = THINWIRE_ZFP_SHUFFLE_8(b, d, 0, 1, 8, 9, 4, 5, 12, 13);
    fours[i + 3] = THINWIRE_ZFP_SHUFFLE_8(b, d, 2, 3, 10, 11, 6, 7, 14, 15);
  }
  for (int i = 0; i < 4; ++i) {
    row[i] = THINWIRE_ZFP_SHUFFLE_8(fours[i], fours[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    row[i + 4] = THINWIRE_ZFP_SHUFFLE_8(fours[i], fours[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

// The words of a piece, two planes eight apart in each, to words of two planes that follow each
// other; the highest first.
inline void words_to_list(const Vector<std::uint32_t> (&word)[8],
                          Vector<std::uint32_t> (&list)[8]) {
  for (int i = 0; i < 4; ++i) {
    const auto &first = word[7 - 2 * i], &second = word[6 - 2 * i];
    list[i] = first >> 16 | (second & 0xffff0000);
    list[i + 4] = (first & 0xffff) | second << 16;
  }
}

inline void list_to_words(const Vector<std::uint32_t> (&list)[8],
                          Vector<std::uint32_t> (&word)[8]) {
  for (int i = 0; i < 4; ++i) {
    word[7 - 2 * i] = list[i] << 16 | (list[i + 4] & 0xffff);
    word[6 - 2 * i] = (list[i] & 0xffff0000) | list[i + 4] >> 16;
  }
}

// Calls body(rows, list, lane) for the piece that has planes `first` and those after it in all
// lists, for a vector of blocks at a time.
template <typename Group, typename Body>
inline void for_each_list(int first, const Body& body) {
  const int half = Group::kHalves - 1 - first / 32;  // of the coefficients
  for (int lane = 0; lane < Group::kBlocks; lane += kVectorBytes / 4) {
    body(half * Group::kValues * Group::kBlocks + lane, 1 - first / kListPiece % 2, lane);
  }
}

// Appends kListPiece planes to the lists.
template <typename Group>
inline void extend_lists(Group& group) {
  const int first = group.listed;
  group.listed += kListPiece;
  for_each_list<Group>(first, [&](int at, int piece, int lane) {
    Vector<std::uint32_t> word[8], list[8];
    words_of_piece<Group::kValues, Group::kBlocks>(group.rows + at, piece, word);
    words_to_list(word, list);
    transpose_eights(list);
    for (int i = 0; i < 8; ++i) {
      store_vector<std::uint32_t>(group.list[lane + i] + first, list[i]);
    }
  });
}

// Undoes extend_lists() for the planes before `end` of lists in which those after it are 0, and
// clears them.
template <typename Group>
inline void rows_of_lists(Group& group, int end) {
  for (int first = 0; first < end; first += kListPiece) {
    for_each_list<Group>(first, [&](int at, int piece, int lane) {
      Vector<std::uint32_t> word[8], list[8];
      for (int i = 0; i < 8; ++i) take_vector(group.list[lane + i] + first, list[i]);
      transpose_eights(list);
      list_to_words(list, word);
      add_words<Group::kValues, Group::kBlocks>(word, piece, group.rows + at);
    });
  }
}

}  // namespace thinwire::codec::zfp
