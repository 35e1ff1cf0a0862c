#include "capi/stream_transports.h"

#include <string>

namespace thinwire::capi {
namespace {

using transport::StreamTransport;

class AdoptedStream final : public StreamTransport {
 public:
  explicit AdoptedStream(const tw_stream_transport& table) : table_(table) {}
  ~AdoptedStream() override {
    if (table_.release != nullptr) table_.release(table_.context);
  }

  int rank() const override { return table_.rank; }
  int size() const override { return table_.ranks; }

  Status begin_group() override {
    return told("begin a group", table_.begin_group(table_.context));
  }
  Status end_group() override { return told("end a group", table_.end_group(table_.context)); }

  Status begin_call(std::uint32_t call) override {
    if (table_.begin_call == nullptr) return {};
    return told("begin a call", table_.begin_call(table_.context, call));
  }

  Status send(int peer, ByteView bytes, device::StreamHandle stream) override {
    return told("send", table_.send(table_.context, peer, bytes.data(), bytes.size(), stream));
  }

  Status receive(int peer, MutableByteView into, device::StreamHandle stream) override {
    return told("receive", table_.receive(table_.context, peer, into.data(), into.size(), stream));
  }

  Status all_gather(MutableByteView blocks, device::StreamHandle stream) override {
    if (table_.all_gather == nullptr) return StreamTransport::all_gather(blocks, stream);
    const auto ranks = static_cast<std::uint64_t>(table_.ranks);
    return told("gather",
                table_.all_gather(table_.context, blocks.data(), blocks.size() / ranks, stream));
  }

  Status broadcast(int root, MutableByteView bytes, device::StreamHandle stream) override {
    if (table_.broadcast == nullptr) return StreamTransport::broadcast(root, bytes, stream);
    return told("broadcast",
                table_.broadcast(table_.context, root, bytes.data(), bytes.size(), stream));
  }

  Status check() override {
    return table_.check == nullptr ? Status() : told("go on", table_.check(table_.context));
  }

  bool on_host() const override { return table_.call != nullptr; }

  Status call(void (*function)(void*), void* argument, device::StreamHandle stream) override {
    if (table_.call == nullptr) return StreamTransport::call(function, argument, stream);
    return told("call a function", table_.call(table_.context, function, argument, stream));
  }

 private:
  static Status told(const char* what, tw_status status) {
    if (status == TW_OK) return {};
    return {static_cast<StatusCode>(status), std::string("the stream transport could not ") + what};
  }

  tw_stream_transport table_;
};

}  // namespace

bool is_usable(const tw_stream_transport& table) {
  return table.reserved == 0 && table.ranks > 0 && table.rank >= 0 && table.rank < table.ranks &&
         table.begin_group != nullptr && table.end_group != nullptr && table.send != nullptr &&
         table.receive != nullptr;
}

std::unique_ptr<StreamTransport> adopt(const tw_stream_transport& table) {
  return std::make_unique<AdoptedStream>(table);
}

}  // namespace thinwire::capi
