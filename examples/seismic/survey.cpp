#include "survey.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <numbers>
#include <sstream>
#include <stdexcept>

#include "formulas.h"

namespace seismic {
namespace {

struct Tensor {
  std::array<double, 6> moment{};  // in the order of the stresses: xx yy zz xy xz yz
};

Tensor tensor_of(Mechanism mechanism) {
  switch (mechanism) {
    case Mechanism::kExplosion:
      return {{1, 1, 1, 0, 0, 0}};
    case Mechanism::kStrikeSlip:
      return {{0, 0, 0, 1, 0, 0}};
    case Mechanism::kThrust:
      break;
  }
  return {{-1, 0, 1, 0, 0, 0}};
}

struct Weight {
  int offset = 0;  // of a point, from the source's
  double share = 0;
};

// A delta function on an axis, on points at whole spacings from the source, or at halves, the first
// of which after it has offset 0. Waves see one of 4th order: the second moment is zero. Even and
// odd points get one half each, so that all relaxation mechanisms have their share of a source,
// which otherwise would be that of the rock of one mechanism.
std::vector<Weight> delta(bool half) {
  if (half) return {{-2, -1.0 / 16}, {-1, 9.0 / 16}, {0, 9.0 / 16}, {1, -1.0 / 16}};
  return {{-2, -1.0 / 16}, {-1, 1.0 / 4}, {0, 5.0 / 8}, {1, 1.0 / 4}, {2, -1.0 / 16}};
}

// The shots of one field, `stress` all together.
void spread(const Extents& source, int field, double stress, const Part& part,
            std::vector<Shot>* shots) {
  for (const Weight& z : delta(field == kXz || field == kYz)) {
    for (const Weight& y : delta(field == kXy || field == kYz)) {
      for (const Weight& x : delta(field == kXy || field == kXz)) {
        const Extents point{source.x + x.offset, source.y + y.offset, source.z + z.offset};
        if (!part.owns(point)) continue;
        const double share = stress * z.share * y.share * x.share;
        shots->push_back({field, part.index_of_global(point), static_cast<float>(share)});
      }
    }
  }
}

}  // namespace

std::vector<Shot> make_shots(const Source& source, const Model& model, const Part& part) {
  std::vector<Shot> shots;
  const Tensor tensor = tensor_of(source.mechanism);
  const double volume = std::pow(model.spacing, 3);
  for (int field = kXx; field <= kYz; ++field) {
    const double moment = tensor.moment[field - kXx];
    if (moment != 0) spread(source.at, field, -source.moment * moment / volume, part, &shots);
  }
  return shots;
}

std::vector<float> moment_rate(const Model& model, int steps) {
  std::vector<float> rates;
  const double width = 0.25 / model.hertz;
  const double scale = model.time_step / (width * std::sqrt(2 * std::numbers::pi));
  for (int step = 0; step < steps; ++step) {
    const double phase = ((step + 0.5) * model.time_step - 6 * width) / width;
    rates.push_back(static_cast<float>(scale * std::exp(-0.5 * phase * phase)));
  }
  return rates;
}

namespace {

constexpr int kNumbersTag = 11;
constexpr int kRecordsTag = 12;
constexpr int kByDefault = 8;

bool inside(const Extents& point, const Extents& grid) {
  return point.x >= 0 && point.x < grid.x && point.y >= 0 && point.y < grid.y && point.z >= 0 &&
         point.z < grid.z;
}

std::vector<Extents> along_the_diagonal(const Extents& grid) {
  std::vector<Extents> receivers;
  for (int i = 0; i < kByDefault; ++i) {
    const int part = 2 * i + 3;
    const int whole = 2 * kByDefault + 4;
    receivers.push_back({grid.x * part / whole, grid.y * part / whole, 0});
  }
  return receivers;
}

// Records of one rank into their places.
void place(const std::vector<int>& numbers, const std::vector<float>& records, int steps,
           std::vector<float>* all) {
  const std::size_t own = numbers.size() * kComponents;
  for (std::size_t trace = 0; trace < own; ++trace) {
    const std::size_t component = trace % kComponents;
    const std::size_t target = numbers[trace / kComponents] * kComponents + component;
    for (int step = 0; step < steps; ++step) {
      (*all)[target * steps + step] = records[step * own + trace];
    }
  }
}

template <typename Value>
void send_bytes(MPI_Comm comm, const std::vector<Value>& values, int tag) {
  MPI_Send(values.data(), static_cast<int>(values.size() * sizeof(Value)), MPI_BYTE, 0, tag, comm);
}

template <typename Value>
std::vector<Value> receive_bytes(MPI_Comm comm, int from, int tag) {
  MPI_Status status;
  MPI_Probe(from, tag, comm, &status);
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  std::vector<Value> values(bytes / sizeof(Value));
  MPI_Recv(values.data(), bytes, MPI_BYTE, from, tag, comm, MPI_STATUS_IGNORE);
  return values;
}

}  // namespace

std::vector<Extents> read_receivers(const std::string& path, const Extents& grid) {
  if (path.empty()) return along_the_diagonal(grid);
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<Extents> receivers;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Extents point;
    std::string more;
    if (!(words >> point.x >> point.y >> point.z) || words >> more) {
      throw std::runtime_error(path + ": a receiver is x y z, three integers, not '" + line + "'");
    }
    if (!inside(point, grid)) {
      throw std::runtime_error(path + ": the receiver at " + line + " lies outside of the grid");
    }
    receivers.push_back(point);
  }
  if (receivers.empty()) throw std::runtime_error(path + " has no receiver");
  return receivers;
}

