// Receives that are cancelled, and synchronous sends that a probe must not complete.
#include <array>

#include "message.h"

namespace legality {

Record run_cancel(const Group& group, Random random) {
  Record record;
  Random own = random.part(static_cast<std::uint64_t>(group.rank));
  const int tag = group.phase * 64 + 40, count = own.between(1, 4);
  for (int at = 0; at < count; ++at) {
    Message message;
    message.signature = draw_signature(own);
    Layout layout = draw_layout(own.part(static_cast<std::uint64_t>(at)), message.signature, false);
    Buffer buffer(std::make_shared<Type>(std::move(layout.type)), layout.count, own.next());
    const int source = own.chance(40) ? MPI_ANY_SOURCE : own.below(group.size);
    const bool persistent = own.chance(30);
    if (dropped(group.phase, at)) continue;
    MPI_Request request = MPI_REQUEST_NULL;
    const auto call = persistent ? MPI_Recv_init : MPI_Irecv;
    MUST(
        call(buffer.address(), buffer.items(), buffer.handle(), source, tag, group.comm, &request));
    if (persistent) MUST(MPI_Start(&request));
    MUST(MPI_Cancel(&request));
    MPI_Status status{};
    int cancelled = 0;
    MUST(MPI_Wait(&request, &status));
    MUST(MPI_Test_cancelled(&status, &cancelled));
    if (!cancelled) complain("a cancelled receive says that it is not");
    if (request != MPI_REQUEST_NULL) MUST(MPI_Request_free(&request));
    record.add(static_cast<std::uint64_t>(cancelled));
    buffer.check(record, "the buffer of a cancelled receive", 0);
    mark(Feature::cancel_);
  }
  return record;
}

namespace {

struct Pair {
  Message first, second;  // sent synchronously, and what is received before it
  int source, target;
};

Pair draw_pair(const Group& group, Random& random) {
  Pair pair;
  pair.source = random.below(group.size);
  pair.target = (pair.source + random.between(1, group.size - 1)) % group.size;
  int tag = group.phase * 64 + 41;
  for (Message* each : {&pair.first, &pair.second}) {
    each->source = pair.source, each->target = pair.target, each->tag = tag++;
    each->signature = each->room = draw_signature(random);
    each->content = draw_content(random);
    each->key = random.next(), each->receive_key = random.next();
    each->send = SendBy::kIsend;
  }
  pair.first.send = SendBy::kIssend;
  return pair;
}

Record as_source(const Group& group, Pair& pair) {
  Record record;
  Side first, second;
  start_send(pair.first, first, group.comm);
  start_send(pair.second, second, group.comm);
  MUST(MPI_Wait(&second.request, MPI_STATUS_IGNORE));
  MUST(MPI_Recv(nullptr, 0, MPI_BYTE, pair.target, pair.first.tag + 2, group.comm,
                MPI_STATUS_IGNORE));
  int flag = 0;
  MUST(MPI_Test(&first.request, &flag, MPI_STATUS_IGNORE));
  if (flag) complain("a synchronous send is complete before its receive was posted");
  record.add(static_cast<std::uint64_t>(flag));
  MUST(MPI_Send(nullptr, 0, MPI_BYTE, pair.target, pair.first.tag + 3, group.comm));
  if (!flag) MUST(MPI_Wait(&first.request, MPI_STATUS_IGNORE));
  first.buffer->check(record, "a synchronously sent buffer", 0);
  return record;
}

Record as_target(const Group& group, Pair& pair) {
  Record record;
  std::array<Side, 2> sides;
  receive_late(pair.second, sides[1], group.comm);
  MUST(MPI_Send(nullptr, 0, MPI_BYTE, pair.source, pair.first.tag + 2, group.comm));
  MUST(MPI_Recv(nullptr, 0, MPI_BYTE, pair.source, pair.first.tag + 3, group.comm,
                MPI_STATUS_IGNORE));
  receive_late(pair.first, sides[0], group.comm);
  const Message* messages[] = {&pair.first, &pair.second};
  for (std::size_t at = 0; at < 2; ++at) {
    if (!read_status(*messages[at], sides[at], record)) complain("a status is of another message");
    sides[at].buffer->expect(messages[at]->content, 0, messages[at]->signature.elements());
    sides[at].buffer->check(record, "what was received beside a synchronous send");
  }
  return record;
}

}  // namespace

Record run_synchronous(const Group& group, Random random) {
  Record record;
  if (group.size < 2 || !allowed(Feature::synchronous_stays_open_)) return record;
  Pair pair = draw_pair(group, random);
  using enum ReceiveBy;
  const std::vector<ReceiveBy> ways{kRecv, kProbe, kIprobe, kMprobe, kImprobe, kImrecv};
  pair.second.receive = random.pick(ways), pair.first.receive = random.pick(ways);
  mark(Feature::synchronous_stays_open_);
  if (group.rank == pair.source) record.add(as_source(group, pair));
  if (group.rank == pair.target) record.add(as_target(group, pair));
  return record;
}

}  // namespace legality
