// A launcher's server at the other end of a socket, well-behaved but for one answer. It speaks
// PMI-1 or PMI-2, as each request does.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "shim/mpi/job/pmi_wire.h"

namespace thinwire::mpi {

class FakePmiServer {
 public:
  // A deed in place of the right answer to one command.
  using Misdeed = std::function<void(FakePmiServer& server, const std::string& right)>;

  explicit FakePmiServer(std::map<std::string, Misdeed> misdeeds = {})
      : misdeeds_(std::move(misdeeds)) {
    int ends[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::abort();
    server_end_ = ends[0];
    client_end_ = ends[1];
    thread_ = std::thread([this] { serve(); });
  }
  ~FakePmiServer() {
    shutdown(client_end_, SHUT_RDWR);
    thread_.join();
    close(server_end_);
    close(client_end_);
  }

  int client_end() const { return client_end_; }
  void say(std::string_view text) { send(server_end_, text.data(), text.size(), MSG_NOSIGNAL); }
  void hang_up() { shutdown(server_end_, SHUT_RDWR); }

  void put(const std::string& key, const std::string& value) {
    const std::lock_guard lock(mutex_);
    values_[key] = value;
  }
  std::string get(const std::string& key) {
    const std::lock_guard lock(mutex_);
    return values_[key];
  }
  std::vector<std::string> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  void serve() {
    std::string text;
    char letter;
    while (read(server_end_, &letter, 1) == 1) {
      text += letter;
      if (pmi::request_length(text) != text.size()) continue;
      const bool is_sized = letter != '\n';
      std::string line = text.substr(is_sized ? pmi::kDigits : 0);
      if (is_sized) {
        std::replace(line.begin(), line.end(), ';', ' ');
      } else {
        line.pop_back();
      }
      const std::string right = is_sized ? sized(answer_of_second(line)) : answer(line) + '\n';
      const auto misdeed = misdeeds_.find(std::string(pmi::field(line, "cmd").value_or("")));
      if (misdeed == misdeeds_.end()) {
        say(right);
      } else {
        misdeed->second(*this, right);
      }
      text.clear();
    }
  }

  static std::string sized(const std::string& answer) {
    std::string length = std::to_string(answer.size());
    length.resize(pmi::kDigits, ' ');
    return length + answer;
  }

  std::string answer_of_second(const std::string& line) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(line);
    const std::string command(pmi::field(line, "cmd").value_or(""));
    const std::string key(pmi::field(line, "key").value_or(""));
    const std::string done = "cmd=" + command + "-response;rc=0;";
    if (command == "job-getid") return done + "jobid=21.0;";
    if (command == "kvs-put") values_[key] = pmi::field(line, "value").value_or("");
    if (command != "kvs-get" && command != "info-getjobattr") return done;
    return done +
           (values_.contains(key) ? "found=TRUE;value=" + values_[key] + ";" : "found=FALSE;");
  }

  std::string answer(const std::string& line) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(line);
    const auto command = pmi::field(line, "cmd").value_or("");
    const std::string key(pmi::field(line, "key").value_or(""));
    if (command == "init") return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0";
    if (command == "get_maxes") return "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024";
    if (command == "get_my_kvsname") return "cmd=my_kvsname kvsname=kvs_7_0";
    if (command == "barrier_in") return "cmd=barrier_out rc=0";
    if (command == "put") {
      values_[key] = pmi::field(line, "value").value_or("");
      return "cmd=put_result rc=0 msg=success";
    }
    if (command != "get" || !values_.contains(key)) {
      return "cmd=get_result rc=-1 msg=key_not_found value=unknown";
    }
    return "cmd=get_result rc=0 msg=success value=" + values_[key];
  }

  std::map<std::string, Misdeed> misdeeds_;
  std::mutex mutex_;
  std::map<std::string, std::string> values_{{"PMI_process_mapping", "(vector,(0,2,2))"}};
  std::vector<std::string> requests_;
  int server_end_ = -1;
  int client_end_ = -1;
  std::thread thread_;
};

}  // namespace thinwire::mpi
