// Thousands of small requests at once, completed a few at a time.
#include <algorithm>
#include <numeric>

#include "floats.h"

namespace legality {
namespace {

enum class Few { kWaitall, kWaitany, kWaitsome, kTestany, kTestsome, kTestall };

// Completes what is left; what has completed is a null request then.
void complete_few(std::vector<MPI_Request>& requests, Few few, Random& own) {
  const int count = static_cast<int>(requests.size());
  std::vector<int> places(requests.size());
  int left = count, flag = 0, place = 0, some = 0;
  while (left > 0) {
    if (few == Few::kWaitall)
      MUST(MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE)), left = 0;
    if (few == Few::kTestall)
      while (flag == 0) MUST(MPI_Testall(count, requests.data(), &flag, MPI_STATUSES_IGNORE));
    if (few == Few::kTestall) left = 0;
    if (few == Few::kWaitany)
      MUST(MPI_Waitany(count, requests.data(), &place, MPI_STATUS_IGNORE)), --left;
    if (few == Few::kTestany) {
      MUST(MPI_Testany(count, requests.data(), &place, &flag, MPI_STATUS_IGNORE));
      if (flag != 0) --left;
    }
    const bool waits = few == Few::kWaitsome;
    if (!waits && few != Few::kTestsome) continue;
    if (waits)
      MUST(MPI_Waitsome(count, requests.data(), &some, places.data(), MPI_STATUSES_IGNORE));
    if (!waits)
      MUST(MPI_Testsome(count, requests.data(), &some, places.data(), MPI_STATUSES_IGNORE));
    left -= some;
  }
  if (std::any_of(requests.begin(), requests.end(),
                  [](MPI_Request each) { return each != MPI_REQUEST_NULL; }))
    complain("a request that is complete is not null");
  if (own.chance(20)) MUST(MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE));
}

}  // namespace

Record run_many(const Group& group, Random random) {
  Record record;
  const int messages = random.between(300, 2500);
  const std::uint64_t key = random.next();
  const auto length = [&](int at) { return (at * 37 + static_cast<int>(key % 50)) % 110 + 1; };
  if (dropped(group.phase)) return record;
  Random own = random.part(1000 + static_cast<std::uint64_t>(group.rank));
  // Their tags are those of other phases, in which some ranks may still be.
  MPI_Comm comm = MPI_COMM_NULL;
  MUST(MPI_Comm_dup(group.comm, &comm));
  std::vector<std::vector<float>> in, out;
  std::vector<MPI_Request> receives(static_cast<std::size_t>(messages), MPI_REQUEST_NULL),
      sends(receives);
  const auto key_of = [&](int rank, int at) {
    return key + static_cast<std::uint64_t>(rank * 10000 + at);
  };
  for (int at = 0; at < messages; ++at) {
    const auto index = static_cast<std::size_t>(at);
    in.emplace_back(static_cast<std::size_t>(length(at)));
    MUST(MPI_Irecv(in[index].data(), length(at), MPI_FLOAT, last_of(group), at, comm,
                   &receives[index]));
  }
  for (int at = 0; at < messages; ++at) {
    const auto index = static_cast<std::size_t>(at);
    out.push_back(floats_of(key_of(group.rank, at), length(at)));
    MUST(MPI_Isend(out[index].data(), length(at), MPI_FLOAT, next_of(group), at, comm,
                   &sends[index]));
  }
  complete_few(receives, static_cast<Few>(own.below(6)), own);
  complete_few(sends, static_cast<Few>(own.below(6)), own);
  for (int at = 0; at < messages; ++at)
    check_floats(in[static_cast<std::size_t>(at)].data(), key_of(last_of(group), at), length(at),
                 "one of many receives", record);
  MUST(MPI_Comm_free(&comm));
  mark(Feature::many_requests_);
  return record;
}

}  // namespace legality
