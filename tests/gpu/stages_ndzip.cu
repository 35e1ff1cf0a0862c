// ndzip: squares of bits transposed as the host does it, and as the kernels do.
#include <algorithm>

#include "codec/ndzip/transpose.cuh"
#include "stages.cuh"

namespace thinwire::stages {
namespace {

using namespace codec::ndzip;

struct Square {
  std::uint32_t word[32];
};

// The kernels' four ways, which swap the halves of what they read, of what they write, or neither.
struct Ways {
  Square from, from_swapped, to, to_swapped;
};

Ways on_host(const Square& in) {
  Square turned = in;
  codec::transpose_bits(turned.word);
  Square swapped_in = in;
  std::swap_ranges(swapped_in.word, swapped_in.word + 16, swapped_in.word + 16);
  codec::transpose_bits(swapped_in.word);
  Square swapped_out = turned;
  std::swap_ranges(swapped_out.word, swapped_out.word + 16, swapped_out.word + 16);
  return {turned, swapped_in, turned, swapped_out};
}

__global__ void on_device(const Square* in, Ways* out) {
  Ways ways{in[threadIdx.x], in[threadIdx.x], in[threadIdx.x], in[threadIdx.x]};
  transpose_from(ways.from.word, false);
  transpose_from(ways.from_swapped.word, true);
  transpose_to(ways.to.word, false);
  transpose_to(ways.to_swapped.word, true);
  out[threadIdx.x] = ways;
}

void compare_ndzip(Report& report) {
  std::mt19937 random(11);
  std::vector<Square> squares(256);
  for (std::size_t at = 0; at < squares.size(); ++at) {
    for (std::uint32_t& word : squares[at].word) {
      word = at % 2 == 0 ? static_cast<std::uint32_t>(random()) : 1u << random() % 32;
    }
  }
  std::vector<Ways> expected;
  for (const Square& square : squares) expected.push_back(on_host(square));
  const DeviceVector<Square> in(squares);
  const DeviceVector<Ways> out(squares.size());
  run_kernel(on_device, {1, static_cast<unsigned>(squares.size())}, in.data(), out.data());
  report_results(report, "ndzip transpose by a thread", expected, out.to_host());
}

const Comparison kComparison(compare_ndzip);

}  // namespace
}  // namespace thinwire::stages
