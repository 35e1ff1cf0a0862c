#include "p2p/exchange.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <random>

namespace thinwire::bench {
namespace {

std::vector<float> read_file(const std::string& path, std::size_t count) {
  std::ifstream file(path, std::ios::binary);
  std::vector<float> values(count);
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(count * sizeof(float)));
  const std::size_t found = static_cast<std::size_t>(file.gcount()) / sizeof(float);
  if (found == 0) return {};
  for (std::size_t i = found; i < count; ++i) values[i] = values[i - found];
  return values;
}

float smooth(std::size_t index) {
  const auto x = static_cast<double>(index);
  return static_cast<float>(std::sin(x * 0.01) + 0.3 * std::sin(x * 0.00137));
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

}  // namespace

std::vector<float> make_data(const std::string& path, const std::string& pattern,
                             std::size_t count) {
  if (!path.empty()) return read_file(path, count);
  std::vector<float> values(count);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (std::size_t i = 0; i < count; ++i) {
    if (pattern == "smooth") values[i] = smooth(i);
    if (pattern == "random") values[i] = normal(random);
  }
  return values;
}

float* Arrivals::prepare() {
  buffer_->clear();
  return buffer_->message();
}

void Arrivals::check() {
  buffer_->read(received_);
  if (first_.empty()) {
    first_ = received_;
    identical_ = same_bits(received_, sent_);
    compare_values();
  } else if (!same_bits(received_, first_)) {
    broken_ = true;
  }
}

void Arrivals::compare_values() {
  for (std::size_t i = 0; i < sent_.size(); ++i) {
    if (!std::isfinite(sent_[i])) continue;
    const double difference = std::fabs(static_cast<double>(received_[i]) - sent_[i]);
    if (std::isfinite(difference)) {
      max_error_ = std::max(max_error_, difference);
    } else {
      broken_ = true;
    }
  }
}

namespace {

constexpr int kDataTag = 1;
constexpr int kFillerTag = 2;
constexpr int kAnswerTag = 3;

void send(Departures& departures, int rank) {
  Buffer& buffer = departures.at(0);
  buffer.before_send();
  MPI_Send(buffer.message(), departures.count(), MPI_FLOAT, rank, kDataTag, MPI_COMM_WORLD);
}

void receive(float* target, int count, int rank, Arrivals& arrivals) {
  MPI_Recv(target, count, MPI_FLOAT, rank, kDataTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  arrivals.finish();
}

}  // namespace

void Pair::fill(int rank) {
  const auto bytes = static_cast<int>(filler_.size());
  if (rank == rank_) {
    MPI_Send(filler_.data(), bytes, MPI_BYTE, other_, kFillerTag, MPI_COMM_WORLD);
    wait_for_answer();
  } else {
    MPI_Recv(filler_.data(), bytes, MPI_BYTE, other_, kFillerTag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    answer();
  }
}

void Pair::answer() { MPI_Send(nullptr, 0, MPI_BYTE, other_, kAnswerTag, MPI_COMM_WORLD); }

void Pair::wait_for_answer() {
  MPI_Recv(nullptr, 0, MPI_BYTE, other_, kAnswerTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

Departures::Departures(std::span<const float> values, Memory memory, int at_once)
    : count_(static_cast<int>(values.size())) {
  const int buffers = memory == Memory::kStaged ? at_once : 1;
  for (int i = 0; i < buffers; ++i) {
    buffers_.push_back(make_buffer(memory, values.size()));
    buffers_.back()->write(values);
  }
}

double time_latency(Pair& pair, Departures& departures, Arrivals& arrivals) {
  const int count = departures.count();
  float* target = arrivals.prepare();
  double turn_seconds = 0;
  pair.fill(0);
  const double start = MPI_Wtime();
  if (pair.is_first()) {
    send(departures, 1);
    pair.fill(1);
    receive(target, count, 1, arrivals);
  } else {
    receive(target, count, 0, arrivals);
    const double arrived = MPI_Wtime();
    pair.fill(1);
    turn_seconds = MPI_Wtime() - arrived;
    send(departures, 0);
  }
  const double round_trip = MPI_Wtime() - start;
  if (pair.is_first()) {
    MPI_Recv(&turn_seconds, 1, MPI_DOUBLE, 1, kAnswerTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Send(&turn_seconds, 1, MPI_DOUBLE, 0, kAnswerTag, MPI_COMM_WORLD);
  }
  arrivals.check();
  return (round_trip - turn_seconds) / 2;
}

double time_window(Pair& pair, Departures& departures, std::vector<Arrivals>& window) {
  const int count = departures.count();
  MPI_Request requests[kWindow];
  if (!pair.is_first()) {
    for (int i = 0; i < kWindow; ++i) {
      MPI_Irecv(window[i].prepare(), count, MPI_FLOAT, 0, kDataTag, MPI_COMM_WORLD, &requests[i]);
    }
  }
  pair.fill(0);
  const double start = MPI_Wtime();
  if (pair.is_first()) {
    for (int i = 0; i < kWindow; ++i) {
      Buffer& buffer = departures.at(i);
      buffer.before_send();
      MPI_Isend(buffer.message(), count, MPI_FLOAT, 1, kDataTag, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE);
    pair.wait_for_answer();
    return (MPI_Wtime() - start) / kWindow;
  }
  for (int i = 0; i < kWindow; ++i) {
    // One by one, so that what the program does with the first runs beside the next one's arrival.
    int index = 0;
    MPI_Waitany(kWindow, requests, &index, MPI_STATUS_IGNORE);
    window[index].finish();
  }
  pair.answer();
  for (Arrivals& arrivals : window) arrivals.check();
  return 0;
}

}  // namespace thinwire::bench
