// Coefficients of blocks side by side to bit planes and back, in vectors: the words of PlaneLayout,
// a vector lane for each block, and no more planes than the blocks' bits reach.
#pragma once

#include <cstdint>

#include "codec/zfp/bit_matrix.h"
#include "codec/zfp/vectors.h"

namespace thinwire::codec::zfp {

// Planes are made in pieces, of 8 words of each 32 coefficients: 8 planes of a block of 64, 16 of a
// block of 16 (plane_lists.h). A block of 4 has but 4 words for 32 planes.
template <int kValues>
struct PlanePieces {
  static constexpr int kRows = PlaneLayout<kValues, 32>::kRows;
  static constexpr int kWords = kRows < 8 ? kRows : 8;  // of a piece
  static constexpr int kCount = kRows / kWords;         // of 32 planes
  static constexpr int kBytes = kValues == 4 ? 1 : 4;   // of coefficients that a word joins

  // The piece, among those of all planes, that has plane k. Unsigned, for shorter divisions.
  static constexpr int of(unsigned k) {
    return static_cast<int>(k / 32 * kCount + k % kRows / kWords);
  }
  // Byte `q` of a piece's word is byte byte_of() of the coefficient that comes row_of() after the
  // first.
  static constexpr int row_of(int q) { return kValues == 64 ? 8 * q : 8 * (q % 2); }
  static constexpr int byte_of(int piece, int q) {
    return kValues == 64 ? piece : 2 * piece + q / 2;
  }
};

template <int kDistance, int kWords>
inline void exchange_vectors(Vector<std::uint32_t> (&row)[kWords]) {
  if constexpr (kDistance < kWords) {
    constexpr std::uint32_t kMask = 0xffffffffu / ((1u << kDistance) + 1);
    for (int i = 0; i < kWords; ++i) {
      if ((i & kDistance) != 0) continue;
      const Vector<std::uint32_t> differ = ((row[i] >> kDistance) ^ row[i + kDistance]) & kMask;
      row[i + kDistance] ^= differ;
      row[i] ^= differ << kDistance;
    }
  }
}

// As transpose_bits(), for squares of 8 or 4.
template <int kWords>
inline void transpose_vectors(Vector<std::uint32_t> (&row)[kWords]) {
  exchange_vectors<4>(row);
  exchange_vectors<2>(row);
  exchange_vectors<1>(row);
}

// The words of a piece of 32 planes of up to 32 coefficients, of as many blocks as a vector has
// lanes: of rows of coefficients at `from`, kStride from one to the next.
template <int kValues, int kStride>
inline void words_of_piece(const std::uint32_t* from, int piece,
                           Vector<std::uint32_t> (&word)[PlanePieces<kValues>::kWords]) {
  using Pieces = PlanePieces<kValues>;
  for (int i = 0; i < Pieces::kWords; ++i) {
    load_vector<std::uint32_t>(from + i * kStride, word[i]);
    if constexpr (Pieces::kBytes > 1) {
      word[i] = word[i] >> 8 * Pieces::byte_of(piece, 0) & 0xff;
      for (int q = 1; q < Pieces::kBytes; ++q) {
        Vector<std::uint32_t> row;
        load_vector<std::uint32_t>(from + (i + Pieces::row_of(q)) * kStride, row);
        word[i] |= (row >> 8 * Pieces::byte_of(piece, q) & 0xff) << 8 * q;
      }
    }
  }
  transpose_vectors(word);
}

// Undoes words_of_piece(), adding to rows in which the bits of the piece are 0.
template <int kValues, int kStride>
inline void add_words(Vector<std::uint32_t> (&word)[PlanePieces<kValues>::kWords], int piece,
                      std::uint32_t* to) {
  using Pieces = PlanePieces<kValues>;
  transpose_vectors(word);
  for (int i = 0; i < Pieces::kWords; ++i) {
    if constexpr (Pieces::kBytes > 1) {
      for (int q = 0; q < Pieces::kBytes; ++q) {
        std::uint32_t* const at = to + (i + Pieces::row_of(q)) * kStride;
        Vector<std::uint32_t> row;
        load_vector<std::uint32_t>(at, row);
        row |= (word[i] >> 8 * q & 0xff) << 8 * Pieces::byte_of(piece, q);
        store_vector<std::uint32_t>(at, row);
      }
    } else {
      store_vector<std::uint32_t>(to + i * kStride, word[i]);
    }
  }
}

// Calls body(offset) for the places where the rows of 32 coefficients of a vector of blocks begin
// that piece `piece` of all of a group's planes is made of.
template <typename Group, typename Body>
inline void for_each_set(int piece, const Body& body) {
  using Pieces = PlanePieces<Group::kValues>;
  const int first = piece / Pieces::kCount * Group::kValues;
  for (int row = first; row < first + Group::kValues; row += Pieces::kRows) {
    for (int lane = 0; lane < Group::kBlocks; lane += kVectorBytes / 4) {
      body(row * Group::kBlocks + lane);
    }
  }
}

template <typename Group>
inline void make_piece(Group& group, int piece) {
  for_each_set<Group>(piece, [&](int at) {
    using Pieces = PlanePieces<Group::kValues>;
    Vector<std::uint32_t> word[Pieces::kWords];
    words_of_piece<Group::kValues, Group::kBlocks>(group.rows + at, piece % Pieces::kCount, word);
    std::uint32_t* const to =
        group.planes + at + piece % Pieces::kCount * Pieces::kWords * Group::kBlocks;
    for (int i = 0; i < Pieces::kWords; ++i) {
      store_vector<std::uint32_t>(to + i * Group::kBlocks, word[i]);
    }
  });
}

// Undoes make_piece(), and clears the planes.
template <typename Group>
inline void add_piece(Group& group, int piece) {
  for_each_set<Group>(piece, [&](int at) {
    using Pieces = PlanePieces<Group::kValues>;
    Vector<std::uint32_t> word[Pieces::kWords];
    std::uint32_t* const from =
        group.planes + at + piece % Pieces::kCount * Pieces::kWords * Group::kBlocks;
    for (int i = 0; i < Pieces::kWords; ++i) {
      take_vector(from + i * Group::kBlocks, word[i]);
    }
    add_words<Group::kValues, Group::kBlocks>(word, piece % Pieces::kCount, group.rows + at);
  });
}

// Plane k of block `lane` of a group: where its word is, and the place in it.
template <typename Group>
inline unsigned plane_at(unsigned k, int lane) {
  constexpr unsigned kRows = PlanePieces<Group::kValues>::kRows;
  return (k / 32 * Group::kValues + k % kRows) * Group::kBlocks + static_cast<unsigned>(lane);
}

template <typename Group>
inline unsigned plane_shift(unsigned k) {
  constexpr unsigned kRows = PlanePieces<Group::kValues>::kRows;
  return k % 32 / kRows * kRows;
}

template <typename Group>
inline std::uint64_t plane_of(const Group& group, unsigned k, int lane) {
  const std::uint32_t* word = group.planes + plane_at<Group>(k, lane);
  if constexpr (Group::kValues == 64) {
    return *word | std::uint64_t{word[32 * Group::kBlocks]} << 32;
  } else {
    return *word >> plane_shift<Group>(k) & low_bits_mask(Group::kValues);
  }
}

// Sets a plane, so far 0.
template <typename Group>
inline void set_plane(Group& group, unsigned k, int lane, std::uint64_t plane) {
  std::uint32_t* word = group.planes + plane_at<Group>(k, lane);
  if constexpr (Group::kValues == 64) {
    word[0] = static_cast<std::uint32_t>(plane);
    word[32 * Group::kBlocks] = static_cast<std::uint32_t>(plane >> 32);
  } else {
    *word |= static_cast<std::uint32_t>(plane) << plane_shift<Group>(k);
  }
}

}  // namespace thinwire::codec::zfp
