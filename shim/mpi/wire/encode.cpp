#include "wire/encode.h"

#include <chrono>
#include <cstring>
#include <string>

#include "abi/datatypes.h"
#include "abi/real.h"
#include "peers/peers.h"
#include "process/process.h"
#include "process/shortcut.h"
#include "wire/length.h"

namespace thinwire::mpi {
namespace {

tw_plan_choice choose(const TypeFacts& type, std::uint64_t bytes, const Peer& peer) {
  const Process& self = process();
  tw_plan_facts facts{};
  facts.size = sizeof facts;
  facts.dtype = type.leaf;
  facts.bytes = bytes;
  facts.peer = peer.place;
  facts.peer_ready = peer.ready;
  tw_plan_choice choice{};
  choice.size = sizeof choice;
  tw_plan_message(self.settings.codec.get(), &self.settings.plan, &facts, &choice);
  return choice;
}

// A peer without the library is what users of a bare preload across nodes run into: said once.
void explain_unready_peer(int destination) {
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  tw_log(TW_LOG_WARNING,
         ("rank " + std::to_string(process().rank) + " finds that the peer with rank " +
          std::to_string(destination) +
          " of its communicator does not run this Thinwire: messages to such peers go raw "
          "(start the program with `thinwire run`, or each rank with `thinwire exec`)")
             .c_str());
}

std::optional<Wire> encode_dense(const void* data, const TypeFacts& type, std::uint64_t bytes,
                                 const Peer& peer) {
  Process& self = process();
  tw_shape shape{};
  shape.dtype = type.leaf;
  shape.rank = 1;
  shape.extent[0] = bytes / leaf_bytes(type.leaf);
  std::uint64_t most = 0;
  if (tw_message_bound(self.settings.codec.get(), &shape, &most) != TW_OK) return std::nullopt;
  // Padding to the wire length comes on top.
  const std::uint64_t capacity = wire_length(most, bytes, peer.hook_threshold);
  Lease wire = self.pool.acquire(capacity);
  if (!wire) {
    count_raw(TW_RAW_NO_MEMORY, bytes);
    return std::nullopt;
  }
  std::uint64_t frame = 0;
  const tw_status status = tw_message_encode(self.settings.codec.get(), &shape, data, wire.data(),
                                             capacity, &self.options, &frame);
  const std::uint64_t length = wire_length(frame, bytes, peer.hook_threshold);
  if (status != TW_OK || length >= bytes) {
    count_raw(TW_RAW_DECLINED, bytes);
    return std::nullopt;
  }
  std::memset(wire.data() + frame, 0, length - frame);
  return Wire{std::move(wire), length, bytes, 0};
}

}  // namespace

int count_compressed(const Wire& wire, int error) {
  if (error != MPI_SUCCESS) return error;
  Counters& counters = process().counters;
  ++counters.compressed_messages;
  counters.compressed_bytes += wire.raw_bytes;
  counters.wire_bytes += wire.bytes;
  counters.predicted_nanoseconds += wire.predicted_nanoseconds;
  return error;
}

void count_raw(tw_reason reason, std::uint64_t bytes) {
  Counters& counters = process().counters;
  ++counters.raw_by_reason[reason];
  counters.raw_bytes += bytes;
}

std::optional<Wire> encode(const Outgoing& message) {
  Process& self = process();
  const std::uint64_t bytes = message_bytes(message.count, message.type);
  const TypeFacts type = type_facts(message.type);
  if (is_null_buffer(message.buffer, message.type)) return std::nullopt;
  const Peer peer = peer_of(message.comm, message.destination);
  const tw_plan_choice choice = choose(type, bytes, peer);
  if (choice.reason != TW_COMPRESS) {
    // Without a launcher nobody is ready, and MPI_Init has said so.
    if (choice.reason == TW_RAW_PEER_NOT_READY && peer.place != TW_PEER_UNKNOWN &&
        self.job.reachable()) {
      explain_unready_peer(message.destination);
    }
    count_raw(static_cast<tw_reason>(choice.reason), bytes);
    return std::nullopt;
  }
  const auto start = std::chrono::steady_clock::now();
  const void* data = message.buffer;
  Lease packed;
  if (!type.dense) {
    packed = self.pool.acquire(bytes);
    if (!packed ||
        pack(message.buffer, message.count, message.type, packed.data(), bytes) != MPI_SUCCESS) {
      count_raw(TW_RAW_NO_MEMORY, bytes);
      return std::nullopt;
    }
    data = packed.data();
  }
  auto wire = encode_dense(data, type, bytes, peer);
  self.counters.encode_nanoseconds +=
      std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
  if (wire) {
    wire->predicted_nanoseconds =
        static_cast<std::uint64_t>(choice.predicted_compressed_seconds * 1e9);
  }
  return wire;
}

}  // namespace thinwire::mpi
