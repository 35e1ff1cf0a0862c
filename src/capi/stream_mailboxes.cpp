#include "capi/convert.h"
#include "capi/errors.h"
#include "capi/growing.h"
#include "slot/mailbox.h"

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
