import t, { type Test } from "tap";
import type { Xapi } from "../src/index.js";
import { clientOf, startPool } from "./client.js";
import { FakeClock } from "./fake-clock.js";
import { poolScript } from "./fake-xapi.js";

/** Defaults of the options, in ms. */
const UNREACHABLE_MS = 60_000;
const CALL_TIMEOUT_MS = 300_000;
/** More than the time between two looks at the pool, in ms. */
const LATE_MS = 3_000;

/** A client of a pool that does not listen any more, or refuses logins. */
async function setUp(t: Test, refusal?: string) {
  const clock = new FakeClock();
  const pool = await startPool(t);
  const xapi = clientOf(t, pool, { clock });
  if (refusal === undefined) await pool.close();
  else pool.answer(() => ({ error: [refusal] }));
  // Its failure is that of the calls.
  xapi.connect().catch(() => undefined);
  /** Advances the clock until the call has ended. @returns its error, and the time that it took */
  const end = async (run: (xapi: Xapi) => Promise<unknown>) => {
    const begunAt = clock.now();
    const running = run(xapi).then(
      (value) => ({ value, error: undefined }),
      (error: unknown) => ({ value: undefined, error }),
    );
    const hurry = setInterval(() => {
      clock.advance(1_000);
    }, 2);
    const ended = await running;
    clearInterval(hurry);
    return { ...ended, ms: clock.now() - begunAt };
  };
  return { clock, pool, xapi, end };
}

function isWithin(t: Test, ms: number, limitMs: number) {
  t.ok(ms >= limitMs && ms <= limitMs + LATE_MS, `${ms} ms`);
}

const calls: Readonly<Record<string, (xapi: Xapi) => Promise<unknown>>> = {
  "VM.get_record": (xapi) => xapi.call("VM.get_record", ["OpaqueRef:1"]),
  "VM.start": (xapi) => xapi.call("VM.start", ["OpaqueRef:1"]),
  "Async.VM.start": (xapi) => xapi.callAsync("VM.start", ["OpaqueRef:1"]),
  "VM.clone": (xapi) => xapi.session({ method: "VM.clone" }),
  "/export": (xapi) => xapi.getStream({ path: "/export" }),
};

for (const [method, run] of Object.entries(calls))
  t.test(
    `${method} ends after a minute if the pool cannot be reached, and names the cause`,
    async (t) => {
      const { end } = await setUp(t);
      const { error, ms } = await end(run);
      t.match(error, {
        code: "CALL_NOT_SENT",
        data: { method, reason: /127\.0\.0\.1.*refused|refused.*127/i },
      });
      isWithin(t, ms, UNREACHABLE_MS);
    },
  );

t.test("a rejected password ends a call after a minute", async (t) => {
  const { end } = await setUp(t, "SESSION_AUTHENTICATION_FAILED");
  const { error, ms } = await end(calls["VM.start"]!);
  t.match(error, { code: "CALL_NOT_SENT", data: { reason: /AUTHENTICATION/ } });
  isWithin(t, ms, UNREACHABLE_MS);
});

t.test("a patient call waits until its time limit", async (t) => {
  const { end } = await setUp(t);
  const { error, ms } = await end((xapi) =>
    xapi.callAsync("VM.start", ["OpaqueRef:1"], { isPatient: true }),
  );
  t.match(error, { code: "CALL_NOT_SENT" });
  isWithin(t, ms, CALL_TIMEOUT_MS);
});

t.test("a pool that is booting is waited for", async (t) => {
  const { clock, pool, end } = await setUp(t, "HOST_STILL_BOOTING");
  const begunAt = clock.now();
  const { value } = await end(async (xapi) => {
    const called = xapi.call("VM.get_name_label", ["OpaqueRef:1"]);
    const isReady = () => clock.now() - begunAt > 2 * UNREACHABLE_MS;
    while (!isReady()) await new Promise((resolve) => setTimeout(resolve, 1));
    pool.answer(
      poolScript(({ method }) =>
        method === "VM.get_name_label" ? { value: "web" } : undefined,
      ),
    );
    return called;
  });
  t.equal(value, "web");
});

t.test("a call that its caller aborts ends at once", async (t) => {
  const { xapi } = await setUp(t);
  const aborting = new AbortController();
  const { signal } = aborting;
  const called = xapi.call("VM.start", ["OpaqueRef:1"], { signal });
  aborting.abort();
  await t.rejects(called, { code: "ABORTED" });
});
