#include "plan/work.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace thinwire::plan {
namespace {

// The share of the shorter of transfer and coding that the longer one does not hide: messages take
// processor time too. It also parts ways that are alike but for what they hide.
constexpr double kNotOverlapped = 0.1;

// Costs of a message and of a coding besides their bytes: the order of magnitude of MPI over TCP
// and of a codec's launch. They decide between algorithms for small arrays alone.
constexpr double kMessageSeconds = 10e-6;
constexpr double kCodingSeconds = 10e-6;
constexpr double kInsideBytesPerSecond = 5e9;

constexpr double kLeastPiece = 64 * 1024;
constexpr double kMostPiece = 1024 * 1024;
constexpr double kPiecesOfBlock = 4;

// A group of `ranks` that are all alike, each with a link of its own.
struct Group {
  double ranks;
  double others;     // share of the array that is not a rank's own
  double levels;     // of a binomial tree
  double exchanges;  // of recursive doubling, with the fold of sizes that are no power of two
  explicit Group(int count)
      : ranks(std::max(count, 1)),
        others((ranks - 1) / ranks),
        levels(std::bit_width(static_cast<unsigned>(std::max(count, 1)) - 1)),
        exchanges(std::has_single_bit(static_cast<unsigned>(std::max(count, 1))) ? levels
                                                                                 : levels + 1) {}
  double own() const { return 1 / ranks; }
};

Work of_bcast(Algorithm algorithm, const Group& group) {
  const bool is_chain = algorithm == Algorithm::kChain;
  const double hops = is_chain ? group.ranks - 1 : group.levels;
  return {.wire = is_chain ? 1 : group.levels,
          .encode = 1,
          .decode = 1,
          .rounds = is_chain ? 1 : group.levels,
          .stages = hops};
}

Work of_allgather(Algorithm algorithm, const Group& group) {
  const bool is_ring = algorithm == Algorithm::kRing;
  return {.wire = group.others,
          .encode = group.own(),
          .decode = 1,
          .block = group.own(),
          .rounds = is_ring ? group.ranks - 1 : group.levels};
}

Work of_rooted(const Way& way, const Group& group) {
  const bool is_tree = way.algorithm == Algorithm::kBinomial;
  const bool gathers = way.operation == Operation::kGather;
  return {.wire = group.others,
          .encode = gathers ? group.own() : group.others,
          .decode = gathers ? group.others : group.own(),
          .block = group.own(),
          .rounds = is_tree ? group.levels : group.ranks - 1,
          .stages = is_tree ? group.levels : 1};
}

Work of_reduce(Algorithm algorithm, const Group& group) {
  if (algorithm == Algorithm::kBinomial) {
    return {.wire = group.levels,
            .encode = 1,
            .decode = group.levels,
            .rounds = group.levels,
            .stages = group.levels};
  }
  return {.wire = 2 * group.others,
          .encode = 1,
          .decode = 2 * group.others,
          .block = group.own(),
          .rounds = 2 * (group.ranks - 1),
          .stages = 2};
}

Work of_allreduce(Algorithm algorithm, const Group& group, double most_parts) {
  if (algorithm == Algorithm::kRecursiveDoubling) {
    return {.wire = group.exchanges,
            .encode = group.exchanges,
            .decode = 2 * group.exchanges,
            .rounds = group.exchanges,
            .codes_at_stages = true};
  }
  // If there are fewer parts than ranks, their owners hear and tell all others, and along a ring a
  // part takes as many hops as ever.
  const double parts = most_parts > 0 ? std::min(group.ranks, most_parts) : group.ranks;
  const double hops = (group.ranks - 1) / parts;
  const double own_to_owners = (parts - 1) / parts;
  if (algorithm == Algorithm::kRing) {
    return {.wire = 2 * hops,
            .encode = group.ranks / parts,
            .decode = 1 + hops,
            .block = 1 / parts,
            .rounds = 2 * (group.ranks - 1),
            .stages = 2,
            .codes_at_stages = true};
  }
  return {.wire = own_to_owners + hops,
          .encode = 1,
          .decode = 1 + hops,
          .block = 1 / parts,
          .rounds = parts - 1 + group.ranks - 1,
          .stages = 2,
          .codes_at_stages = true};
}

// Alltoall and Reduce-scatter: every rank gives a part to each other one.
Work of_exchange(const Group& group) {
  return {.wire = group.others,
          .encode = group.others,
          .decode = group.others,
          .block = group.own(),
          .rounds = group.ranks - 1};
}

Work of_flat(const Way& way, const Group& group, int most_parts) {
  switch (way.operation) {
    case Operation::kBcast:
      return of_bcast(way.algorithm, group);
    case Operation::kAllgather:
      return of_allgather(way.algorithm, group);
    case Operation::kGather:
    case Operation::kScatter:
      return of_rooted(way, group);
    case Operation::kReduce:
      return of_reduce(way.algorithm, group);
    case Operation::kAllreduce:
      return of_allreduce(way.algorithm, group, most_parts);
    case Operation::kAlltoall:
    case Operation::kReduceScatter:
      break;
  }
  return of_exchange(group);
}

// Gather, Scatter and Alltoall of two levels: blocks stay those of single ranks, which no node
// merges. A node's ranks share its link.
Work of_blocks(const Way& way, const Spread& spread, double a_node) {
  const Group nodes(spread.nodes), all(spread.ranks);
  const double leaving = spread.ranks - a_node;  // blocks of other nodes
  Work work{.wire = nodes.others,
            .encode = nodes.others,
            .decode = nodes.others,
            .block = all.own(),
            .rounds = leaving,
            .inside = (a_node - 1) / all.ranks};
  if (way.operation == Operation::kAlltoall) {
    work.wire *= a_node;
    work.inside *= a_node;
    return work;
  }
  const bool is_tree = way.algorithm == Algorithm::kBinomial;
  if (is_tree) work.stages = nodes.levels;
  // Straight, every rank codes for itself; else the leader for its node.
  (way.operation == Operation::kGather ? work.encode : work.decode) =
      is_tree ? nodes.own() : all.own();
  return work;
}

Work of_two_level(const Way& way, const Spread& spread, double a_node) {
  switch (way.operation) {
    case Operation::kGather:
    case Operation::kScatter:
    case Operation::kAlltoall:
      return of_blocks(way, spread, a_node);
    default:
      break;
  }
  Work work = of_flat(way, Group(spread.nodes), spread.parts);
  work.inside = a_node > 1 ? 2 : 0;
  return work;
}

// Whether all ranks of a node talk to other nodes at once; the others send along the nodes.
bool crowds_link(const Way& way) {
  if (way.operation == Operation::kGather || way.operation == Operation::kScatter) return false;
  return way.algorithm != Algorithm::kRing && way.algorithm != Algorithm::kChain;
}

}  // namespace

