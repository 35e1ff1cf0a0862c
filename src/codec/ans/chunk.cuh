// A chunk of ans in pieces by one thread block: a warp has a piece with its states, from its values
// to its words and back. Only tables are common to warps, and where pieces lie. See
// spec/codec-ans.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/ans/lookups.cuh"
#include "codec/ans/mask.cuh"
#include "codec/ans/words.cuh"
#include "codec/cuda/piece.cuh"

namespace thinwire::codec::ans {

template <typename Word>
struct PieceEncodeState {
  // Counts of the planes' bytes, then shares, and after these of quads; in the end, steps.
  using Counts = std::uint32_t[sizeof(Word) + 1][kBytes];
  union {
    Counts counts;
    PieceStep steps[sizeof(Word)][kBytes];
  };
  PlaneTable tables[sizeof(Word)];
  std::byte table_bytes[sizeof(Word)][kMostTableBytes + 2];
  bool is_likely[sizeof(Word)];  // a plane, by its sample
  std::uint32_t heads[kPieces];
  std::uint32_t zeros[kPieces];
  std::uint32_t mask_table[kMaskTableBytes / 4];
};

template <typename Word>
struct PieceDecodeState {
  // Tables of as many planes in their full form as usually are coded, of all in the small one.
  static constexpr std::uint32_t kFullSlots = sizeof(Word) == 8 ? 3 : sizeof(Word) == 4 ? 2 : 1;
  static constexpr std::uint32_t kSlotsBytes = kFullSlots * kFullSlotsBytes >
                                                       sizeof(Word) * kSmallSlotsBytes
                                                   ? kFullSlots* kFullSlotsBytes
                                                   : sizeof(Word) * kSmallSlotsBytes;

  alignas(16) std::uint8_t slots[kSlotsBytes];
  union {
    Start starts[sizeof(Word)][kBytes];
    Chains<Word> chains[kPieces];
  };
  PlaneTable tables[sizeof(Word)];
  bool is_sound[kPieces];
};

template <Dtype kType>
struct PieceCoder {
  static constexpr Dtype kDtype = kType;
  using Word = WordOf<kDtype>;
  static constexpr int kThreads = kPieceThreads;
  static constexpr int kResident = sizeof(Word) == 8 ? 4 : sizeof(Word) == 4 ? 5 : 6;
  static constexpr int kDecodeResident = sizeof(Word) == 8 ? 3 : sizeof(Word) == 4 ? 4 : 5;
  // A single payload leaves room for another thread block.
  static constexpr int kEncodePayloads = 1;
  static constexpr int kDecodePayloads = 1;
  static constexpr bool kBringsNear = true;
  static constexpr std::uint32_t kPayloadBytes = kChunkBytes;
  static constexpr std::uint32_t kPlanes = sizeof(Word);
  using State = PieceEncodeState<Word>;
  using DecodeState = PieceDecodeState<Word>;
  using Parts = PieceParts<Word>;

  // The own warp's share of what is known of a chunk before it is encoded; the rest is the state's.
  struct Prepared {
    PieceHead head;
    PlaneSets sets;
    PieceStep quad;  // of the own lane
  };

  __device__ static Prepared prepare(const cuda::Piece& piece, std::uint64_t parameter,
                                     State& state);
  __device__ static std::uint32_t encode(const cuda::Piece& piece, const Prepared& prepared,
                                         std::uint64_t* payload, std::uint64_t parameter,
                                         State& state);
  template <typename Sink>
  __device__ static bool decode(std::uint64_t* payload, std::uint32_t bytes,
                                const cuda::Target& target, std::uint64_t parameter,
                                DecodeState& state, const Sink& sink);

 private:
  __device__ static std::uint32_t values_of_piece(std::uint32_t piece, std::uint32_t values) {
    const std::uint32_t first = piece * kPieceValues<Word>;
    return first < values ? min(kPieceValues<Word>, values - first) : 0;
  }

  __device__ static PlaneSets sets_of(const PlaneTable* tables) {
    PlaneSets sets{0, 0};
#pragma unroll
    for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
      sets.coded |= std::uint32_t{tables[plane].is_coded} << plane;
      sets.mixed |= std::uint32_t{tables[plane].is_mixed} << plane;
    }
    return sets;
  }

  // A piece on its way from values to words, from its end to its beginning.
  struct Way {
    std::byte* region;    // where stored planes begin, and words end
    std::uint32_t state;  // of the own lane
    std::uint32_t lowest;
    int next;   // the place after the next word's, in words
    int least;  // the first place that there is room for; if that was too little, `next` is below
                // it
    std::uint32_t kept;  // in groups that are not coded
  };

  // The own warp's piece.
  __device__ static Values values_of(const cuda::Piece& piece, std::uint64_t parameter) {
    const std::byte* const at = piece.at + threadIdx.x / 32 * kPieceBytes;
    return {.at = at,
            .count = values_of_piece(threadIdx.x / 32, piece.values),
            .tuple = static_cast<std::uint32_t>(parameter & ~kInPieces),
            .fours = has_fours<Word>(at)};
  }

  // Whether a piece, if it is not sparse, takes the fast way.
  __device__ static bool is_easy(const Values& values) {
    return values.fours && values.count == kPieceValues<Word> && values.tuple < 2;
  }

  using Counts = typename State::Counts;

  // Words of a piece that are 0, and whether it is sparse without a mask.
  struct Zeros {
    std::uint32_t words;
    bool is_sparse;
  };

  __device__ static std::uint32_t likely_planes(const Values& values, State& state);
  template <bool kWhole>
  __device__ static bool count_groups(const Values& values, std::uint32_t planes, Counts& counts);
  __device__ static Zeros count_piece(const Values& values, std::uint32_t planes, Counts& counts);
  __device__ static bool choose_mask(std::uint32_t values, std::uint32_t sparse,
                                     std::uint32_t masked, std::uint32_t likely, PieceStep& quad,
                                     State& state);
  __device__ static bool encode_group(const Values& values, const Packed<Word>& packed,
                                      std::uint32_t first, bool is_sparse, const Parts& parts,
                                      const PieceStep& quad, Way& way, const State& state);
  __device__ static std::uint32_t encode_whole_groups(const Values& values, const Parts& parts,
                                                      Way& way, const State& state);
  __device__ static PieceHead encode_piece(const Values& values, PieceHead head,
                                           const PlaneSets& sets, const PieceStep& quad,
                                           std::byte* region, std::uint32_t& own,
                                           std::uint32_t& lowest, const State& state);
  __device__ static void move_piece(const Parts& parts, std::uint32_t own, std::uint32_t lowest,
                                    std::byte* region, std::byte* to);

  template <bool kFull>
  __device__ static void make_slots(std::uint32_t mixed, DecodeState& state);
  // A piece on its way from words to values, from its beginning on.
  struct WayBack {
    const std::byte* in;
    std::byte* out;
    std::uint32_t state;  // of the own lane
    const std::uint16_t* words;
    std::uint32_t next;  // word; those after the last one are anything in shared memory
  };

  template <bool kFull, typename Sink>
  __device__ static std::uint32_t decode_whole_groups(const Parts& parts, const PlaneSets& sets,
                                                      std::uint32_t tuple, Word& last, WayBack& way,
                                                      const DecodeState& state, const Sink& sink);
  template <bool kFull, typename Sink>
  __device__ static bool decode_piece(const Parts& parts, bool is_sparse, const PlaneSets& sets,
                                      const QuadSlots& quads, const std::byte* in,
                                      const cuda::Target& target, std::uint32_t tuple,
                                      DecodeState& state, const Sink& sink);
};

}  // namespace thinwire::codec::ans
