// The messages of an exchange, as every rank draws them.
#pragma once

#include <memory>
#include <vector>

#include "buffer.h"
#include "program.h"

namespace legality {

enum class SendBy {
  kSend,
  kSsend,
  kBsend,
  kRsend,  // return when the buffer is the program's again
  kIsend,
  kIssend,
  kIbsend,
  kIrsend,
  kSendInit,
  kSsendInit,
  kBsendInit,
  kRsendInit
};
enum class ReceiveBy {
  kIrecv,
  kRecvInit,  // posted before anything is sent
  kRecv,
  kProbe,
  kIprobe,
  kMprobe,
  kImprobe,
  kImrecv,
  kLateIrecv
};

bool is_blocking(SendBy by);
bool is_persistent(SendBy by);
bool is_ready(SendBy by);

struct Message {
  int index = 0, source = 0, target = 0, tag = 0;
  SendBy send = SendBy::kSend;
  ReceiveBy receive = ReceiveBy::kIrecv;
  bool any_tag = false, any_source = false;
  bool read_only = false, freed_early = false;
  Signature signature, room;  // sent, and what the receive has room for
  Content content;
  std::uint64_t key = 0, receive_key = 0;  // equal for receives that may get each other's messages

  bool early() const { return receive == ReceiveBy::kIrecv || receive == ReceiveBy::kRecvInit; }
};

struct Plan {
  std::vector<Message> messages;
  bool ordered = false;  // one message after the other
  bool fenced = false;   // nothing of what follows may meet these receives
  bool ready = false;    // some sends want to find their receives
  int rounds = 1;
};

Plan draw_plan(const Group& group, Random random);

// One side of a message, while it is under way.
struct Side {
  std::shared_ptr<Type> type;
  std::unique_ptr<Buffer> buffer;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status{};
  bool status_known = false;
};

void start_send(const Message& message, Side& side, MPI_Comm comm);
void start_early(const Message& message, Side& side, MPI_Comm comm);
void receive_late(const Message& message, Side& side, MPI_Comm comm);

// Adds what the status says; false if it cannot be of `message`.
bool read_status(const Message& message, const Side& side, Record& record);

}  // namespace legality
