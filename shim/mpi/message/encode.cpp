#include "shim/mpi/message/encode.h"

#include <chrono>
#include <utility>

#include "shim/mpi/choose/chosen.h"
#include "shim/mpi/message/encode_elements.h"
#include "shim/mpi/observe/attempt.h"

namespace thinwire::mpi {
namespace {

// Tries to make a frame of the message.
Tried try_to_encode(const Chosen& chosen, Wire& wire) {
  const auto start = std::chrono::steady_clock::now();
  Encoded encoded = encode_elements(chosen);
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
  wire = std::move(encoded.wire);
  return {encoded.reason, static_cast<std::uint64_t>(took.count()), wire.bytes};
}

}  // namespace

std::optional<Wire> encode(const Outgoing& message) {
  if (!message.may_compress) {
    observe(left_by_mode(message));
    return std::nullopt;
  }
  std::optional<Chosen> chosen = choose_for(message);
  if (!chosen) return std::nullopt;
  Wire wire;
  Tried tried;
  if (chosen->attempt.reason == TW_COMPRESS) tried = try_to_encode(*chosen, wire);
  learn(tried, *chosen);
  observe(chosen->attempt);
  if (chosen->attempt.reason != TW_COMPRESS) return std::nullopt;
  wire.attempt = chosen->attempt;
  return wire;
}

}  // namespace thinwire::mpi
