// One array under one codec: what is asked for, and the memory of all its calls.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "device.h"

namespace thinwire::bench {

// The factor of an addition.
inline constexpr double kAddScale = 0.5;

// A request to measure; `values` is the array in host memory.
struct Request {
  std::string spec;
  std::string dtype;
  tw_shape shape;
  std::vector<std::byte> values;
  bool checksums;
};

class Coder {
 public:
  Coder(const Request& request, const Stream& stream);

  const tw_codec* codec() const { return codec_.get(); }
  const tw_shape& shape() const { return shape_; }
  const tw_message_options& options() const { return options_; }
  bool lossless() const { return lossless_; }
  std::uint64_t bound() const { return bound_; }
  std::uint64_t array_bytes() const { return array_bytes_; }

  // Enqueue one call each; the outcome is cleared first, by the caller.
  void encode(const std::byte* source, std::byte* frame, std::uint64_t* outcome) const;
  void decode(const std::byte* frame, std::uint64_t length, std::byte* target,
              std::uint64_t* outcome) const;
  // The same, added to what is there and halved; false if the codec cannot.
  bool decode_add(const std::byte* frame, std::uint64_t length, std::byte* target,
                  std::uint64_t* outcome) const;

 private:
  struct Destroy {
    void operator()(tw_codec* codec) const { tw_codec_destroy(codec); }
  };
  std::unique_ptr<tw_codec, Destroy> codec_;
  tw_shape shape_;
  tw_message_options options_{};
  bool lossless_ = false;
  std::uint64_t bound_ = 0;
  std::uint64_t array_bytes_;
  std::unique_ptr<DeviceBytes> workspace_;
};

// Distinct places for the array, its frame and what that decodes to.
class Slots {
 public:
  Slots(const Coder& coder, const std::vector<std::byte>& values, const Stream& stream);

  std::uint64_t count() const { return count_; }
  std::byte* array(std::uint64_t call) const { return at(arrays_, call); }
  std::byte* frame(std::uint64_t call) const { return at(frames_, call); }
  std::byte* decoded(std::uint64_t call) const { return at(decoded_, call); }

  // Fill frames, or decoded arrays, with what no codec leaves behind.
  void poison_frames(const Stream& stream) const;
  void poison_decoded(const Stream& stream) const;
  // Fills decoded arrays with the array itself.
  void preset_decoded(const Stream& stream) const;

 private:
  std::byte* at(const DeviceBytes& bytes, std::uint64_t call) const {
    return bytes.data() + call % count_ * (bytes.size() / count_);
  }
  std::uint64_t count_;
  DeviceBytes arrays_;
  DeviceBytes frames_;
  DeviceBytes decoded_;
};

// CUDA graphs of one encode each.

// A graph for each slot that `wanted` calls touch.
class EncodeGraphs {
 public:
  EncodeGraphs(const Coder& coder, const Slots& slots, const Stream& stream,
               const PinnedWord& outcome, std::uint64_t wanted) {
    for (std::uint64_t slot = 0; slot < std::min(slots.count(), wanted); ++slot) {
      cudaGraph_t graph = nullptr;
      check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
      coder.encode(slots.array(slot), slots.frame(slot), outcome.get());
      check(cudaStreamEndCapture(stream.get(), &graph));
      cudaGraphExec_t runnable = nullptr;
      const cudaError_t error = cudaGraphInstantiate(&runnable, graph, 0);
      cudaGraphDestroy(graph);
      check(error);
      graphs_.push_back(runnable);
      check(cudaGraphUpload(runnable, stream.get()));
    }
    stream.finish();
  }
  EncodeGraphs(const EncodeGraphs&) = delete;
  EncodeGraphs& operator=(const EncodeGraphs&) = delete;
  ~EncodeGraphs() {
    for (const cudaGraphExec_t graph : graphs_) cudaGraphExecDestroy(graph);
  }

  void launch(int call, const Stream& stream) const {
    check(cudaGraphLaunch(graphs_[static_cast<std::size_t>(call) % graphs_.size()], stream.get()));
  }

 private:
  std::vector<cudaGraphExec_t> graphs_;
};

}  // namespace thinwire::bench
