import t, { type Test } from "tap";
import type { XapiEvents, XapiState } from "../src/index.js";
import { clientOf, startPool } from "./client.js";
import { FakeClock, until } from "./fake-clock.js";
import { ownAddress } from "./loopback.js";
import { POOL, poolScript, TOKEN, type FakeScript } from "./fake-xapi.js";
import { isLogin } from "./logins.js";

/** A client that is connected to the coordinator and knows the hosts of its pool. */
async function connectKnowingHosts(t: Test, script: FakeScript) {
  const old = await startPool(t, script);
  const kept: unknown[] = [];
  const clock = new FakeClock();
  const xapi = clientOf(t, old, {
    clock,
    onCandidates: (list) => kept.push(list),
  });
  await xapi.connect();
  await until(() => kept.length > 0);
  return { old, clock, xapi };
}

/** Lets the time pass, and what happens then reach the other side. */
async function pass(clock: FakeClock, ms: number): Promise<void> {
  clock.advance(ms);
  for (let i = 0; i < 50; i++)
    await new Promise((resolve) => setImmediate(resolve));
}

t.test(
  "HOST_IS_SLAVE: connects to the coordinator on the same port",
  async (t) => {
    const coordinator = await startPool(t, poolScript(), ownAddress(1));
    const member = await startPool(
      t,
      () => ({ error: ["HOST_IS_SLAVE", ownAddress(1)] }),
      ownAddress(0),
      coordinator.port,
    );
    const xapi = clientOf(t, member);
    const states: string[] = [];
    xapi.onState((state) =>
      states.push(
        "address" in state ? `${state.name} ${state.address}` : state.name,
      ),
    );
    await xapi.connect();
    const { port } = coordinator;
    t.same(states, [
      `connecting ${ownAddress(0)}:${port}`,
      `connecting ${ownAddress(1)}:${port}`,
      `connected ${ownAddress(1)}:${port}`,
    ]);
  },
);

t.test(
  "HOST_IS_SLAVE in a call: logs in at the coordinator and retries the call there",
  async (t) => {
    const next = await startPool(
      t,
      poolScript(({ method }) =>
        method === "VM.start" ? { value: "" } : undefined,
      ),
      ownAddress(1),
    );
    const first = await startPool(
      t,
      poolScript(({ method }) =>
        method === "VM.start"
          ? { error: ["HOST_IS_SLAVE", ownAddress(1)] }
          : undefined,
      ),
      ownAddress(0),
      next.port,
    );
    const xapi = clientOf(t, first);
    await xapi.connect();
    t.equal(await xapi.call("VM.start", ["OpaqueRef:1", false, false]), "");
    t.match(xapi.state, {
      name: "connected",
      address: `${ownAddress(1)}:${next.port}`,
      generation: 2,
    });
  },
);

t.test(
  "members that name each other as coordinator do not cause a loop",
  async (t) => {
    const a = await startPool(t, () => ({
      error: ["HOST_IS_SLAVE", ownAddress(1)],
    }));
    await startPool(
      t,
      () => ({ error: ["HOST_IS_SLAVE", "127.0.0.1"] }),
      ownAddress(1),
      a.port,
    );
    const clock = new FakeClock();
    const xapi = clientOf(t, a, { clock });
    void xapi.connect().catch(() => undefined);
    await until(() => xapi.state.name === "backing-off");
    t.equal(a.methods.filter(isLogin).length, 1);
  },
);

t.test(
  "a coordinator name that is not an address is not followed",
  async (t) => {
    const pool = await startPool(t, () => ({
      error: ["HOST_IS_SLAVE", "evil.example/path?x"],
    }));
    const xapi = clientOf(t, pool, { clock: new FakeClock() });
    void xapi.connect().catch(() => undefined);
    await until(() => xapi.state.name === "backing-off");
    t.match(xapi.state, { cause: { code: "HOST_IS_SLAVE" } });
  },
);

