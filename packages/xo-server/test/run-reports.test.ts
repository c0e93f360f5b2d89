import t from "tap";
import { RunReports } from "../src/backups/report/run-reports.js";
import type { KindRun } from "../src/jobs/job-kind.js";
import type { SendMessage } from "../src/notifications/send-message.js";
import { FakeClock } from "./fake-clock.js";

const job = {
  id: "j",
  type: "backup",
  name: "nightly",
  body: {
    report: { when: "always", addresses: ["a@b.example", "c@d.example"] },
  },
};
const run = { job, runId: "r" } as unknown as KindRun;
const outcome = {
  status: "success",
  body: { vms: [], succeeded: 0, failed: 0, skipped: 0 },
} as const;
const settle = () => new Promise(setImmediate);

function setUp(sendMessage: SendMessage) {
  const clock = new FakeClock();
  const logger = { warn: () => undefined };
  const reports = new RunReports({ sendMessage, clock, logger });
  const kind = reports.ofKind({
    check: () => undefined,
    plan: async () => ({}),
    run: async () => outcome,
  });
  const progress = { hasEnded: false };
  const begin = () => void kind.run(run).then(() => (progress.hasEnded = true));
  return { clock, begin, progress };
}

t.test(
  "a run ends when its report was sent: a server that is killed before continues it, and reports again with the same id",
  async (t) => {
    const sent: string[] = [];
    let answer = () => undefined as void;
    const { begin, progress } = setUp(({ id }) => {
      sent.push(id);
      return new Promise((resolve) => (answer = resolve));
    });
    begin();
    await settle();
    t.equal(new Set(sent).size, 2, "one for each recipient");
    t.notOk(progress.hasEnded);
    answer();

    const other: string[] = [];
    const another = setUp(async ({ id }) => void other.push(id));
    another.begin();
    await settle();
    t.same(other, sent);
    t.ok(another.progress.hasEnded);
  },
);

t.test("a run does not wait for a mail server that is down", async (t) => {
  const failing = setUp(() => Promise.reject(new Error("refused")));
  failing.begin();
  await settle();
  t.ok(failing.progress.hasEnded, "further attempts follow");

  const silent = setUp(() => new Promise(() => undefined));
  silent.begin();
  await settle();
  t.notOk(silent.progress.hasEnded);
  silent.clock.pass(15_000);
  await settle();
  t.ok(silent.progress.hasEnded);
});
