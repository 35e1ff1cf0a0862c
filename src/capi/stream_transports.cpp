#include "capi/stream_transports.h"

#include <string>

#include "capi/boundary.h"
#include "capi/convert.h"
#include "slot/mailbox.h"

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

using namespace thinwire;
using namespace thinwire::capi;
using namespace thinwire::slot;

namespace {

Mailbox& own(const void* mailbox) { return mailbox_at(const_cast<void*>(mailbox)); }

tw_status look(const char* misused, const void* mailbox, bool out, tw_mailbox_chunk* chunk) {
  if (!is_mailbox(mailbox) || !has_size(chunk)) return misuse(misused);
  Mailbox& box = own(mailbox);
  MailChunk found;
  tw_mailbox_chunk told{};
  if (under_way(box, out ? box.out : box.in, &found)) {
    told.rank = static_cast<int32_t>(found.rank);
    told.call = found.call;
    told.block = found.block;
    told.block_bytes = found.block_bytes;
    told.offset = found.offset;
    told.bytes = found.bytes;
    told.data = out ? box.out_data() : box.in_data();
  }
  give(told, chunk);
  return TW_OK;
}

}  // namespace

tw_status tw_mailbox_open(void* memory, uint64_t bytes) {
  return guarded([&] {
    if (memory == nullptr) return misuse("tw_mailbox_open: null pointer");
    return report(open_mailbox(memory, bytes));
  });
}

tw_status tw_mailbox_offered(const void* mailbox, tw_mailbox_chunk* chunk) {
  return look("tw_mailbox_offered: no mailbox, or size not set", mailbox, true, chunk);
}

tw_status tw_mailbox_wanted(const void* mailbox, tw_mailbox_chunk* chunk) {
  return look("tw_mailbox_wanted: no mailbox, or size not set", mailbox, false, chunk);
}

tw_status tw_mailbox_taken(void* mailbox) {
  if (!is_mailbox(mailbox)) return misuse("tw_mailbox_taken: no mailbox");
  return report(finish_chunk(own(mailbox).out));
}

tw_status tw_mailbox_given(void* mailbox) {
  if (!is_mailbox(mailbox)) return misuse("tw_mailbox_given: no mailbox");
  return report(finish_chunk(own(mailbox).in));
}

void tw_mailbox_abort(void* mailbox) {
  if (is_mailbox(mailbox)) abort_mailbox(own(mailbox));
}
