import t from "tap";
import {
  inputErrorsOf as ruleInputErrors,
  shownThreshold,
  toEntries as toRuleEntries,
  toRule,
  unitOf,
  type AlarmRule,
} from "../src/settings/alarms/rule.js";
import { newTarget } from "../src/settings/alarms/target.js";
import {
  inputErrorsOf as jobInputErrors,
  toEntries as toJobEntries,
  toJob,
  type Job,
} from "../src/settings/jobs/job.js";
import { toPlan } from "../src/settings/jobs/plan.js";

const nightly: Job = {
  id: "j1",
  name: "nightly",
  type: "snapshot",
  filter: "tags:prod",
  retention: { keepLast: 3 },
  excludedTags: ["xo:no-bak", "test"],
  namePattern: "{vm}",
  withMemory: true,
  concurrency: 4,
};

t.test("a viewed job stays unchanged", async (t) => {
  t.same(toJob(toJobEntries(nightly), nightly), {
    type: "snapshot",
    name: "nightly",
    concurrency: 4,
    filter: "tags:prod",
    excludedTags: ["xo:no-bak", "test"],
    retention: { keepLast: 3 },
    namePattern: "{vm}",
    withMemory: true,
  });
  const call: Job = {
    id: "j2",
    name: "scan",
    type: "call",
    method: "sr.scan",
    paramsVector: { type: "set", values: [{ id: "a" }] },
  };
  t.same(toJob(toJobEntries(call), call), {
    type: "call",
    name: "scan",
    concurrency: null,
    method: "sr.scan",
    paramsVector: { type: "set", values: [{ id: "a" }] },
  });
});

t.test("emptied properties of a job are removed", async (t) => {
  const entries = { ...toJobEntries(nightly), namePattern: " " };
  t.match(toJob(entries, nightly), { namePattern: null });
  t.notOk(Object.hasOwn(toJob(entries, undefined), "namePattern"));
});

t.test("a job lists its missing properties", async (t) => {
  const entries = toJobEntries(undefined);
  t.same(jobInputErrors(entries), { name: "required", filter: "vms" });
  t.same(jobInputErrors({ ...entries, name: "x", filter: "tags:a" }), {});
  t.same(jobInputErrors({ ...entries, name: "x" }, true), {});
  const none = {
    keepLast: "",
    keepDaily: "0",
    keepWeekly: "",
    keepMonthly: "",
  };
  t.match(jobInputErrors({ ...entries, retention: none }), {
    retention: "retention",
  });
  t.match(
    jobInputErrors({ ...entries, retention: { ...none, keepLast: "1.5" } }),
    {
      retention: "number",
    },
  );
  t.match(jobInputErrors({ ...entries, concurrency: "33" }), {
    concurrency: "number",
  });
  const call = { ...entries, type: "call" as const, name: "x" };
  t.match(jobInputErrors({ ...call, params: "{" }), {
    method: "required",
    params: "json",
  });
  t.match(jobInputErrors({ ...call, params: "[]" }), { params: "vector" });
});

t.test("a plan lists what would be created and deleted", async (t) => {
  const snapshots = [
    {
      vm: "v1",
      vmName: "web-1",
      create: "nightly 1",
      delete: [{ id: "s1", name: "nightly 0" }],
    },
    { vm: "v2", vmName: "", create: "nightly 1", delete: [] },
  ];
  t.same(toPlan({ total: 2, snapshots }), [
    { name: "web-1", creates: "nightly 1", deletes: ["nightly 0"] },
    { name: "v2", creates: "nightly 1", deletes: [] },
  ]);
  const calls = [{ method: "vm.start", params: { id: "v1" } }];
  t.same(toPlan({ total: 1, calls }), [
    { name: "vm.start", deletes: [], params: '{"id":"v1"}' },
  ]);
  t.same(toPlan("nonsense"), []);
});

