#include "modes.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "examples/common/program.h"
#include "examples/common/values.h"

namespace fft {
namespace {

constexpr std::uint64_t kPhases = 1;

// The wave number of an index: the upper half stands for negative ones.
int wave_number(int index, int size) { return index <= size / 2 ? index : index - size; }

// An amplitude by the wave number's square, 0 if there is nothing.
std::vector<float> amplitudes(int size, double slope) {
  const int most = size / 3;
  std::vector<double> square(static_cast<std::size_t>(most) * most + 1, 0.0);
  // A shell of wave number k has about 4 pi k^2 modes.
  for (std::size_t k = 1; k < square.size(); ++k) square[k] = std::pow(k, (slope - 2) / 2);
  double energy = 0;
  for (int shell = 1; shell <= most; ++shell) energy += std::pow(shell, slope);
  energy *= 4 * std::numbers::pi;
  // The transform's sums make a mode of amplitude 1 size^3.
  const double scale = std::pow(size, 3) / std::sqrt(energy);
  std::vector<float> found;
  for (const double one : square) found.push_back(static_cast<float>(scale * std::sqrt(one)));
  return found;
}

}  // namespace

std::vector<Value> make_spectrum(const Slabs& slabs, double slope) {
  const int size = slabs.size;
  const std::vector<float> amplitude = amplitudes(size, slope);
  std::vector<Value> spectrum(slabs.values());
  auto value = spectrum.begin();
  for (int z = 0; z < size; ++z) {
    for (int y = slabs.first(); y < slabs.first() + slabs.depth(); ++y) {
      for (int x = 0; x < size; ++x, ++value) {
        const std::int64_t kz = wave_number(z, size);
        const std::int64_t ky = wave_number(y, size);
        const std::int64_t kx = wave_number(x, size);
        const auto square = static_cast<std::size_t>(kz * kz + ky * ky + kx * kx);
        if (square >= amplitude.size()) continue;
        const std::size_t place = (static_cast<std::size_t>(z) * size + y) * size + x;
        const double turn = examples::random_number(kPhases, place);
        const auto phase = static_cast<float>(2 * std::numbers::pi * turn);
        *value = {amplitude[square] * std::cos(phase), amplitude[square] * std::sin(phase)};
      }
    }
  }
  return spectrum;
}

Error compare(MPI_Comm comm, const std::vector<Value>& found, const std::vector<Value>& exact) {
  double distance = 0;
  double norm = 0;
  double largest = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const std::complex<double> apart =
        std::complex<double>(found[i]) - std::complex<double>(exact[i]);
    const double square = std::norm(apart);
    distance += square;
    norm += std::norm(std::complex<double>(exact[i]));
    // A NaN is larger than all.
    if (!(square <= largest)) largest = square;
  }
  const double values = examples::total(comm, static_cast<double>(exact.size()));
  const double whole = examples::total(comm, norm);
  return {std::sqrt(examples::total(comm, distance) / whole),
          std::sqrt(examples::largest(comm, largest) * values / whole)};
}

}  // namespace fft