OwnReceivers own_receivers(const std::vector<Extents>& all, const Part& part) {
  OwnReceivers own;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!part.owns(all[i])) continue;
    own.numbers.push_back(static_cast<int>(i));
    own.points.push_back(part.index_of_global(all[i]));
  }
  return own;
}

std::vector<float> gather_seismograms(MPI_Comm comm, const OwnReceivers& receivers, int count,
                                      const std::vector<float>& own, int steps) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  if (rank > 0) {
    send_bytes(comm, receivers.numbers, kNumbersTag);
    send_bytes(comm, own, kRecordsTag);
    return {};
  }
  std::vector<float> all(static_cast<std::size_t>(count) * kComponents * steps);
  place(receivers.numbers, own, steps, &all);
  for (int other = 1; other < ranks; ++other) {
    const auto numbers = receive_bytes<int>(comm, other, kNumbersTag);
    place(numbers, receive_bytes<float>(comm, other, kRecordsTag), steps, &all);
  }
  return all;
}

std::optional<Misfit> misfit(const std::vector<float>& seismograms,
                             const std::vector<float>& reference, int receivers) {
  if (reference.size() != seismograms.size()) {
    throw std::runtime_error("--reference has " + std::to_string(reference.size()) +
                             " values, and this run's seismograms have " +
                             std::to_string(seismograms.size()));
  }
  Misfit found;
  double distance = 0;
  double norm = 0;
  const std::size_t samples = seismograms.size() / receivers;
  for (int i = 0; i < receivers; ++i) {
    double own_distance = 0;
    double own_norm = 0;
    for (std::size_t at = i * samples; at < (i + 1) * samples; ++at) {
      own_distance += std::pow(static_cast<double>(seismograms[at]) - reference[at], 2);
      own_norm += std::pow(static_cast<double>(reference[at]), 2);
    }
    distance += own_distance;
    norm += own_norm;
    if (own_norm > 0) found.worst = std::max(found.worst, std::sqrt(own_distance / own_norm));
  }
  if (norm == 0) return std::nullopt;
  found.all = std::sqrt(distance / norm);
  return found;
}

}  // namespace seismic
