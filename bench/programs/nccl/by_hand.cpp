#include "nccl/by_hand.h"

#include <chrono>
#include <stdexcept>

#include "collective/data.h"

namespace thinwire::bench::nccl {
namespace {

using Clock = std::chrono::steady_clock;

// Adds the seconds of a scope; what is enqueued in it must be done by its end.
class Timed {
 public:
  explicit Timed(double& seconds) : seconds_(seconds) {}
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  ~Timed() { seconds_ += std::chrono::duration<double>(Clock::now() - begin_).count(); }

 private:
  double& seconds_;
  Clock::time_point begin_ = Clock::now();
};

void check(tw_status status, const char* what) {
  if (status == TW_OK) return;
  throw std::runtime_error(std::string(what) + ": " + tw_last_error());
}

}  // namespace

ByHand::ByHand(const Calls& calls, Device& device, ncclComm_t comm, tw_dtype dtype,
               const std::string& codec, bool on_host, std::int64_t most)
    : calls_(calls),
      device_(device),
      comm_(comm),
      dtype_(dtype),
      on_host_(on_host),
      sizes_(device, 2 * sizeof(std::uint64_t)) {
  check(tw_codec_create(codec.c_str(), &codec_), "the codec");
  if (!on_host) return;
  const auto bound = static_cast<std::size_t>(bound_of(most));
  for (auto& frame : frames_) frame = std::make_unique<Buffer>(device, bound);
  array_ = std::make_unique<HostBuffer>(device, static_cast<std::size_t>(most * size_of(dtype)));
  packed_ = std::make_unique<HostBuffer>(device, bound);
}

ByHand::~ByHand() { tw_codec_destroy(codec_); }

void ByHand::exchange(const Sent& sent, const Received& received) {
  // The array may be a sum that is still being added up.
  device_.synchronize();
  if (on_host_) return by_host(sent, received);
  naive(sent, received);
}

tw_shape ByHand::shape_of(std::int64_t count) const {
  tw_shape shape{};
  check(tw_codec_shape(codec_, dtype_, static_cast<std::uint64_t>(count), &shape), "the shape");
  return shape;
}

std::uint64_t ByHand::bound_of(std::int64_t count) const {
  const tw_shape shape = shape_of(count);
  std::uint64_t bytes = 0;
  check(tw_message_bound(codec_, &shape, &bytes), "a frame's bound");
  return bytes;
}

void ByHand::count(std::int64_t elements, std::uint64_t frame) {
  ++counts_.calls;
  ++counts_.compressed_calls;
  counts_.bytes += elements * size_of(dtype_);
  counts_.wire_bytes += static_cast<std::int64_t>(frame);
}

void ByHand::transfer(const char* send, std::uint64_t sent, int to, char* receive,
                      std::uint64_t received, int from) {
  const cudaStream_t stream = device_.stream();
  nccl::check(calls_.group_start(), "ncclGroupStart");
  if (to >= 0) nccl::check(calls_.send(send, sent, ncclUint8, to, comm_, stream), "ncclSend");
  if (from >= 0) {
    nccl::check(calls_.receive(receive, received, ncclUint8, from, comm_, stream), "ncclRecv");
  }
  nccl::check(calls_.group_end(), "ncclGroupEnd");
  device_.synchronize();
}

std::uint64_t ByHand::swap_sizes(std::uint64_t own, int to, int from) {
  const Timed timed(phases_.transfer);
  constexpr std::size_t kWord = sizeof own;
  const auto* const bytes = reinterpret_cast<const char*>(&own);
  device_.write(sizes_.at(), {bytes, kWord});
  transfer(sizes_.at(), kWord, to, sizes_.at(kWord), kWord, from);
  std::uint64_t other = 0;
  if (from >= 0) device_.read({reinterpret_cast<char*>(&other), kWord}, sizes_.at(kWord));
  return other;
}

std::uint64_t ByHand::encode_naively(const Sent& sent, char* frame, std::uint64_t capacity) {
  const tw_shape shape = shape_of(sent.count);
  tw_message_options options{};
  options.size = sizeof options;
  options.stream = device_.stream();
  std::uint64_t written = 0;
  if (!device_.is_gpu()) {
    const Timed timed(phases_.encode);
    check(tw_message_encode(codec_, &shape, sent.at, frame, capacity, &options, &written),
          "encoding");
    return written;
  }
  std::unique_ptr<Buffer> workspace;
  std::uint64_t bytes = 0;
  {
    const Timed timed(phases_.allocate);
    check(tw_message_workspace(codec_, &shape, &bytes), "a workspace's size");
    // The outcome lies after it, aligned.
    bytes = (bytes + 15) / 16 * 16;
    workspace = std::make_unique<Buffer>(device_, bytes + sizeof(std::uint64_t));
    device_.zero(workspace->at(), workspace->bytes());
  }
  std::uint64_t outcome = 0;
  {
    const Timed timed(phases_.encode);
    check(tw_message_encode_enqueue(codec_, &shape, sent.at, frame, capacity, &options,
                                    workspace->at(), bytes,
                                    reinterpret_cast<std::uint64_t*>(workspace->at(bytes))),
          "encoding");
    device_.read({reinterpret_cast<char*>(&outcome), sizeof outcome}, workspace->at(bytes));
  }
  check(tw_outcome_read(outcome, &written), "encoding on the GPU");
  const Timed timed(phases_.allocate);
  workspace.reset();
  return written;
}

void ByHand::decode_naively(const char* frame, std::uint64_t bytes, const Received& received) {
  tw_message_options options{};
  options.size = sizeof options;
  options.stream = device_.stream();
  const Timed timed(phases_.decode);
  check(tw_message_decode(frame, bytes, received.at,
                          static_cast<std::uint64_t>(received.count * size_of(dtype_)), &options,
                          nullptr),
        "decoding");
}

void ByHand::naive(const Sent& sent, const Received& received) {
  std::unique_ptr<Buffer> frame, came;
  std::uint64_t own = 0;
  if (sent.rank >= 0) {
    const std::uint64_t capacity = bound_of(sent.count);
    {
      const Timed timed(phases_.allocate);
      device_.query();
      frame = std::make_unique<Buffer>(device_, capacity);
    }
    own = encode_naively(sent, frame->at(), capacity);
    count(sent.count, own);
  }
  const std::uint64_t other = swap_sizes(own, sent.rank, received.rank);
  if (received.rank >= 0) {
    const Timed timed(phases_.allocate);
    came = std::make_unique<Buffer>(device_, other);
  }
  {
    const Timed timed(phases_.transfer);
    transfer(frame ? frame->at() : nullptr, own, sent.rank, came ? came->at() : nullptr, other,
             received.rank);
  }
  if (came) decode_naively(came->at(), other, received);
  const Timed timed(phases_.allocate);
  frame.reset();
  came.reset();
}

void ByHand::by_host(const Sent& sent, const Received& received) {
  const auto width = static_cast<std::size_t>(size_of(dtype_));
  std::uint64_t own = 0;
  if (sent.rank >= 0) {
    const tw_shape shape = shape_of(sent.count);
    {
      const Timed timed(phases_.copy);
      device_.read(array_->part(static_cast<std::size_t>(sent.count) * width), sent.at);
    }
    {
      const Timed timed(phases_.encode);
      check(tw_message_encode(codec_, &shape, array_->at(), packed_->at(), packed_->bytes(),
                              nullptr, &own),
            "encoding on the host");
    }
    const Timed timed(phases_.copy);
    device_.write(frames_[0]->at(), packed_->part(own));
    count(sent.count, own);
  }
  const std::uint64_t other = swap_sizes(own, sent.rank, received.rank);
  {
    const Timed timed(phases_.transfer);
    transfer(frames_[0]->at(), own, sent.rank, frames_[1]->at(), other, received.rank);
  }
  if (received.rank < 0) return;
  const auto values = array_->part(static_cast<std::size_t>(received.count) * width);
  {
    const Timed timed(phases_.copy);
    device_.read(packed_->part(other), frames_[1]->at());
  }
  {
    const Timed timed(phases_.decode);
    check(tw_message_decode(packed_->at(), other, values.data(), values.size(), nullptr, nullptr),
          "decoding on the host");
  }
  const Timed timed(phases_.copy);
  device_.write(received.at, values);
}

}  // namespace thinwire::bench::nccl
