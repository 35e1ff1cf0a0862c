#include "collective.h"

namespace thinwire::collective::testing {

namespace {

std::uint32_t count(const Collective& collective) {
  return static_cast<std::uint32_t>(collective.size);
}

std::uint64_t bit(std::uint64_t rank) { return std::uint64_t{1} << rank; }

bool leaves_the_same_everywhere(Operation operation) {
  return operation == Operation::kBcast || operation == Operation::kAllgather ||
         operation == Operation::kAllreduce;
}

}  // namespace

Collective collective_of(const Row& row, const Topology& topology) {
  Collective collective;
  collective.operation = row.operation;
  collective.size = topology.size;
  collective.root = topology.root;
  collective.root_decodes = topology.root_decodes;
  collective.identical = leaves_the_same_everywhere(row.operation) && row.coding != Coding::kPerHop;
  collective.equal_packets =
      row.operation == Operation::kAllreduce && row.algorithm == Algorithm::kRecursiveDoubling;
  Topology seen = topology;
  for (seen.rank = 0; seen.rank < seen.size; ++seen.rank) {
    collective.ranks.push_back(row.make(seen));
  }
  return collective;
}

std::uint32_t meaning(const Collective& collective, int rank, std::uint32_t block) {
  if (collective.operation != Operation::kAlltoall) return block;
  const auto self = static_cast<std::uint32_t>(rank);
  const auto size = count(collective);
  return block < size ? self * size + block : (block - size) * size + self;
}

std::uint32_t input_of(const Collective& collective, std::uint32_t block) {
  return collective.operation == Operation::kAlltoall ? block % count(collective) : block;
}

bool keeps_values(const Collective& collective, int rank) {
  return collective.operation == Operation::kBcast && rank == collective.root &&
         !collective.root_decodes;
}

bool has_input(const Collective& collective, int rank, std::uint32_t block) {
  const auto self = static_cast<std::uint32_t>(rank);
  switch (collective.operation) {
    case Operation::kBcast:
      return false;
    case Operation::kAllgather:
    case Operation::kGather:
      return block == self;
    case Operation::kScatter:
      return rank == collective.root;
    case Operation::kAlltoall:
      return block < count(collective) || block == count(collective) + self;
    default:
      return true;
  }
}

bool has_output(const Collective& collective, int rank, std::uint32_t block) {
  const auto self = static_cast<std::uint32_t>(rank);
  switch (collective.operation) {
    case Operation::kGather:
    case Operation::kReduce:
      return rank == collective.root;
    case Operation::kScatter:
    case Operation::kReduceScatter:
      return block == self;
    case Operation::kAlltoall:
      return block >= count(collective);
    default:
      return true;
  }
}

std::uint64_t given(const Collective& collective, int rank) {
  if (collective.operation == Operation::kBcast && rank != collective.root) return 0;
  return bit(static_cast<std::uint64_t>(rank));
}

std::uint64_t wanted(const Collective& collective, std::uint32_t block) {
  switch (collective.operation) {
    case Operation::kBcast:
    case Operation::kScatter:
      return bit(static_cast<std::uint64_t>(collective.root));
    case Operation::kAllgather:
    case Operation::kGather:
      return bit(block);
    case Operation::kAlltoall:
      return bit(block - count(collective));
    default:
      return ~std::uint64_t{0} >> (64 - collective.size);
  }
}

bool is_empty(const Collective& collective, std::uint32_t meaning) {
  return collective.some_empty && meaning % 3 == 1;
}

bool sends(Action action) { return action == Action::kSend || action == Action::kSendValues; }

bool receives(Action action) {
  return action == Action::kReceive || action == Action::kReceiveValues;
}

bool uses_slot(Action action) {
  return action == Action::kEncode || action == Action::kDecode || action == Action::kReduce ||
         action == Action::kSend || action == Action::kReceive;
}

bool reads_values(Action action) {
  return action == Action::kCopy || action == Action::kCombine || action == Action::kEncode ||
         action == Action::kSendValues;
}

bool writes_values(Action action) {
  return action == Action::kCopy || action == Action::kCombine || action == Action::kDecode ||
         action == Action::kReduce || action == Action::kReceiveValues ||
         action == Action::kAddExactly;
}

}  // namespace thinwire::collective::testing
