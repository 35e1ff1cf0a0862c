// Every operation on every rank with data whose result is known, and what must come out.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "comm/call.h"
#include "comm/communicator.h"

namespace thinwire::comm {

// Small whole numbers on a slow slope: sums of them are exact in any order, and they compress.
inline float value_of(int rank, std::uint64_t index) {
  return static_cast<float>(rank * 8 + static_cast<int>(index / 64 % 500));
}

// One rank's part of one operation; blocks of rank r have count + varied * r values.
struct Case {
  Call call;
  std::vector<float> send, receive, expected;
  std::vector<std::uint64_t> counts, places, receive_counts, receive_places;

  static Case make(plan::Operation operation, int rank, int size, std::uint64_t count, int root,
                   bool in_place, bool varied);

  // Values for a Bcast that a lossy codec cannot keep.
  void make_uneven(bool is_root);

 private:
  void fill_reduction(int rank, int size, std::uint64_t count);
  void fill_blocks(int rank, int size, bool varied);
  void fill_alltoall(int rank, int size, bool varied);
};

inline std::uint64_t block_count(std::uint64_t count, bool varied, int rank) {
  return count + (varied ? static_cast<std::uint64_t>(rank) * 7 : 0);
}

inline float sum_of(int size, std::uint64_t index) {
  float sum = 0;
  for (int rank = 0; rank < size; ++rank) sum += value_of(rank, index);
  return sum;
}

inline void Case::fill_reduction(int rank, int size, std::uint64_t count) {
  using plan::Operation;
  const bool scatters = call.operation == Operation::kReduceScatter;
  std::uint64_t all = scatters ? 0 : count, before = 0;
  for (std::size_t peer = 0; scatters && peer < counts.size(); ++peer) {
    if (static_cast<int>(peer) < rank) before += counts[peer];
    all += counts[peer];
  }
  const auto own = static_cast<std::size_t>(rank);
  const std::uint64_t results = scatters ? counts[own] : count;
  const bool has_result = call.operation != Operation::kReduce || rank == call.root;
  for (std::uint64_t at = 0; at < all; ++at) send.push_back(value_of(rank, at));
  if (has_result) {
    receive.assign(results, -1);
    for (std::uint64_t at = 0; at < results; ++at) expected.push_back(sum_of(size, before + at));
  }
  if (call.in_place && has_result) {
    receive = send;
    send.clear();
    if (scatters) expected.insert(expected.end(), receive.begin() + results, receive.end());
  }
  if (scatters) call.receive_counts = counts.data();
}

// Allgather, Gather, Scatter: block r has value_of(r, index).
inline void Case::fill_blocks(int rank, int size, bool varied) {
  using plan::Operation;
  const bool scatters = call.operation == Operation::kScatter;
  const bool has_all = call.operation == Operation::kAllgather || rank == call.root;
  const auto own = static_cast<std::size_t>(rank);
  std::vector<float> all, mine;
  for (int peer = 0; peer < size; ++peer) {
    for (std::uint64_t at = 0; at < counts[static_cast<std::size_t>(peer)]; ++at) {
      all.push_back(value_of(peer, at));
      if (peer == rank) mine.push_back(value_of(peer, at));
    }
  }
  call.count = counts[own];
  if (scatters) {
    if (has_all) send = all;
    expected = mine;
    receive.assign(mine.size(), -1);
    if (call.in_place && has_all) receive.clear(), expected.clear();
  } else {
    send = mine;
    if (has_all) expected = all, receive.assign(all.size(), -1);
    if (call.in_place && has_all) {
      std::copy(mine.begin(), mine.end(), receive.begin() + static_cast<long>(places[own]));
      send.clear();
    }
  }
  if (varied && has_all) {
    (scatters ? call.send_counts : call.receive_counts) = counts.data();
    (scatters ? call.send_displacements : call.receive_displacements) = places.data();
  }
  call.varied = varied && call.operation != Operation::kAllgather;
}

// The block that rank i sends to rank j has value_of(i, j * 1000 + index), and count + 7 i values
// if varied.
inline void Case::fill_alltoall(int rank, int size, bool varied) {
  std::uint64_t sent = 0, received = 0;
  for (int peer = 0; peer < size; ++peer) {
    const std::uint64_t to =
        varied && !call.in_place ? counts[static_cast<std::size_t>(rank)] : call.count;
    const std::uint64_t from =
        varied && !call.in_place ? counts[static_cast<std::size_t>(peer)] : call.count;
    const auto salt = [](int receiver) { return static_cast<std::uint64_t>(receiver) * 1000; };
    for (std::uint64_t at = 0; at < to; ++at) send.push_back(value_of(rank, salt(peer) + at));
    for (std::uint64_t at = 0; at < from; ++at) expected.push_back(value_of(peer, salt(rank) + at));
    counts.push_back(to);
    receive_counts.push_back(from);
    places.push_back(sent);
    receive_places.push_back(received);
    sent += to, received += from;
  }
  counts.erase(counts.begin(), counts.begin() + size);
  places.erase(places.begin(), places.begin() + size);
  receive.assign(expected.size(), -1);
  if (varied) {
    call.send_counts = counts.data();
    call.send_displacements = places.data();
    call.receive_counts = receive_counts.data();
    call.receive_displacements = receive_places.data();
  }
  if (call.in_place) receive = std::move(send), send.clear();
}

inline void Case::make_uneven(bool is_root) {
  for (float& value : expected) value *= 0.9999f;
  if (is_root) std::copy(expected.begin(), expected.end(), receive.begin());
}

inline Case Case::make(plan::Operation operation, int rank, int size, std::uint64_t count, int root,
                       bool in_place, bool varied) {
  using plan::Operation;
  Case made;
  made.call.operation = operation;
  made.call.dtype = Dtype::kF32;
  made.call.root = root;
  made.call.count = count;
  made.call.in_place = in_place;
  std::uint64_t before = 0;
  for (int peer = 0; peer < size; ++peer) {
    made.counts.push_back(block_count(count, varied, peer));
    made.places.push_back(before);
    before += made.counts.back();
  }
  if (operation == Operation::kBcast) {
    for (std::uint64_t at = 0; at < count; ++at) made.expected.push_back(value_of(root, at));
    made.receive = rank == root ? made.expected : std::vector<float>(count, -1);
  } else if (operation == Operation::kAlltoall) {
    made.fill_alltoall(rank, size, varied);
  } else if (plan::reduces(operation)) {
    made.fill_reduction(rank, size, count);
  } else {
    made.fill_blocks(rank, size, varied);
  }
  const auto bytes = [](std::vector<float>& values) {
    return reinterpret_cast<std::byte*>(values.data());
  };
  made.call.send = bytes(made.send);
  made.call.receive = bytes(made.receive);
  return made;
}

}  // namespace thinwire::comm
