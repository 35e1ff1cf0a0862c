// The machine and the call of a simulated collective, and its figures.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "codec/spec.h"
#include "plan/cost.h"
#include "plan/operation.h"

namespace thinwire::simulate {

// Links, memory and processors. Rates are in bytes per second, 0 if a thing costs no time; times
// are in seconds, besides those of the bytes.
struct Machine {
  double link = 0;            // of a node, each way at once; above 0
  double latency = 0;         // of a message between nodes
  double message = 0;         // of the processor, for a message, at each of its ends
  double stack = 0;           // bytes that a processor brings through the network's software
  double inside = 0;          // of a node's memory, which its ranks share
  double inside_latency = 0;  // of a message inside a node
  double copy = 0;            // of copies, and of sums of raw values, by one thread
  double call = 0;            // of a call, whatever it does
  double coding = 0;          // of an encode or a decode
  double incast = 0;   // share of a receiver's rate that each doubling of waiting senders costs
  double overlap = 1;  // share of its messages' time in which a rank can code
  double burst = 0;    // bytes that each end of a link lets through at once after a pause
  double pause = 0;    // for which the links have lain idle when the call begins
  double eager = 0;  // bytes of a message between nodes beyond which its receiver is asked; 0: none
  double buffer = 0;          // bytes of a connection that lie ready for the link
  std::uint32_t cores = 0;    // of a node; 0: as many as there is work for
  std::uint32_t threads = 1;  // of a rank, that code
  bool one_machine = false;   // all nodes share the cores of one, as in a lab
  plan::CodecCost codec;      // rates of one thread
};

struct Call {
  plan::Operation operation = plan::Operation::kBcast;
  plan::Algorithm algorithm = plan::Algorithm::kPlanned;
  plan::Coding coding = plan::Coding::kPlanned;
  Dtype dtype = Dtype::kF32;
  std::uint64_t count = 0;  // values of the array, or of one rank's block, as Communicator has it
  int nodes = 1;
  int per_node = 1;
  std::uint64_t piece_bytes = 0;
  std::uint32_t window = 8;
  codec::Spec spec;              // kOff: raw
  bool folds = true;             // ranks that are alike may be simulated by those of one node
  std::uint64_t most_tasks = 0;  // from which on they are

  int ranks() const { return nodes * per_node; }
  bool coded() const { return spec.kind != codec::Spec::Kind::kOff; }
};

// The node of each rank of a call, `per_node` to a node.
template <typename Node, typename AnyCall>
std::vector<Node> nodes_of(const AnyCall& call) {
  std::vector<Node> nodes(static_cast<std::size_t>(call.ranks()));
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    nodes[rank] = static_cast<Node>(rank) / static_cast<Node>(call.per_node);
  }
  return nodes;
}

struct Figures {
  double seconds = 0;
  std::uint64_t link_bytes = 0;     // between nodes, of all ranks
  std::uint64_t inside_bytes = 0;   // inside nodes, of all ranks
  std::uint64_t messages = 0;       // of all ranks
  std::uint64_t most_messages = 0;  // that one rank sends
  std::uint64_t workspace = 0;      // bytes, of the rank that needs most
  std::uint64_t tasks = 0;          // that were simulated
  std::uint64_t piece_bytes = 0;    // as simulated
  std::uint32_t simulated = 0;      // ranks that were simulated
};

// A figure that is counted; more than 63 bits hold are told as all that 64 do.
constexpr std::uint64_t kUncounted = UINT64_MAX;
inline std::uint64_t counted(double number) {
  return number < 0x1p63 ? static_cast<std::uint64_t>(std::llround(number)) : kUncounted;
}

// The figures, unless one is too large to be counted.
inline Result<Figures> all_counted(const Figures& figures) {
  for (const std::uint64_t each : {figures.link_bytes, figures.inside_bytes, figures.messages,
                                   figures.most_messages, figures.workspace}) {
    if (each == kUncounted) {
      return Status(StatusCode::kUnsupported, "more bytes or messages than 63 bits count");
    }
  }
  return figures;
}

}  // namespace thinwire::simulate
