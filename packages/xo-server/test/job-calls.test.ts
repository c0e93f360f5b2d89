import { XoError } from "@xo-server/model";
import t from "tap";
import { CallLog } from "../src/jobs/call-log.js";
import { RunCaller, type CallerOptions } from "../src/jobs/caller.js";
import { inParallel } from "../src/jobs/in-parallel.js";
import { readableTo } from "../src/objects/readable.js";
import { onBehalfOf } from "../src/operations/on-behalf.js";
import type { CallContext } from "../src/operations/operation.js";
import type { AuthenticatedUser } from "../src/auth/users/authenticated-user.js";
import { Rights } from "../src/rights/rights.js";
import { untrackedTask } from "../src/tasks/task-context.js";
import { FakeClock } from "./fake-clock.js";

const ada: AuthenticatedUser = {
  id: "ada",
  name: "ada",
  isAdmin: true,
  groups: [],
  rights: Rights.all,
};
const turn = () => new Promise((resolve) => setImmediate(resolve));

function createCaller(
  call: (context: CallContext) => Promise<unknown>,
  more: Partial<CallerOptions> = {},
) {
  const log = new CallLog();
  const clock = new FakeClock();
  const abort = new AbortController();
  const caller = new RunCaller({
    call: (_name, _params, context) => call(context),
    users: { get: (id) => (id === "ada" ? ada : undefined) },
    log,
    clock,
    job: { id: "j", userId: "ada" },
    work: { ...untrackedTask, signal: abort.signal },
    isStopping: () => false,
    ...more,
  });
  return { caller, log, clock, abort };
}

t.test(
  "a call runs as the user and names the job in the audit log",
  async (t) => {
    const contexts: CallContext[] = [];
    const { caller, log } = createCaller((context) => {
      contexts.push(context);
      return Promise.resolve({ id: "x", $getFrom: "/api/secret", token: "t" });
    });
    await caller.call("vm.start", { id: "x", password: "hush" });
    t.match(contexts, [{ user: ada, permission: "admin", address: "job:j" }]);
    t.match(log.toBody(), {
      succeeded: 1,
      failed: 0,
      calls: [
        { method: "vm.start", params: { id: "x", password: "[redacted]" } },
      ],
    });
    t.same(log.toBody().calls[0]?.result, { id: "x", token: "[redacted]" });
  },
);

t.test("readable objects exist for the call", async (t) => {
  const eve = { ...ada, isAdmin: false, rights: Rights.none };
  const isNothing = (person: AuthenticatedUser) => {
    const readable = readableTo(onBehalfOf(person))("host");
    return readable !== undefined && !readable({ id: "h", type: "host" });
  };
  t.equal(isNothing(ada), false);
  t.equal(isNothing(eve), true);
});

t.test("text that is not an id is not shown", async (t) => {
  const { caller, log } = createCaller(() =>
    Promise.resolve("Wm9xIrGq_secret"),
  );
  await caller.call("x.y", {});
  t.notOk("result" in log.toBody().calls[0]!);
});

t.test("without its user nothing is called", async (t) => {
  const { caller } = createCaller(() => Promise.resolve(true), {
    job: { id: "j", userId: "gone" },
  });
  await t.rejects(caller.call("x.y", {}), { code: "FORBIDDEN" });
});

t.test(
  "a call that times out is abandoned even if it ignores its signal",
  async (t) => {
    let received: AbortSignal | undefined;
    const { caller, log, clock } = createCaller(
      ({ task: work }) => {
        received = work?.signal;
        return new Promise(() => undefined);
      },
      { timeout: 1_000 },
    );
    const called = t.rejects(caller.call("x.y", {}), { code: "CALL_TIMEOUT" });
    await turn();
    t.equal(received?.aborted, false);
    clock.pass(1_000);
    t.equal(received?.aborted, true);
    clock.pass(5_000);
    await called;
    t.match(log.toBody(), { calls: [{ error: { code: "CALL_TIMEOUT" } }] });
    t.equal(clock.waiting, 0);
  },
);

t.test("parts of a call are notified too", async (t) => {
  const parts: AbortSignal[] = [];
  const { caller, clock } = createCaller(
    async ({ task: work }) => {
      await work?.part("a", async (part) => {
        parts.push(part.signal);
        await new Promise((_, reject) => {
          part.signal.addEventListener("abort", () => {
            reject(new XoError("ABORTED", { what: "it" }));
          });
        });
      });
    },
    { timeout: 1_000 },
  );
  const called = t.rejects(caller.call("x.y", {}), { code: "CALL_TIMEOUT" });
  await turn();
  clock.pass(1_000);
  await called;
  t.equal(parts[0]?.aborted, true);
});

t.test("an aborted run ends its calls", async (t) => {
  const { caller, clock, abort } = createCaller(
    () => new Promise(() => undefined),
  );
  const called = t.rejects(caller.call("x.y", {}), { code: "ABORTED" });
  await turn();
  t.notOk(caller.isOver);
  abort.abort();
  t.ok(caller.isOver);
  clock.pass(5_000);
  await called;
});

t.test("failed calls are logged first", async (t) => {
  const log = new CallLog();
  const call = { method: "x.y", start: 1, end: 2 };
  for (let i = 0; i < 5_000; i++) log.succeed({ ...call, params: { i } }, true);
  log.fail(
    { ...call, params: { long: "x".repeat(5_000) } },
    new Error("secret"),
  );
  const body = log.toBody();
  t.match(body, { succeeded: 5_000, failed: 1, leftOut: Number });
  t.equal(body.calls.length + body.leftOut!, 5_001);
  t.match(body.calls.at(-1), {
    params: { leftOut: /characters/ },
    error: { message: "internal error" },
  });
  t.ok(JSON.stringify(body).length < 210_000);
});

t.test(
  "a limited number at a time, in their order, until all have ended",
  async (t) => {
    let now = 0;
    let most = 0;
    const done: number[] = [];
    const members = Array.from({ length: 20 }, (_, i) => i);
    const left = await inParallel(
      members,
      { concurrency: 3, isOver: () => done.length >= 10 },
      async (i) => {
        most = Math.max(most, ++now);
        await turn();
        now--;
        done.push(i);
      },
    );
    t.equal(most, 3);
    t.equal(left, 20 - done.length);
    t.same(done, members.slice(0, done.length));
  },
);
