// Everybody sends and receives in one call, along a permutation of the group.
#include <algorithm>

#include "message.h"

namespace legality {
namespace {

struct Neighbours {
  int to, from;
};

// By the same draw on all ranks; some send to nobody.
Neighbours draw_neighbours(const Group& group, Random& random, std::vector<char>& silent) {
  const std::vector<int> next = random.permutation(group.size);
  silent.resize(next.size());
  for (char& each : silent) each = random.chance(15);
  const auto mine = std::find(next.begin(), next.end(), group.rank);
  Neighbours found{next[static_cast<std::size_t>(group.rank)],
                   static_cast<int>(mine - next.begin())};
  if (silent[static_cast<std::size_t>(group.rank)]) found.to = MPI_PROC_NULL;
  if (silent[static_cast<std::size_t>(found.from)]) found.from = MPI_PROC_NULL;
  if (found.to == MPI_PROC_NULL || found.from == MPI_PROC_NULL) mark(Feature::proc_null_);
  return found;
}

Message sent_by(const Random& random, int rank) {
  Message message;
  Random own = random.part(100 + static_cast<std::uint64_t>(rank));
  message.signature = draw_signature(own);
  message.content = draw_content(own);
  message.key = own.next(), message.receive_key = own.next();
  message.source = rank;
  return message;
}

void check_status(const Neighbours& ring, int tag, MPI_Datatype type, const MPI_Status& status,
                  Record& record) {
  int count = 0;
  MUST(MPI_Get_count(&status, type, &count));
  for (int each : {status.MPI_SOURCE, status.MPI_TAG, count})
    record.add(static_cast<std::uint64_t>(each));
  if (status.MPI_SOURCE != ring.from) complain("a Sendrecv has another source");
  if (ring.from != MPI_PROC_NULL && status.MPI_TAG != tag) complain("a Sendrecv has another tag");
}

Record both_ways(const Group& group, const Random& random, const Neighbours& ring, int tag) {
  Record record;
  const Message out = sent_by(random, group.rank);
  Layout sending = draw_layout(Random(join(out.key, 2)), out.signature, false);
  Buffer from(std::make_shared<Type>(std::move(sending.type)), sending.count, out.key);
  from.fill(out.content);

  const bool nobody = ring.from == MPI_PROC_NULL;
  const Message in = sent_by(random, nobody ? group.rank : ring.from);
  Layout receiving = draw_layout(Random(join(in.key, 3)), in.signature, false);
  Buffer to(std::make_shared<Type>(std::move(receiving.type)), receiving.count, in.receive_key);
  MPI_Status status{};
  MUST(MPI_Sendrecv(from.address(), from.items(), from.handle(), ring.to, tag, to.address(),
                    to.items(), to.handle(), ring.from, tag, group.comm, &status));
  mark(Feature::sendrecv_);
  check_status(ring, tag, to.handle(), status, record);
  if (!nobody) to.expect(in.content, 0, in.signature.elements());
  to.check(record, "what Sendrecv received");
  from.check(record, "what Sendrecv sent", 0);
  return record;
}

Record replaced(const Group& group, const Random& random, const Neighbours& ring, int tag) {
  Record record;
  // One signature for all, a layout for each.
  Message all = sent_by(random, 50);
  Layout layout =
      draw_layout(random.part(60 + static_cast<std::uint64_t>(group.rank)), all.signature, false);
  Buffer buffer(std::make_shared<Type>(std::move(layout.type)), layout.count, all.key);
  const auto content_of = [&](int rank) {
    Content content = all.content;
    content.key = join(content.key, static_cast<std::uint64_t>(rank));
    return content;
  };
  buffer.fill(content_of(group.rank));
  MPI_Status status{};
  MUST(MPI_Sendrecv_replace(buffer.address(), buffer.items(), buffer.handle(), ring.to, tag,
                            ring.from, tag, group.comm, &status));
  mark(Feature::sendrecv_replace_);
  check_status(ring, tag, buffer.handle(), status, record);
  if (ring.from != MPI_PROC_NULL) buffer.expect(content_of(ring.from), 0, all.signature.elements());
  buffer.check(record, "what Sendrecv_replace left");
  return record;
}

}  // namespace

Record run_ring(const Group& group, Random random) {
  Record record;
  const int turns = random.between(1, 3);
  for (int turn = 0; turn < turns; ++turn) {
    Random own = random.part(static_cast<std::uint64_t>(turn));
    std::vector<char> silent;
    const Neighbours ring = draw_neighbours(group, own, silent);
    const bool replace = own.chance(45);
    if (dropped(group.phase, turn)) continue;
    const int tag = group.phase * 64 + turn;
    record.add(replace ? replaced(group, own, ring, tag) : both_ways(group, own, ring, tag));
  }
  return record;
}

}  // namespace legality
