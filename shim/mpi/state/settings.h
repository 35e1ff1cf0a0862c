// Settings of the user in the environment, read once in MPI_Init.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "shim/mpi/state/collective_settings.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

struct CodecDeleter {
  void operator()(tw_codec* codec) const { tw_codec_destroy(codec); }
};
using CodecHandle = std::unique_ptr<tw_codec, CodecDeleter>;

// The memory from which a GPU-aware MPI sends frames of GPU memory.
enum class GpuWire {
  kAuto,    // on the GPU to ranks of the same node, which the MPI may reach without the host
  kDevice,  // on the GPU to all ranks
  kPinned,  // in pinned host memory
};

// A codec, and what decides about messages under it.
struct CodecUse {
  CodecHandle codec;
  tw_plan_settings plan{};  // THINWIRE_THRESHOLD, _SAME_NODE, _FORCE
  bool is_lossy = false;
  bool fixed_size = false;    // its frames' sizes follow from their arrays' alone
  bool samples_tell = false;  // a piece of an array tells whether it shrinks the rest
  unsigned number = 0;        // among the codecs

  bool codes_reductions() const;
  // Its word on sums that are not compressed: TW_REDUCTIONS_NATIVE, _ORDERED or _EXACT.
  tw_reductions order_of_sums() const;
  bool is_off() const { return tw_codec_ids(codec.get(), nullptr, 0) == 0; }
};

struct Settings {
  bool disabled = false;  // THINWIRE_DISABLE=1: the MPI as it was
  // THINWIRE_CODEC, "auto" by default; after it those that rules name, each once.
  std::vector<CodecUse> codecs = std::vector<CodecUse>(1);
  const tw_policy* policy = nullptr;        // THINWIRE_POLICY; null: none, or a wrong one
  std::vector<unsigned> codec_of_rule;      // of `codecs`
  std::vector<tw_dtype> holds_of_rule;      // what the bytes and 16-bit integers it takes hold
  tw_plan_settings plan{};                  // THINWIRE_THRESHOLD, _SAME_NODE, _FORCE
  CollectiveSettings collectives;           // THINWIRE_COLLECTIVES, _ALGORITHM
  std::uint64_t inspect_threshold = 0;      // receives that hold fewer bytes are never inspected
  std::optional<std::uint64_t> pool_bytes;  // THINWIRE_POOL; unset: the core's pools have their own
  std::optional<bool> gpu_aware;            // THINWIRE_GPU_AWARE; unset: the MPI is asked
  GpuWire gpu_wire = GpuWire::kAuto;        // THINWIRE_GPU_WIRE
  std::string report;               // THINWIRE_REPORT: "", "1" (standard error) or a file's path
  std::string trace;                // THINWIRE_TRACE: "" or the first part of a path
  std::string metrics;              // THINWIRE_METRICS: likewise
  std::string capture;              // THINWIRE_CAPTURE: "" or a folder
  std::uint64_t capture_bytes = 0;  // THINWIRE_CAPTURE_MOST, of all ranks of a node

  // THINWIRE_CODEC's.
  const tw_codec* codec() const { return codecs.front().codec.get(); }

  // Whether some codec does.
  bool codes_reductions() const;

  // Whether some codec has reductions added in the order of the ranks, compressed or raw, or
  // exactly; and whether a rule's codec does that says so otherwise than THINWIRE_CODEC.
  bool orders_reductions() const;
  bool rules_order_reductions() const;

  // Whether some rule says what bytes and 16-bit integers hold.
  bool knows_words() const;

  // Whether this process can ever send a compressed message: by what was set alone, as a stated
  // rate may prove wrong.
  bool may_compress() const;

  // Whether it wants collectives compressed: by what was set alone, which can be compared.
  bool wants_collectives() const;
};

// Learns what a codec costs in host memory: by this machine's table, else by measuring, which takes
// some milliseconds. False if it cannot be measured on generated data of that type.
bool learn_cost(const tw_codec* codec, std::uint32_t dtype, std::uint64_t bytes,
                tw_codec_cost& cost);

// A wrong or unknown setting is logged once a job, and its default holds. While there is one, a
// lossy codec is "off", because what the user wanted is not known; so is one that cannot be made,
// which `speaks`, one rank of the job, says.
Settings read_settings(bool speaks);

}  // namespace thinwire::mpi