t.test(
  "when the coordinator is unreachable the members are tried and the new coordinator is used",
  async (t) => {
    const host = (address: string) => ({
      uuid: address,
      address,
      name_label: address,
    });
    const hosts = {
      "OpaqueRef:h1": host("127.0.0.1"),
      "OpaqueRef:h2": host(ownAddress(1)),
      "OpaqueRef:h3": host(ownAddress(2)),
    };
    const withHosts = poolScript(({ method }) =>
      method === "host.get_all_records" ? { value: hosts } : undefined,
    );
    const old = await startPool(t, withHosts);
    const kept: string[][] = [];
    const clock = new FakeClock();
    const xapi = clientOf(t, old, {
      clock,
      onCandidates: (list) => kept.push([...list]),
    });
    await xapi.connect();
    await until(() => kept.length > 0);
    const { port } = old;
    t.same(kept, [
      ["127.0.0.1", ownAddress(1), ownAddress(2)].map(
        (address) => `http://${address}:${port}`,
      ),
    ]);
    const states: XapiState[] = [];
    xapi.onState((state) => states.push(state));
    // Member 2 is rebooting as well; member 3 has become the coordinator.
    await startPool(t, withHosts, ownAddress(2), port);
    await old.close();
    await t.rejects(xapi.call("VM.start", ["OpaqueRef:1", false, false]), {
      code: "RESULT_UNKNOWN",
    });
    await until(() => states.at(-1)?.name === "connected");
    t.match(states.at(-1), {
      address: `${ownAddress(2)}:${port}`,
      generation: 2,
    });
  },
);

t.test(
  "a coordinator that accepts connections without answering is replaced after 18 s; members that name it do not delay the new one",
  async (t) => {
    const host = (address: string) => ({
      uuid: address,
      address,
      name_label: address,
    });
    const addresses = ["127.0.0.1", ...[1, 2, 3].map(ownAddress)];
    const hosts = Object.fromEntries(
      addresses.map((address) => [`OpaqueRef:${address}`, host(address)]),
    );
    const withHosts = poolScript(({ method }) =>
      method === "host.get_all_records"
        ? { value: hosts }
        : method === "event.from"
          ? { silent: true }
          : undefined,
    );
    const { old, clock, xapi } = await connectKnowingHosts(t, withHosts);
    const { port } = old;
    const slave: FakeScript = () => ({ error: ["HOST_IS_SLAVE", "127.0.0.1"] });
    await startPool(t, slave, ownAddress(1), port);
    await startPool(t, slave, ownAddress(2), port);
    await startPool(t, withHosts, ownAddress(3), port);
    old.answer(() => ({ silent: true }));
    const stream = xapi.events({ from: TOKEN });
    const items: XapiEvents[] = [];
    void (async () => {
      for await (const item of stream) items.push(item);
    })();
    const start = clock.now();
    const isBack = () =>
      xapi.state.name === "connected" && xapi.state.generation === 2;
    while (!isBack()) {
      await pass(clock, 100);
    }
    const tookMs = clock.now() - start;
    t.ok(tookMs < 25_000, `followed after ${tookMs} ms`);
    t.match(xapi.state, { address: `${ownAddress(3)}:${port}` });
    t.match(items[0], { kind: "silent" });
  },
);

t.test(
  "a coordinator that stops answering while a class is listed is replaced within 19 s, and the list continues with the new one at once",
  async (t) => {
    const hosts = Object.fromEntries(
      ["127.0.0.1", ownAddress(1)].map((address) => [
        `OpaqueRef:${address}`,
        { uuid: address, address, name_label: address },
      ]),
    );
    const script = poolScript(({ method }) => {
      if (method === "host.get_all_records") return { value: hosts };
      return method === "VM.get_all_records" ? { value: {} } : undefined;
    });
    const { old, clock, xapi } = await connectKnowingHosts(t, script);
    await startPool(t, script, ownAddress(1), old.port);
    old.answer(() => ({ silent: true }));
    const start = clock.now();
    let isListed = false;
    const list = xapi.listRecords("VM", { onBatch: () => undefined });
    void list.then(() => (isListed = true));
    while (!isListed) {
      await pass(clock, 100);
    }
    t.match(xapi.state, { address: `${ownAddress(1)}:${old.port}` });
    const tookMs = clock.now() - start;
    t.ok(tookMs < 19_000, `listed after ${tookMs} ms`);
  },
);

