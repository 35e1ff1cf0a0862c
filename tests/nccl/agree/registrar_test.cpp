// A process at the registrar's address that does not do as a registrar does: a test plays it.
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <mutex>

#include "agree/limits.h"
#include "agree/puppet.h"

namespace {

using namespace job;

// A listener at the address that an id names as the registrar's.
class Played {
 public:
  Played() {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof at;
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&at), length), 0);
    EXPECT_EQ(::listen(fd_, 64), 0);
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &length);
    stamp_ = {random_secret(), *address_of(std::as_bytes(std::span(&at, 1)))};
    id = bare_id();
    write_stamp(id, stamp_);
  }
  ~Played() { ::close(fd_); }
  Played(const Played&) = delete;
  Played& operator=(const Played&) = delete;

  // A connection, if one comes within that time.
  Wire accept(std::chrono::milliseconds time) const {
    pollfd watched{fd_, POLLIN, 0};
    if (::poll(&watched, 1, static_cast<int>(time.count())) <= 0) return Wire();
    return Wire(::accept(fd_, nullptr, nullptr));
  }
  // With the proof that it knows the secret.
  Wire accept_as_the_registrar(std::chrono::milliseconds time) const {
    Wire made = accept(time);
    if (made.is_open()) made.be_found(stamp_.secret);
    return made;
  }
  std::string address() const { return address_text(stamp_.registrar); }

  Id id{};

 private:
  const int fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  Stamp stamp_;
};

// Longer than a rank waits before it comes again.
Options quick() {
  Options made;
  made.registrar = kMostRetry + 500ms;
  return made;
}

// A service that has taken the port over, or a gateway that answers for whoever is there.
TEST(Registrar, ThatTakesConnectionsAndEndsThemIsGivenUp) {
  Played played;
  std::mutex mutex;
  std::vector<std::string> told;
  Options options = quick();
  options.tell = [&](const std::string& text) {
    const std::lock_guard lock(mutex);
    told.push_back(text);
  };
  Job job(3, options);
  for (Rank& each : job.all) job.open(each.rank, played.id);
  std::atomic<bool> over{false};
  std::thread service([&] {
    while (!over) played.accept(10ms).end();
  });
  EXPECT_TRUE(job.all_reach(State::kRaw));
  over = true;
  service.join();
  const std::string text =
      "raw: no answer from the process that made the unique id, at " + played.address();
  for (Rank& each : job.all) {
    EXPECT_TRUE(each.comm->membership().text.starts_with(text)) << each.comm->membership().text;
  }
  const std::lock_guard lock(mutex);
  ASSERT_EQ(told.size(), 1) << "one rank says it";
  EXPECT_TRUE(told[0].starts_with(text));
}

TEST(Registrar, ThatNobodyListensForIsGivenUp) {
  Id id;
  {
    id = Played().id;
  }
  Job job(2, quick());
  for (Rank& each : job.all) job.open(each.rank, id);
  ASSERT_TRUE(job.all_reach(State::kRaw));
  EXPECT_NE(job.all[0].comm->membership().text.find("(Connection refused)"), std::string::npos)
      << job.all[0].comm->membership().text;
}

// A process that a debugger or a signal has stopped: its kernel goes on taking connections.
TEST(Registrar, ThatHoldsAConnectionIsWaitedFor) {
  Played played;
  Job job(1, quick(), 2);
  job.open(0, played.id);
  std::this_thread::sleep_for(2s);
  EXPECT_EQ(job.all[0].comm->state(), State::kForming);
  Wire rank = played.accept_as_the_registrar(1s);
  ASSERT_TRUE(rank.hear_a<Register>());
  rank.say(Decision{false, "raw: it does not want to"});
  ASSERT_TRUE(reaches(job.all[0].comm, State::kRaw));
  EXPECT_EQ(job.all[0].comm->membership().text, "raw: it does not want to");
}

// One that is short of descriptors.
TEST(Registrar, ThatSendsRanksAwayIsAskedAgain) {
  Played played;
  Job job(1, quick(), 2);
  job.open(0, played.id);
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < 2s) {
    Wire rank = played.accept_as_the_registrar(2s);
    ASSERT_TRUE(rank.hear_a<Register>());
  }
  EXPECT_EQ(job.all[0].comm->state(), State::kForming);
  Wire rank = played.accept_as_the_registrar(2s);
  rank.say(Decision{false, "raw: it does not want to"});
  EXPECT_TRUE(reaches(job.all[0].comm, State::kRaw));
}

// The host is on a link that none of the interfaces here is known to be on.
TEST(Registrar, AtAnAddressOfAnotherLinkIsNotAskedFor) {
  Address address{6, 4000, 4'000'000, {}};
  address.host[0] = std::byte{0xFE};
  address.host[1] = std::byte{0x80};
  address.host[15] = std::byte{99};
  Id id = bare_id();
  write_stamp(id, {random_secret(), address});
  std::string text;
  bool has_network = false;
  // The helper that this thread starts inherits its network, which has no interfaces.
  std::thread([&] {
    has_network = ::unshare(CLONE_NEWNET) == 0;
    if (!has_network) return;
    Job job(1, {}, 2);
    job.open(0, id);
    if (reaches(job.all[0].comm, State::kRaw)) text = job.all[0].comm->membership().text;
  }).join();
  if (!has_network) GTEST_SKIP() << "the system allows no network of its own";
  EXPECT_EQ(text,
            "raw: it is not known which interface here leads to [fe80::63%4000000]:4000, the "
            "address of the process that made the unique id");
}

// It has answered once.
TEST(Registrar, ThatIsAnotherServiceLaterIsGivenUp) {
  Played played;
  Job job(1, quick(), 2);
  job.open(0, played.id);
  ASSERT_TRUE(played.accept_as_the_registrar(2s).hear_a<Register>());
  const auto is_raw = [&] {
    played.accept(10ms).end();
    return job.all[0].comm->state() == State::kRaw;
  };
  EXPECT_TRUE(eventually(is_raw));
}

}  // namespace
