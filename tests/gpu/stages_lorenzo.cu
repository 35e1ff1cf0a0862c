// lorenzo: a brick's bits and widths by one thread, against the host's arithmetic one bit at a
// time.
#include "codec/lorenzo/planes.cuh"
#include "stages.cuh"

namespace thinwire::stages {
namespace {

using namespace codec::lorenzo;

// The words of a brick, piece by piece.
struct BrickBits {
  std::uint32_t word[kBrickWords];
};

struct Planes {
  std::uint32_t plane[kBrickWords];
  std::uint32_t a, b;
  std::uint32_t restored[kBrickWords];
};

template <typename Word>
Planes planes_on_host(const BrickBits& in) {
  Planes out{};
  std::memcpy(out.restored, in.word, sizeof out.restored);
  Word values[kBrickWords * sizeof(std::uint32_t) / sizeof(Word)];
  std::memcpy(values, in.word, sizeof values);
  for (Word& value : values) value = fold(value);
  std::uint32_t words[kBrickWords];
  std::memcpy(words, values, sizeof words);
  for (int at = 0; at < kBrickWords; ++at) {
    const int row = matrix_row<Word>(at / 4, at % 4);
    for (int bit = 0; bit < 32; ++bit) out.plane[bit] |= (words[at] >> bit & 1) << row;
  }
  const auto width = [&](int from, std::uint32_t mask) {
    std::uint32_t planes = kMostPlanes<Word>;
    while (planes > 0 && (out.plane[from + static_cast<int>(planes) - 1] & mask) == 0) --planes;
    return planes;
  };
  out.a = sizeof(Word) == 2 ? width(0, ~0u) : width(0, 0xffffu);
  out.b = sizeof(Word) == 2 ? width(16, ~0u) : width(0, 0xffff0000u);
  return out;
}

template <typename Word>
__global__ void planes_by_threads(const BrickBits* in, Planes* out, int count) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= count) return;
  const auto* const pieces = reinterpret_cast<const uint4*>(in[at].word);
  Brick<Word> brick;
  for (int piece = 0; piece < kBrickPieces; ++piece)
    unpack<Word>(pieces[piece], brick.piece[piece]);
  for (auto& piece : brick.piece) {
    for (auto& element : piece) element = Element<Word>::fold_high(element);
  }
  Matrix matrix, again;
  to_matrix<Word>(brick, matrix);
  const Width width = width_of<Word>(matrix);
  out[at].a = width.a;
  out[at].b = width.b;
  transpose(matrix);
  for (int number = 0; number < kBrickWords; ++number) {
    out[at].plane[number] = plane<Word>(matrix, number);
    set_plane<Word>(again, number, plane<Word>(matrix, number));
  }
  transpose(again);
  from_matrix<Word>(again, brick);
  for (int piece = 0; piece < kBrickPieces; ++piece) {
    for (auto& element : brick.piece[piece]) element = Element<Word>::fold_high(element);
    const uint4 bits = packed<Word>(brick.piece[piece]);
    const std::uint32_t words[] = {bits.x, bits.y, bits.z, bits.w};
    for (int word = 0; word < 4; ++word) out[at].restored[4 * piece + word] = words[word];
  }
}

// Residuals of every size and sign, sparse ones, zeros, all ones.
std::vector<BrickBits> make_bricks() {
  std::mt19937_64 random(19);
  std::vector<BrickBits> bricks(4096);
  for (std::size_t at = 0; at < bricks.size(); ++at) {
    for (std::uint32_t& word : bricks[at].word) {
      const auto bits = static_cast<std::uint32_t>(random());
      const auto small =
          static_cast<std::uint32_t>(static_cast<std::int32_t>(bits) >> (at / 8 % 32));
      const std::uint32_t kinds[] = {
          bits, small, bits & 0x00ff00ffu, random() % 9 == 0 ? bits : 0u, 1u << bits % 32,
          0u,   ~0u,   small & 0xffffu};
      word = kinds[at % 8];
    }
  }
  return bricks;
}

template <typename Word>
void compare_bricks(Report& report, const char* bits) {
  const std::vector<BrickBits> bricks = make_bricks();
  std::vector<Planes> expected;
  for (const BrickBits& brick : bricks) expected.push_back(planes_on_host<Word>(brick));
  const DeviceVector<BrickBits> in(bricks);
  const DeviceVector<Planes> out(bricks.size());
  run_kernel(planes_by_threads<Word>, {bricks.size() / 64, 64}, in.data(), out.data(),
             static_cast<int>(bricks.size()));
  report_results(report, std::string("lorenzo planes and widths of bricks, ") + bits + " bits",
                 expected, out.to_host());
}

void compare_lorenzo(Report& report) {
  compare_bricks<std::uint16_t>(report, "16");
  compare_bricks<std::uint32_t>(report, "32");
  compare_bricks<std::uint64_t>(report, "64");
}

const Comparison kComparison(compare_lorenzo);

}  // namespace
}  // namespace thinwire::stages
