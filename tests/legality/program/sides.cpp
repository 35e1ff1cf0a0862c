// The two sides of a message: how it is sent, received, and what its status says.
#include <sched.h>

#include "message.h"

namespace legality {

bool is_blocking(SendBy by) { return by <= SendBy::kRsend; }
bool is_persistent(SendBy by) { return by >= SendBy::kSendInit; }
bool is_ready(SendBy by) {
  return by == SendBy::kRsend || by == SendBy::kIrsend || by == SendBy::kRsendInit;
}

namespace {

Side make_send(const Message& message) {
  Side side;
  Layout layout = draw_layout(Random(join(message.key, 2)), message.signature, false);
  side.type = std::make_shared<Type>(std::move(layout.type));
  side.buffer = std::make_unique<Buffer>(side.type, layout.count, message.key);
  return side;
}

Side make_receive(const Message& message) {
  Side side;
  Layout layout = draw_layout(Random(join(message.receive_key, 3)), message.room, false);
  side.type = std::make_shared<Type>(std::move(layout.type));
  side.buffer = std::make_unique<Buffer>(side.type, layout.count, message.receive_key);
  if (side.type->owned()) mark(Feature::two_types_);
  return side;
}

int source_of(const Message& message) {
  return message.any_source ? MPI_ANY_SOURCE : message.source;
}
int tag_of(const Message& message) { return message.any_tag ? MPI_ANY_TAG : message.tag; }

void mark_send(SendBy by) {
  using enum SendBy;
  switch (by) {
    case kSend:
      return mark(Feature::send_);
    case kSsend:
      return mark(Feature::ssend_);
    case kBsend:
      return mark(Feature::bsend_);
    case kRsend:
    case kIrsend:
      return mark(Feature::rsend_);
    case kIsend:
      return mark(Feature::isend_);
    case kIssend:
      return mark(Feature::issend_);
    case kIbsend:
      return mark(Feature::ibsend_);
    default:
      return mark(Feature::persistent_send_);
  }
}

int call_send(SendBy by, const void* data, int count, MPI_Datatype type, int to, int tag,
              MPI_Comm comm, MPI_Request* request) {
  using enum SendBy;
  switch (by) {
    case kSend:
      return MPI_Send(data, count, type, to, tag, comm);
    case kSsend:
      return MPI_Ssend(data, count, type, to, tag, comm);
    case kBsend:
      return MPI_Bsend(data, count, type, to, tag, comm);
    case kRsend:
      return MPI_Rsend(data, count, type, to, tag, comm);
    case kIsend:
      return MPI_Isend(data, count, type, to, tag, comm, request);
    case kIssend:
      return MPI_Issend(data, count, type, to, tag, comm, request);
    case kIbsend:
      return MPI_Ibsend(data, count, type, to, tag, comm, request);
    case kIrsend:
      return MPI_Irsend(data, count, type, to, tag, comm, request);
    case kSendInit:
      return MPI_Send_init(data, count, type, to, tag, comm, request);
    case kSsendInit:
      return MPI_Ssend_init(data, count, type, to, tag, comm, request);
    case kBsendInit:
      return MPI_Bsend_init(data, count, type, to, tag, comm, request);
    case kRsendInit:
      return MPI_Rsend_init(data, count, type, to, tag, comm, request);
  }
  return MPI_ERR_OTHER;
}

void free_early(const Message& message, Side& side) {
  if (!message.freed_early || !side.type->owned()) return;
  side.type->release();
  mark(Feature::type_freed_early_);
}

// The probed message, by the length that the probe gives.
void check_probe(const Message& message, const MPI_Status& status) {
  int elements = 0;
  if (message.signature.unit.size() > 1) return;
  MUST(MPI_Get_count(&status, handle_of(message.signature.unit.front()), &elements));
  if (!message.any_source && elements != message.signature.elements())
    complain("a probe says " + std::to_string(elements) + " elements of " +
             std::to_string(message.signature.elements()));
}

void probe_and_receive(const Message& message, Side& side, MPI_Comm comm) {
  MPI_Status status{};
  if (message.receive == ReceiveBy::kProbe) {
    MUST(MPI_Probe(source_of(message), tag_of(message), comm, &status));
    mark(Feature::probe_);
  } else {
    for (int flag = 0; !flag; sched_yield())
      MUST(MPI_Iprobe(source_of(message), tag_of(message), comm, &flag, &status));
    mark(Feature::iprobe_);
  }
  check_probe(message, status);
  MUST(MPI_Recv(side.buffer->address(), side.buffer->items(), side.type->handle(),
                status.MPI_SOURCE, status.MPI_TAG, comm, &side.status));
}

void match_and_receive(const Message& message, Side& side, MPI_Comm comm) {
  MPI_Message matched = MPI_MESSAGE_NULL;
  MPI_Status status{};
  if (message.receive == ReceiveBy::kImprobe) {
    for (int flag = 0; !flag; sched_yield())
      MUST(MPI_Improbe(source_of(message), tag_of(message), comm, &flag, &matched, &status));
    mark(Feature::improbe_);
  } else {
    MUST(MPI_Mprobe(source_of(message), tag_of(message), comm, &matched, &status));
    mark(Feature::mprobe_);
  }
  check_probe(message, status);
  if (message.receive != ReceiveBy::kImrecv) {
    MUST(MPI_Mrecv(side.buffer->address(), side.buffer->items(), side.type->handle(), &matched,
                   &side.status));
    return;
  }
  mark(Feature::imrecv_);
  MUST(MPI_Imrecv(side.buffer->address(), side.buffer->items(), side.type->handle(), &matched,
                  &side.request));
  MUST(MPI_Wait(&side.request, &side.status));
}

}  // namespace

void start_send(const Message& message, Side& side, MPI_Comm comm) {
  if (side.request == MPI_REQUEST_NULL || !is_persistent(message.send)) side = make_send(message);
  if (message.read_only) side.buffer->writable();
  side.buffer->fill(message.content);
  if (message.read_only) side.buffer->read_only(), mark(Feature::read_only_);
  mark_send(message.send);
  if (!is_persistent(message.send) || side.request == MPI_REQUEST_NULL) {
    MUST(call_send(message.send, side.buffer->address(), side.buffer->items(), side.type->handle(),
                   message.target, message.tag, comm, &side.request));
    free_early(message, side);
  }
  if (is_persistent(message.send)) MUST(MPI_Start(&side.request));
}

void start_early(const Message& message, Side& side, MPI_Comm comm) {
  const bool again = side.request != MPI_REQUEST_NULL;
  if (!again) {
    side = make_receive(message);
    const auto call = message.receive == ReceiveBy::kIrecv ? MPI_Irecv : MPI_Recv_init;
    MUST(call(side.buffer->address(), side.buffer->items(), side.type->handle(), source_of(message),
              tag_of(message), comm, &side.request));
    free_early(message, side);
  }
  if (again) side.buffer->reset();
  if (message.receive == ReceiveBy::kRecvInit) MUST(MPI_Start(&side.request));
  mark(message.receive == ReceiveBy::kIrecv ? Feature::irecv_ : Feature::persistent_receive_);
}

void receive_late(const Message& message, Side& side, MPI_Comm comm) {
  using enum ReceiveBy;
  side = make_receive(message);
  side.status_known = true;
  if (message.receive == kProbe || message.receive == kIprobe)
    return probe_and_receive(message, side, comm);
  if (message.receive == kMprobe || message.receive == kImprobe || message.receive == kImrecv)
    return match_and_receive(message, side, comm);
  if (message.receive == kRecv) {
    mark(Feature::recv_);
    MUST(MPI_Recv(side.buffer->address(), side.buffer->items(), side.type->handle(),
                  source_of(message), tag_of(message), comm, &side.status));
    return;
  }
  mark(Feature::irecv_);
  MUST(MPI_Irecv(side.buffer->address(), side.buffer->items(), side.type->handle(),
                 source_of(message), tag_of(message), comm, &side.request));
  free_early(message, side);
  MUST(MPI_Wait(&side.request, &side.status));
}

bool read_status(const Message& message, const Side& side, Record& record) {
  const MPI_Status& status = side.status;
  int count = 0, elements = 0, cancelled = 1;
  MUST(MPI_Test_cancelled(&status, &cancelled));
  const bool uniform = message.signature.unit.size() == 1;
  const bool live = side.type->owned() || !message.freed_early;
  const MPI_Datatype type = live ? side.type->handle() : handle_of(message.signature.unit.front());
  if (live || uniform) {
    MUST(MPI_Get_count(&status, type, &count));
    MUST(MPI_Get_elements(&status, type, &elements));
    if (elements != message.signature.elements()) {
      complain("a status says " + std::to_string(elements) + " elements of " +
               std::to_string(message.signature.elements()));
    }
  }
  for (int each : {status.MPI_SOURCE, status.MPI_TAG, count, elements, cancelled})
    record.add(static_cast<std::uint64_t>(each));
  return status.MPI_SOURCE == message.source && status.MPI_TAG == message.tag && !cancelled;
}

}  // namespace legality
