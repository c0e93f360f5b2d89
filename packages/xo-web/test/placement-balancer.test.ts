import t from "tap";
import { RpcError } from "../src/api/rpc-error.js";
import { de } from "../src/locale/de/all.js";
import { en } from "../src/locale/en/all.js";
import { Formats } from "../src/locale/formats.js";
import { midwayOf } from "../src/placement/balance/apply-outcome.js";
import {
  inputErrorsOf,
  toEntries,
  toPolicy,
  type Policy,
} from "../src/placement/balance/policy.js";
import {
  joinRuns,
  moveTone,
  runFigures,
  runReason,
  runTone,
  type Run,
} from "../src/placement/balance/run.js";
import {
  reasonText,
  toneOf,
  type BalancerStateReason,
} from "../src/placement/balance/balancer-state.js";
import type { Sentence } from "../src/placement/rule-text.js";

const english = { text: en, formats: new Formats("en", en) };
const policy: Policy = {
  mode: "automatic",
  goal: "consolidate",
  cpuHigh: 0.85,
  cpuLow: 0.65,
  memoryHigh: 0.9,
  migrationCost: 0.01,
  maxMigrationsPerRun: 5,
  parallel: 2,
  intervalSeconds: 60,
  coolDownSeconds: 600,
  holdSeconds: 100,
  excludedTags: ["db", "big iron"],
  enforceRules: true,
};
const said = (sentence: Sentence) =>
  sentence
    .map((piece) => (typeof piece === "string" ? piece : `[${piece.id}]`))
    .join("");

t.test("a viewed policy stays unchanged", async (t) => {
  const entries = toEntries(policy);
  t.same(inputErrorsOf(entries), {});
  t.equal(entries.coolDown, "10");
  t.equal(entries.hold, "1.67");
  t.same(toPolicy(entries), policy);
});

t.test(
  "a policy reports the numbers that the server would refuse",
  async (t) => {
    const entries = toEntries(policy);
    const wrong = {
      maxMigrationsPerRun: "0",
      parallel: "1.5",
      intervalSeconds: "9",
      coolDown: "",
      hold: "1441",
      migrationCost: "much",
    };
    const inputErrors = inputErrorsOf({ ...entries, ...wrong });
    t.same(Object.keys(inputErrors).sort(), Object.keys(wrong).sort());
    t.same(inputErrors.parallel, { inputError: "number", least: 1, most: 16 });
    t.same(inputErrorsOf({ ...entries, cpuLow: 85 }), {
      cpuLow: { inputError: "crossed" },
    });
    t.same(
      toPolicy({ ...entries, excludedTags: " a,, b c ,a" })["excludedTags"],
      ["a", "b c"],
    );
  },
);

t.test("numbers are read with a point or a comma", async (t) => {
  const entries = { ...toEntries(policy), migrationCost: "0,05", hold: "1,5" };
  t.same(inputErrorsOf(entries), {});
  t.match(toPolicy(entries), { migrationCost: 0.05, holdSeconds: 90 });
});

/** Codes that the server sends. */
const reasons: readonly BalancerStateReason[] = [
  "balanced",
  "no-beneficial-migration",
  "imbalance",
  "migrating",
  "measuring",
  "dry-run",
  "not-connected",
  "rolling-reboot",
  "host-maintenance",
  "host-failed",
  "no-statistics",
  "other-migrations",
  "no-plan",
  "failed",
  "fruitless",
  "stopped",
  "gave-up",
].map((code) => ({
  code,
  message: "in English",
  until: 90_000,
  hosts: ["h1", "h2"],
  moves: 3,
  failures: 2,
  done: 1,
  total: 3,
}));