Work work_of(const Way& way, const Spread& spread) {
  const double a_node = static_cast<double>(spread.ranks) / std::max(spread.nodes, 1);
  if (way.coding == Coding::kTwoLevel) return of_two_level(way, spread, a_node);
  Work work = of_flat(way, Group(spread.ranks), spread.parts);
  if (crowds_link(way)) work.wire *= a_node;
  if (way.coding == Coding::kPerHop) {
    work.encode = work.decode = std::max(work.wire, 1.0);
    work.codes_at_stages = true;
  }
  return work;
}

std::uint64_t piece_bytes_of(const Work& work, double bytes, const Speeds& speeds) {
  double piece = std::min(kMostPiece, bytes * work.block / kPiecesOfBlock);
  if (work.stages > 1 && speeds.link_bytes_per_second > 0) {
    // Stages are filled once, messages begun once a piece: the least of both together.
    const double fixed = kMessageSeconds + kCodingSeconds;
    const double rate = speeds.link_bytes_per_second * std::max(speeds.codec.ratio, 1.0);
    piece = std::min(piece, std::sqrt(bytes * work.block * fixed * rate / work.stages));
  }
  piece = std::max(piece, kLeastPiece);
  constexpr std::uint64_t kStep = 16 * 1024;  // boxes of the codecs' chunks are whole in it
  return static_cast<std::uint64_t>(piece) / kStep * kStep;
}

double seconds_of(const Work& work, double bytes, double piece, const Speeds& speeds) {
  const CodecCost& codec = speeds.codec;
  const bool codes =
      !(std::isinf(codec.encode_bytes_per_second) && std::isinf(codec.decode_bytes_per_second));
  const double rate = speeds.link_bytes_per_second * codec.ratio;
  const double own_piece = std::min(piece, bytes * work.block);
  const double messages = std::max(work.rounds, work.wire * bytes / piece);
  const double codings = codes ? (work.encode + work.decode) * bytes / own_piece : 0;

  const double transfer = work.wire * bytes / rate + messages * kMessageSeconds;
  const double coding = work.encode * bytes / codec.encode_bytes_per_second +
                        work.decode * bytes / codec.decode_bytes_per_second +
                        codings * kCodingSeconds;
  const double piece_coding =
      own_piece / codec.encode_bytes_per_second + own_piece / codec.decode_bytes_per_second;
  const double piece_transfer = own_piece / rate + kMessageSeconds;
  const double fill =
      work.stages * piece_transfer + (work.codes_at_stages ? work.stages : 1) * piece_coding;
  const double overlapped =
      std::max(transfer, coding) + kNotOverlapped * std::min(transfer, coding);
  return overlapped + fill + work.inside * bytes / kInsideBytesPerSecond;
}

}  // namespace thinwire::plan
