import t, { type Test } from "tap";
import { clientOf, startPool } from "./client.js";
import { FakeClock, until } from "./fake-clock.js";
import { poolScript, SESSION, type FakeReply } from "./fake-xapi.js";

const OTHER = "OpaqueRef:5e551011-0000-4000-8000-0000000000ff";
const TASK = "OpaqueRef:7a5c0000-0000-4000-8000-000000000001";

/** A pool with another session that has one task. */
async function setUp(t: Test, logout: FakeReply = { value: "" }) {
  const clock = new FakeClock();
  const state = { status: "pending", isThere: true };
  const pool = await startPool(
    t,
    poolScript(({ method, params }) => {
      if (method === "session.logout" && params[0] === OTHER) {
        state.isThere = false;
        return logout;
      }
      if (method === "session.get_tasks")
        return state.isThere
          ? { value: [TASK] }
          : { error: ["HANDLE_INVALID", "session", OTHER] };
      if (method === "task.get_all_records")
        return { value: { [TASK]: { status: state.status } } };
      return undefined;
    }),
  );
  const xapi = clientOf(t, pool, { clock });
  await xapi.connect();
  const logouts = () =>
    pool.calls.filter(({ method }) => method === "session.logout");
  const reads = () =>
    pool.methods.filter((method) => method === "task.get_all_records").length;
  /** Time passes until the call has settled. */
  const settled = async (call: Promise<unknown>) => {
    let isSettled = false;
    const settle = () => (isSettled = true);
    call.then(settle, settle);
    await until(() => {
      clock.endPauses(1_000);
      return isSettled;
    });
  };
  return { clock, pool, xapi, state, logouts, reads, settled };
}

const { signal } = new AbortController();

t.test("a session is logged out when its tasks have ended", async (t) => {
  const { xapi, clock, state, logouts, reads, settled } = await setUp(t);
  const end = xapi.endSession(OTHER, signal);
  await until(() => {
    clock.endPauses(1_000);
    return reads() >= 3;
  });
  t.same(logouts(), [], "its task is pending");
  state.status = "success";
  await settled(end);
  await end;
  t.same(
    logouts().map(({ params }) => params),
    [[OTHER]],
  );
  t.equal(await xapi.session(), SESSION, "the client has its own session");
  t.equal(xapi.state.name, "connected");
});

t.test("a session that does not exist is not logged out", async (t) => {
  const { xapi, state, logouts } = await setUp(t);
  state.isThere = false;
  await xapi.endSession(OTHER, signal);
  t.same(logouts(), []);
});

t.test("a session that ends by itself meanwhile has ended", async (t) => {
  const answer = { error: ["SESSION_INVALID", OTHER] };
  const { xapi, state, settled } = await setUp(t, answer);
  state.status = "failure";
  const end = xapi.endSession(OTHER, signal);
  await settled(end);
  await end;
  t.equal(xapi.state.name, "connected");
});

t.test(
  "a session with pending tasks is left when the caller gives up",
  async (t) => {
    const { xapi, logouts, reads } = await setUp(t);
    const given = new AbortController();
    const end = xapi.endSession(OTHER, given.signal);
    await until(() => reads() > 0);
    given.abort();
    await t.rejects(end, { code: "ABORTED" });
    t.same(logouts(), []);
  },
);

t.test("errors do not contain the session", async (t) => {
  const answer = { error: ["INTERNAL_ERROR", OTHER] };
  const { xapi, state } = await setUp(t, answer);
  state.status = "success";
  const error: unknown = await xapi
    .endSession(OTHER, signal)
    .catch((cause: unknown) => cause);
  t.match(error, { code: "INTERNAL_ERROR", params: ["***"] });
});

t.test(
  "the caller gets the session with which a request is sent",
  async (t) => {
    const { xapi } = await setUp(t);
    const used: string[] = [];
    const beforeSend = (session: string) => void used.push(session);
    await xapi.call("pool.get_all_records", [], { beforeSend });
    t.same(used, [SESSION]);
    const refuse = () => {
      throw new Error("another session");
    };
    await t.rejects(
      xapi.callAsync("VM.start", ["OpaqueRef:vm"], { beforeSend: refuse }),
      { message: "another session" },
    );
  },
);