t.test(
  "each state of the load balancer has a text in both languages, with all placeholders filled",
  async (t) => {
    for (const reason of reasons)
      for (const text of [en, de]) {
        const texts = said(
          reasonText({ reason }, 60_000, { text, formats: english.formats }),
        );
        t.notMatch(texts, /[{}]/, texts);
        t.not(texts, "in English", reason.code);
      }
    const textOf = (code: string) =>
      said(
        reasonText(
          { reason: reasons.find((one) => one.code === code)! },
          60_000,
          english,
        ),
      );
    t.equal(
      textOf("imbalance"),
      "Imbalance detected: 3 migrations start in 30 s if it persists.",
    );
    t.match(textOf("host-failed"), /^Failed: \[h1\], \[h2\]\. Waiting 30 s /);
    t.match(textOf("no-plan"), /in English/);
  },
);

t.test(
  "a new reason is shown in the server's texts, an absent one as none",
  async (t) => {
    const reason = { code: "toString", message: "as the server sends" };
    t.equal(said(reasonText({ reason }, 0, english)), "as the server sends");
    t.same(reasonText({}, 0, english), []);
    t.equal(toneOf({ state: "back-off" }), "bad");
    t.equal(toneOf({ state: "off" }), "");
  },
);

function run(id: string, more: Partial<Run> = {}): Run {
  const figures = (cpu: number, memory: number) => [
    { host: "h1", cpu, memory, vms: 4 },
    { host: "h2", cpu: 0.2, memory: 0.3, vms: 2 },
  ];
  return {
    id,
    status: "success",
    start: 0,
    end: 9_000,
    goal: "performance",
    by: { cause: "automatic", userName: "load balancer" },
    moves: [],
    hidden: 0,
    emptied: [],
    figuresBefore: figures(0.91, 0.6),
    figuresPlanned: figures(0.62, 0.5),
    ...more,
  };
}

t.test("a migration is reported with the statistics of its time", async (t) => {
  t.equal(
    said(runReason(run("a"), { purpose: "overload", from: "h1" }, english)),
    "[h1]: CPU 91%, memory 60%",
  );
  t.equal(
    said(
      runReason(run("a"), { purpose: "enforce-rules", from: "h1" }, english),
    ),
    "Violation of a placement rule",
  );
  t.equal(
    runFigures(run("a"), "cpu", english),
    "Highest host CPU usage: 91%, planned 62%.",
  );
  const figuresMeasured = [{ host: "h1", cpu: 0.64, memory: 0.5, vms: 3 }];
  t.equal(
    runFigures(run("a", { figuresMeasured }), "cpu", english),
    "Highest host CPU usage: 91%, planned 62%, measured 64%.",
  );
  t.equal(
    runFigures(run("a", { figuresBefore: [] }), "memory", english),
    undefined,
  );
});

t.test(
  "older runs follow the newest, each once and as the newest page has it",
  async (t) => {
    const going = run("b", { status: "pending" });
    t.same(
      joinRuns([run("c"), run("b")], [going, run("a")]).map((one) => [
        one.id,
        one.status,
      ]),
      [
        ["c", "success"],
        ["b", "success"],
        ["a", "success"],
      ],
    );
    t.equal(runTone(going), "busy");
    t.equal(moveTone({ status: "skipped" }), "warn");
  },
);

t.test("interrupted migrations report their progress", async (t) => {
  const step = { kind: "migrate", vm: "v2", to: "h2" };
  const error = new RpcError(-32000, "the plan stopped", {
    code: "STOPPED_MIDWAY",
    done: [step],
    skipped: [step, step],
    failed: [{ step, error: { code: "SR_FULL", message: "no room" } }],
  });
  t.same(midwayOf(error), { done: 1, skipped: 2, vm: "v2", reason: "no room" });
  const aborted = new RpcError(-32000, "given up", {
    code: "ABORTED",
    done: [],
    failed: [],
    skipped: [step],
  });
  t.match(midwayOf(aborted), { done: 0, skipped: 1, reason: "given up" });
  t.equal(midwayOf(new RpcError(2, "forbidden", null)), undefined);
  t.equal(midwayOf(new Error("lost")), undefined);
});
