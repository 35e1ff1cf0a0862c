#include "capi/policies.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/job_rank.h"
#include "base/log.h"
#include "base/settings.h"
#include "base/text_file.h"
#include "capi/boundary.h"
#include "capi/handles.h"
#include "thinwire/thinwire.h"

using namespace thinwire;

struct tw_policy {
  explicit tw_policy(policy::Policy read) : policy(std::move(read)) {
    for (const policy::Rule& each : policy.rules()) texts.push_back(each.text());
  }
  policy::Policy policy;
  std::vector<std::string> texts;
};

namespace thinwire::capi {

Result<policy::Policy> read_policy(const std::string& path) {
  const auto text = read_text_file(path);
  if (!text.ok()) return text.status();
  return policy::Policy::read(*text, path);
}

namespace {

struct OfEnvironment {
  tw_policy* policy = nullptr;
  std::string wrong;
};

OfEnvironment read_environment() {
  const char* const path = setting_value("THINWIRE_POLICY");
  if (path == nullptr) return {};
  auto read = read_policy(path);
  if (read.ok()) return {Shells<tw_policy>::make(std::move(*read)).release(), ""};
  std::string said = "THINWIRE_POLICY: " + read.status().message() +
                     "; none of its rules holds; no lossy codec is used";
  log(speaks_for_job() ? LogLevel::kError : LogLevel::kDebug, said);
  return {nullptr, std::move(said)};
}

// Never destroyed: other threads and exit handlers may still ask.
const OfEnvironment& of_environment() {
  static const auto* const made = new OfEnvironment(read_environment());
  return *made;
}

}  // namespace

const std::string& wrong_wish() {
  const std::string& policy = of_environment().wrong;
  return wrong_setting().empty() ? policy : wrong_setting();
}

namespace {

tw_status give_policy(Result<policy::Policy> read, tw_policy** to) {
  if (!read.ok()) return report(read.status());
  *to = Shells<tw_policy>::make(std::move(*read)).release();
  return TW_OK;
}

}  // namespace

}  // namespace thinwire::capi

tw_status tw_policy_create(const char* text, const char* name, tw_policy** policy) {
  return capi::guarded([&] {
    if (text == nullptr || name == nullptr || policy == nullptr) {
      return capi::misuse("tw_policy_create: null pointer");
    }
    return capi::give_policy(policy::Policy::read(text, name), policy);
  });
}

tw_status tw_policy_open(const char* path, tw_policy** policy) {
  return capi::guarded([&] {
    if (path == nullptr || policy == nullptr) return capi::misuse("tw_policy_open: null pointer");
    return capi::give_policy(capi::read_policy(path), policy);
  });
}

void tw_policy_destroy(tw_policy* policy) {
  capi::close_handle(policy, "tw_policy_destroy: the policy is destroyed already");
}

const tw_policy* tw_policy_of_environment(void) {
  const tw_policy* found = nullptr;
  capi::guarded([&] {
    capi::wrong_wish();
    found = capi::of_environment().policy;
    return TW_OK;
  });
  return found;
}

uint64_t tw_policy_hash(const tw_policy* policy) {
  return !capi::is_open(policy) ? 0 : policy->policy.hash();
}

uint32_t tw_policy_rule_count(const tw_policy* policy) {
  return !capi::is_open(policy) ? 0 : static_cast<uint32_t>(policy->texts.size());
}

tw_status tw_policy_describe(const tw_policy* policy, uint32_t index, tw_policy_rule* to) {
  if (!capi::has_size(to) || index >= tw_policy_rule_count(policy)) {
    return capi::misuse("tw_policy_describe: rule is null, its size is not set, or no such index");
  }
  const policy::Rule& rule = policy->policy.rules()[index];
  tw_policy_rule made{};
  made.line = static_cast<uint32_t>(rule.line);
  made.name = rule.name.c_str();
  made.codec = rule.codec.c_str();
  made.text = policy->texts[index].c_str();
  made.holds = static_cast<std::uint32_t>(rule.holds);
  made.siblings = rule.siblings;
  capi::give(made, to);
  return TW_OK;
}

uint64_t tw_policy_rules(const tw_policy* policy, const char* communicator, uint32_t ranks) {
  if (!capi::is_open(policy)) return 0;
  std::optional<std::string_view> name;
  if (communicator != nullptr) name = communicator;
  return policy->policy.rules_of(name, ranks);
}

int32_t tw_policy_match(const tw_policy* policy, const tw_policy_call* given) {
  const capi::Taken call(given);
  if (!capi::is_open(policy) || !call || call->operation >= policy::kOperations ||
      call->dtype >= kDtypeCount || call->span > TW_SPAN_BETWEEN_NODES) {
    return -1;
  }
  return policy->policy.match({call->operation, static_cast<Dtype>(call->dtype),
                               static_cast<policy::Span>(call->span), call->bytes},
                              call->rules);
}