const cpu: AlarmRule = {
  id: "r1",
  name: "CPU",
  enabled: true,
  severity: "critical",
  on: {
    kind: "statistic",
    type: "VM",
    filter: "tags:prod",
    metric: "now.cpu",
    comparison: ">",
    threshold: 0.9,
    clearsAt: 0.7,
  },
  forSeconds: 300,
  remindEverySeconds: 7_200,
  notifyOnClear: false,
  targets: [
    { kind: "e-mail", id: "m", addresses: ["a@b.org", "c@d.org"] },
    { kind: "web-hook", id: "h", url: "https://x/y", isSigned: true },
  ],
  open: 0,
  others: 0,
  undelivered: [],
};

t.test("a viewed rule stays unchanged", async (t) => {
  const entries = toRuleEntries(cpu);
  t.match(entries, { threshold: "90", clearsAt: "70", forMinutes: "5" });
  t.same(ruleInputErrors(entries), {});
  t.match(toRule(entries), {
    name: "CPU",
    severity: "critical",
    forSeconds: 300,
    on: cpu.on,
    remindEverySeconds: 7_200,
    notifyOnClear: false,
    targets: [
      { kind: "e-mail", id: "m", addresses: ["a@b.org", "c@d.org"] },
      { kind: "web-hook", id: "h", url: "https://x/y" },
    ],
  });
  t.notOk(JSON.stringify(toRule(entries)).includes("secret"));
});

t.test("numbers are typed as users read them", async (t) => {
  t.equal(unitOf("now.cpu", false), "percent");
  t.equal(unitOf("physical_usage", true), "percent");
  t.equal(unitOf("physical_usage", false), "plain");
  t.equal(unitOf("constructor", false), "plain");
  const memory = {
    ...toRuleEntries(undefined),
    metric: "now.memory",
    threshold: "1,5",
    clearsAt: "",
  };
  t.match(toRule(memory), { on: { threshold: 1.5 * 2 ** 20 } });
  t.same(shownThreshold({ kind: "statistic", metric: "now.cpu" }, 0.9), {
    value: 90,
    unit: "percent",
  });
});

t.test("a rule reports its problems", async (t) => {
  const entries = {
    ...toRuleEntries(undefined),
    threshold: "50",
    clearsAt: "60",
    forMinutes: "-1",
    targets: [
      { ...newTarget("e-mail"), addresses: "a@b.org, nobody" },
      { ...newTarget("web-hook"), url: "ftp://x" },
    ],
  };
  t.same(ruleInputErrors(entries), {
    name: "required",
    forMinutes: "number",
    clearsAt: "clearsAt",
    target0: "address",
    target1: "url",
  });
  t.match(ruleInputErrors({ ...entries, kind: "object", filter: " " }), {
    filter: "filter",
  });
});

t.test("each kind of rule requires its own properties only", async (t) => {
  const entries = { ...toRuleEntries(undefined), filter: "x" };
  t.same(toRule({ ...entries, kind: "pool" })["on"], { kind: "pool" });
  t.same(toRule({ ...entries, kind: "task" })["on"], {
    kind: "task",
    filter: "x",
  });
  t.same(toRule({ ...entries, kind: "object" })["on"], {
    kind: "object",
    type: "VM",
    filter: "x",
  });
});

t.test("the address of a chat service is stored, not shown", async (t) => {
  const slack = { ...newTarget("slack"), label: "#ops" };
  const entries = { ...toRuleEntries(cpu), targets: [slack] };
  t.match(ruleInputErrors(entries), { target0: "url" });
  const secretUrl = "https://hooks.slack.example/services/T/B/x";
  const typed = { ...entries, targets: [{ ...slack, secretUrl }] };
  t.match(toRule(typed), {
    targets: [{ kind: "slack", label: "#ops", secretUrl }],
  });
  const stored = {
    id: "s",
    kind: "slack",
    host: "hooks.slack.example",
  } as const;
  const kept = toRuleEntries({
    ...cpu,
    targets: [{ ...stored, label: "#ops", hasToken: false }],
  });
  t.same(ruleInputErrors(kept), {});
  t.same(toRule(kept)["targets"], [{ id: "s", kind: "slack", label: "#ops" }]);
  const ntfy = { ...newTarget("ntfy"), secretUrl: "https://ntfy.example" };
  t.match(ruleInputErrors({ ...kept, targets: [ntfy] }), { target0: "topic" });
});