t.test(
  "a pool cannot send the password elsewhere: no port, and once its hosts are known no other address",
  async (t) => {
    const trap = await startPool(t, poolScript(), ownAddress(2));
    const hosts = {
      "OpaqueRef:h1": { uuid: "h1", address: ownAddress(0), name_label: "" },
    };
    const pool = await startPool(
      t,
      poolScript(({ method }) =>
        method === "host.get_all_records" ? { value: hosts } : undefined,
      ),
      ownAddress(0),
      trap.port,
    );
    const other = await startPool(t, poolScript(), ownAddress(0));
    const elsewhere = `${ownAddress(0)}:${other.port}`;
    const clock = new FakeClock();
    const kept: unknown[] = [];
    const xapi = clientOf(t, pool, {
      clock,
      onCandidates: (list) => kept.push(list),
    });
    await xapi.connect();
    await until(() => kept.length > 0);
    pool.answer(({ method }) => ({
      error: [
        "HOST_IS_SLAVE",
        method === "VM.get_all" ? ownAddress(2) : elsewhere,
      ],
    }));
    void xapi.call("VM.get_all").catch(() => undefined);
    await until(() => xapi.state.name === "backing-off");
    t.same(trap.calls, []);
    t.same(other.calls, []);
  },
);

t.test(
  "a discovered address that now belongs to another pool is not used",
  async (t) => {
    const hosts = {
      "OpaqueRef:h2": { uuid: "h2", address: ownAddress(1), name_label: "" },
    };
    const mine = await startPool(
      t,
      poolScript(({ method }) =>
        method === "host.get_all_records" ? { value: hosts } : undefined,
      ),
    );
    const other = await startPool(
      t,
      poolScript(({ method }) =>
        method === "pool.get_all_records"
          ? { value: { [POOL]: { uuid: "another" } } }
          : undefined,
      ),
      ownAddress(1),
      mine.port,
    );
    let learned = 0;
    const xapi = clientOf(t, mine, {
      clock: new FakeClock(),
      onCandidates: () => learned++,
    });
    await xapi.connect();
    await until(() => learned > 0);
    await mine.close();
    void xapi.call("VM.get_all").catch(() => undefined);
    await until(() => xapi.state.name === "backing-off");
    t.match(xapi.state, { cause: { code: "NO_CANDIDATE" } });
    t.ok(
      other.methods.includes("session.logout"),
      "its session is not left behind",
    );
  },
);

t.test(
  "a coordinator that accepts connections without answering is detected by a call, and the members are tried first",
  async (t) => {
    const hosts = {
      "OpaqueRef:h2": { uuid: "h2", address: ownAddress(1), name_label: "" },
    };
    const withHosts = poolScript(({ method }) =>
      method === "host.get_all_records"
        ? { value: hosts }
        : method === "VM.get_all"
          ? { value: [] }
          : undefined,
    );
    const old = await startPool(t, withHosts);
    await startPool(t, withHosts, ownAddress(1), old.port);
    const clock = new FakeClock();
    let learned = 0;
    const xapi = clientOf(t, old, {
      clock,
      connectTimeoutMs: 5_000,
      onCandidates: () => learned++,
    });
    await xapi.connect();
    await until(() => learned > 0);
    old.answer(() => ({ silent: true }));
    const before = old.calls.length;
    const call = xapi.call("VM.get_all", [], { timeoutMs: 1_000 });
    await until(() => old.calls.length > before);
    clock.advance(1_000);
    await t.rejects(call, { code: "CALL_TIMEOUT" });
    await until(() => old.methods.at(-1) === "session.get_uuid");
    const states: string[] = [];
    xapi.onState((state) =>
      states.push(
        "address" in state ? `${state.name} ${state.address}` : state.name,
      ),
    );
    clock.advance(5_000);
    await until(() => xapi.counters.logins === 2);
    t.same(states, [
      `connecting ${ownAddress(1)}:${old.port}`,
      `connected ${ownAddress(1)}:${old.port}`,
    ]);
    t.same(await xapi.call("VM.get_all"), []);
  },
);
