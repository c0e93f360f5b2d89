import t, { type Test } from "tap";
import type { MonotonicClock } from "@xo-server/kit";
import { createParserPool } from "@xo-server/parser-pool";
import { startPool } from "@xo-server/xapi-sim";
import { createXapi } from "@xo-server/xen-api";
import { FaultyLink } from "./faulty-link.js";

/** Passes only on request. */
class ManualClock implements MonotonicClock {
  #now = 0;
  readonly #timers = new Map<object, { at: number; end: () => void }>();

  now(): number {
    return this.#now;
  }

  setTimeout(end: () => void, ms: number): object {
    const timer = {};
    this.#timers.set(timer, { at: this.#now + ms, end });
    return timer;
  }

  clearTimeout(timer: unknown): void {
    this.#timers.delete(timer as object);
  }

  advance(ms: number): void {
    this.#now += ms;
    for (const [timer, { at, end }] of [...this.#timers])
      if (at <= this.#now && this.#timers.delete(timer)) end();
  }
}

/** A client of a pool, with calls that pass a network. */
async function setUp(t: Test) {
  const clock = new ManualClock();
  const pool = await startPool({
    hosts: 2,
    vms: 20,
    pace: 0,
    prepare: ["json"],
  });
  t.teardown(() => pool.stop());
  const link = await FaultyLink.open(pool.url);
  t.teardown(() => link.stop());
  const decoder = createParserPool({ maxThreads: 1 });
  t.teardown(() => decoder.close());
  const xapi = createXapi({
    hosts: [link.url],
    user: pool.user,
    password: pool.password,
    transport: "json-rpc",
    decoder,
    clock,
  });
  t.teardown(() => xapi.disconnect());
  await xapi.connect();
  // One connection is idle: the client has requested the members of the pool by itself.
  while (!link.called.includes("host.get_all_records"))
    await new Promise((resolve) => setImmediate(resolve));
  await xapi.call("host.get_all_records");
  await xapi.call("pool.get_all");
  const { database } = pool;
  const vm = [...database.refs("VM")].find((ref) => {
    const one = database.get("VM", ref);
    return one["power_state"] === "Halted" && one["is_a_template"] === false;
  })!;
  return {
    pool,
    link,
    database,
    vm,
    vbd: (database.get("VM", vm)["VBDs"] as string[])[0]!,
    host: [...database.refs("host")][0]!,
    times: (method: string) =>
      link.called.filter((one) => one === method).length,
    /** Answers of the pool to this method are lost, and its connection stays open. */
    loseAnswer: (method: string, times = 1) => {
      pool.faults.set("hang", { value: true, method, times });
    },
    /** The outcome of a call, and how many seconds it took. */
    call: async (method: string, params: readonly unknown[]) => {
      const startedAt = clock.now();
      let isOver = false;
      const call = xapi.call(method, params).then(
        (value) => ({ value }),
        (error: Error & { code?: string }) => ({ code: error.code }),
      );
      void call.then(() => {
        isOver = true;
      });
      while (!isOver) {
        // Data in transit on the loopback interface arrives meanwhile.
        for (let turns = 0; turns < 20 && !isOver; turns++)
          await new Promise((resolve) => setImmediate(resolve));
        await new Promise((resolve) => setTimeout(resolve, 5));
        if (!isOver) clock.advance(1_000);
      }
      return { ...(await call), seconds: (clock.now() - startedAt) / 1000 };
    },
  };
}

const SOON = 90;

/** @param limit in seconds */
function isWithin(t: Test, seconds: number, limit = SOON) {
  t.ok(seconds <= limit, `${seconds} s are not more than ${limit} s`);
}

t.test(
  "a read on connections that a firewall no longer knows is sent again on a new one",
  async (t) => {
    const { link, vm, times, call, database } = await setUp(t);
    link.forget();
    const { seconds, ...outcome } = await call("VM.get_name_label", [vm]);
    t.same(outcome, { value: database.get("VM", vm)?.["name_label"] });
    t.equal(times("VM.get_name_label"), 2);
    isWithin(t, seconds, 30);
  },
);

t.test("a list whose answer is lost is read again", async (t) => {
  const { loseAnswer, times, call } = await setUp(t);
  loseAnswer("VM.get_all_records");
  const { seconds, ...outcome } = await call("VM.get_all_records", []);
  t.ok("value" in outcome);
  t.equal(times("VM.get_all_records"), 2);
  isWithin(t, seconds);
});

t.test(
  "an action whose result the pool shows succeeds without its answer, and is sent once",
  async (t) => {
    const { loseAnswer, times, call, vm, vbd, host, database } = await setUp(t);
    const key = { key: "k", value: "v" };
    const network = [...database.refs("network")][0]!;
    const vif = {
      VM: vm,
      network,
      device: "6",
      MAC: "",
      MTU: 1500,
      other_config: {},
      qos_algorithm_type: "",
      qos_algorithm_params: {},
    };
    for (const [method, params] of [
      ["VM.set_name_label", [vm, "renamed"]],
      ["VM.set_blocked_operations", [vm, { destroy: "no" }]],
      ["VM.add_to_other_config", [vm, key.key, key.value]],
      ["VM.remove_from_other_config", [vm, key.key]],
      ["VM.add_tags", [vm, "one"]],
      ["VM.remove_tags", [vm, "one"]],
      ["host.disable", [host]],
      ["host.enable", [host]],
      ["VIF.create", [vif]],
      ["VBD.destroy", [vbd]],
    ] as const) {
      loseAnswer(method);
      const { seconds, ...outcome } = await call(method, params);
      t.ok("value" in outcome, `${method} succeeds ${JSON.stringify(outcome)}`);
      t.equal(times(method), 1, `${method} is sent once`);
      isWithin(t, seconds);
    }
    t.equal(database.get("VM", vm)?.["name_label"], "renamed");
    const made = [...database.refs("VIF")].filter(
      (ref) =>
        database.get("VIF", ref)?.["VM"] === vm &&
        database.get("VIF", ref)?.["device"] === "6",
    );
    t.equal(made.length, 1);
  },
);

t.test(
  "an action whose request is lost fails within a bound, as one of which the result is unknown",
  async (t) => {
    const { link, times, call, vm, database } = await setUp(t);
    const before = database.get("VM", vm)?.["name_label"];
    link.forget();
    const outcome = await call("VM.set_name_label", [vm, "renamed"]);
    t.match(outcome, { code: "RESULT_UNKNOWN" });
    isWithin(t, outcome.seconds);
    t.equal(times("VM.set_name_label"), 1, "it is sent once");
    t.equal(database.get("VM", vm)?.["name_label"], before);
  },
);

t.test(
  "an action whose result is not visible fails within a bound, and is sent once",
  async (t) => {
    const { loseAnswer, times, call, host } = await setUp(t);
    loseAnswer("host.call_plugin");
    const params = [host, "updater.py", "check_update", {}];
    const outcome = await call("host.call_plugin", params);
    t.match(outcome, { code: "RESULT_UNKNOWN" });
    isWithin(t, outcome.seconds, 130);
    t.equal(times("host.call_plugin"), 1, "it is sent once");
  },
);

t.test("lost answers of reads do not keep other calls waiting", async (t) => {
  const { loseAnswer, call, vm } = await setUp(t);
  loseAnswer("VM.get_uuid", 8);
  const lost = Promise.all(
    Array.from({ length: 8 }, () => call("VM.get_uuid", [vm])),
  );
  const { seconds } = await call("VM.get_name_label", [vm]);
  isWithin(t, seconds, 30);
  for (const outcome of await lost) t.ok("value" in outcome);
});
