// Two halves of a group talk over an intercommunicator: messages, and collectives of both kinds.
#include <array>

#include "completion.h"
#include "message.h"

namespace legality {
namespace {

struct Halves {
  MPI_Comm own = MPI_COMM_NULL, both = MPI_COMM_NULL;
  bool low = false;
  int rank = 0, others = 0, offset = 0;  // the other half's size, and its first rank in the group
};

Halves divide(const Group& group, int first) {
  Halves halves;
  halves.low = group.rank < first;
  halves.others = halves.low ? group.size - first : first;
  halves.offset = halves.low ? first : 0;
  MUST(MPI_Comm_split(group.comm, halves.low, group.rank, &halves.own));
  MUST(MPI_Comm_rank(halves.own, &halves.rank));
  MUST(MPI_Intercomm_create(halves.own, 0, group.comm, halves.offset, group.phase * 64 + 50,
                            &halves.both));
  return halves;
}

// From every rank to every one of the other half.
Message between(const Random& random, int source, int target) {
  Message message;
  Random own = random.part(static_cast<std::uint64_t>(source * 100 + target));
  message.signature = message.room = draw_signature(own);
  message.content = draw_content(own);
  message.key = own.next(), message.receive_key = own.next();
  const std::vector<SendBy> ways{SendBy::kIsend, SendBy::kIssend, SendBy::kSendInit};
  message.send = own.pick(ways);
  message.receive = own.chance(30) ? ReceiveBy::kRecvInit : ReceiveBy::kIrecv;
  return message;
}

Record messages(const Group& group, const Halves& halves, const Random& random, Random& own) {
  Record record;
  const std::size_t others = static_cast<std::size_t>(halves.others);
  std::vector<Side> sides(2 * others);
  std::vector<Message> drawn(2 * others);
  std::vector<MPI_Request> requests;
  for (int other = 0; other < halves.others; ++other) {
    const std::size_t in = static_cast<std::size_t>(other), out = others + in;
    drawn[in] = between(random, halves.offset + other, group.rank);
    drawn[out] = between(random, group.rank, halves.offset + other);
    drawn[in].source = other, drawn[out].target = other;
    start_early(drawn[in], sides[in], halves.both);
  }
  for (std::size_t out = others; out < sides.size(); ++out)
    start_send(drawn[out], sides[out], halves.both);
  for (const Side& side : sides) requests.push_back(side.request);
  std::vector<MPI_Status> statuses;
  complete(own, requests, statuses, true, Among::kPersistent);
  for (std::size_t at = 0; at < sides.size(); ++at) {
    if (requests[at] != MPI_REQUEST_NULL) MUST(MPI_Request_free(&requests[at]));
    Buffer& buffer = *sides[at].buffer;
    if (at >= others) {
      buffer.check(record, "what was sent to the other half", 0);
      continue;
    }
    sides[at].status = statuses[at];
    if (!read_status(drawn[at], sides[at], record)) complain("a status is of another message");
    buffer.expect(drawn[at].content, 0, drawn[at].signature.elements());
    buffer.check(record, "what came from the other half");
  }
  return record;
}

// The root is in the low half; the other half receives.
Record broadcast(const Halves& halves, Random random, int low_size) {
  Record record;
  const Signature signature = draw_signature(random);
  const Content content = draw_content(random);
  const std::uint64_t key = random.next();
  const int root = random.below(low_size);
  Layout layout = draw_layout(random.part(1), signature, false);
  Buffer buffer(std::make_shared<Type>(std::move(layout.type)), layout.count, key);
  const bool is_root = halves.low && halves.rank == root;
  if (is_root) buffer.fill(content);
  const int named = !halves.low ? root : is_root ? MPI_ROOT : MPI_PROC_NULL;
  MUST(MPI_Bcast(buffer.address(), buffer.items(), buffer.handle(), named, halves.both));
  if (!halves.low) buffer.expect(content, 0, signature.elements());
  buffer.check(record, "what a Bcast between halves left", halves.low ? 0 : 1);
  return record;
}

Record sum(const Group& group, const Halves& halves, Random random) {
  Record record;
  const int count = random.between(1, 600);
  std::vector<double> in(static_cast<std::size_t>(count), group.rank + 1.0);
  std::vector<double> out(in.size());
  MUST(MPI_Allreduce(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, halves.both));
  double expected = 0;
  for (int other = 0; other < halves.others; ++other) expected += halves.offset + other + 1;
  if (out.back() != expected) complain("a sum of the other half is wrong");
  record.add(hash_bytes(out.data(), out.size() * sizeof out[0]));
  return record;
}

}  // namespace

Record run_intercommunicator(const Group& group, Random random) {
  Record record;
  if (group.size < 2) return record;
  const int first = random.between(1, group.size - 1);
  Halves halves = divide(group, first);
  Random own = random.part(5000 + static_cast<std::uint64_t>(group.rank));
  if (!dropped(group.phase, 0)) record.add(messages(group, halves, random.part(1), own));
  if (!dropped(group.phase, 1)) record.add(broadcast(halves, random.part(2), first));
  if (!dropped(group.phase, 2)) record.add(sum(group, halves, random.part(3)));
  MUST(MPI_Comm_free(&halves.both));
  MUST(MPI_Comm_free(&halves.own));
  mark(Feature::intercommunicator_);
  return record;
}

}  // namespace legality
