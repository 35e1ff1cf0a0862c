#include "transport/nccl/transport.h"

#include <string>
#include <thread>

#include "transport/nccl/library.h"

namespace thinwire::transport {
namespace {

using nccl::Library;

class NcclTransport : public StreamTransport {
 public:
  NcclTransport(const Library& library, ncclComm_t communicator)
      : nccl_(library), communicator_(communicator) {}

  Status open() {
    if (Status status = done(nccl_.user_rank(communicator_, &rank_), "ask for the rank");
        !status.ok()) {
      return status;
    }
    return done(nccl_.count(communicator_, &size_), "ask for the number of ranks");
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  Status begin_group() override { return done(nccl_.group_start(), "begin a group"); }

  Status send(int peer, ByteView bytes, device::StreamHandle stream) override {
    return done(nccl_.send(bytes.data(), bytes.size(), ncclInt8, peer, communicator_, stream),
                "send");
  }

  Status receive(int peer, MutableByteView into, device::StreamHandle stream) override {
    return done(nccl_.receive(into.data(), into.size(), ncclInt8, peer, communicator_, stream),
                "receive");
  }

  // On a communicator that does not block, NCCL may still be enqueuing when its call is over.
  Status end_group() override {
    ncclResult_t result = nccl_.group_end();
    while (result == ncclInProgress) {
      std::this_thread::yield();
      if (nccl_.async_error(communicator_, &result) != ncclSuccess) result = ncclInternalError;
    }
    return done(result, "enqueue a group");
  }

  Status check() override {
    ncclResult_t state = ncclSuccess;
    const Status asked = done(nccl_.async_error(communicator_, &state), "ask for its state");
    return asked.ok() ? done(state, "go on") : asked;
  }

 private:
  Status done(ncclResult_t result, const char* what) const {
    if (result == ncclSuccess || result == ncclInProgress) return {};
    return {StatusCode::kDevice, std::string("NCCL cannot ") + what + ": " +
                                     nccl_.error_string(result) + "; " +
                                     nccl_.last_error(communicator_)};
  }

  const Library& nccl_;
  ncclComm_t communicator_;
  int rank_ = 0;
  int size_ = 0;
};

}  // namespace

Result<std::unique_ptr<StreamTransport>> make_nccl(void* communicator) {
  if (communicator == nullptr) return {StatusCode::kInvalidArgument, "there is no communicator"};
  const auto functions = nccl::library();
  if (!functions.ok()) return functions.status();
  auto end = std::make_unique<NcclTransport>(**functions, static_cast<ncclComm_t>(communicator));
  if (Status status = end->open(); !status.ok()) return status;
  return std::unique_ptr<StreamTransport>(std::move(end));
}

}  // namespace thinwire::transport
