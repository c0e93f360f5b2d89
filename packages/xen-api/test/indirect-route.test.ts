import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { makeLoopbackCertificate } from "@xo-server/certificate";
import t, { type Test } from "tap";
import type { IndirectRoute, Xapi, XapiOptions } from "../src/index.js";
import { createClient, keepingLogger, PASSWORD } from "./client.js";
import { FakeClock, msUntil, until } from "./fake-clock.js";
import { FakeXapi, poolScript } from "./fake-xapi.js";

const certificate = makeLoopbackCertificate();
const other = makeLoopbackCertificate();
const POOL_IS_DOWN = "the pool is down for all";

/** The network between a client and a pool. While it drops, no connection is accepted. */
class Network {
  isDropping = false;
  readonly #target: number;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((client) => {
    this.#add(client);
    if (this.isDropping) return;
    const pool = connect(this.#target, "127.0.0.1");
    this.#add(pool);
    client.pipe(pool).pipe(client);
  });

  constructor(target: number) {
    this.#target = target;
  }

  async listen(port = 0): Promise<void> {
    this.#server.listen(port, "127.0.0.1");
    await once(this.#server, "listening");
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  drop(): void {
    this.isDropping = true;
    for (const socket of this.#sockets) socket.unpipe().pause();
  }

  /** Connections are refused from now on. */
  async refuse(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #add(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => this.#sockets.delete(socket));
  }
}

/** Passes connections to the pool as another server does. */
class FakeRoute implements IndirectRoute {
  readonly requested: string[] = [];
  readonly isAvailable = true;
  readonly via = "xo2";
  target: number | undefined;
  hasSockets = true;
  #open = 0;

  /** @param target port of the pool; undefined: no server reaches it */
  constructor(target: number | undefined) {
    this.target = target;
  }

  /** Connections that are open now. */
  get open(): number {
    return this.#open;
  }

  async connect(member: string) {
    this.requested.push(member);
    if (this.target === undefined) throw new Error(POOL_IS_DOWN);
    const socket = connect(this.target, "127.0.0.1");
    await once(socket, "connect");
    this.#open++;
    socket.once("close", () => this.#open--);
    return { socket, via: this.via };
  }

  async listen(member: string): Promise<string> {
    if (!this.hasSockets) throw new Error("no sockets");
    return `socket to ${member}`;
  }
}

async function setUp(
  t: Test,
  {
    shown = certificate,
    ...options
  }: Partial<XapiOptions> & {
    shown?: typeof certificate;
  } = {},
) {
  const pool = await new FakeXapi(
    poolScript(({ method }) =>
      method === "VM.get_all" || method === "VM.start"
        ? { value: method === "VM.start" ? "" : [] }
        : undefined,
    ),
    shown,
  ).listen();
  const network = new Network(pool.port);
  await network.listen();
  const clock = new FakeClock();
  const route = new FakeRoute(pool.port);
  const logger = keepingLogger();
  const xapi = createClient({
    hosts: `127.0.0.1:${network.port}`,
    user: "root",
    password: PASSWORD,
    transport: "json-rpc",
    clock,
    route,
    logger,
    tls: { fingerprint: certificate.fingerprint },
    ...options,
  });
  t.teardown(async () => {
    await xapi.disconnect();
    await network.refuse().catch(() => undefined);
    await pool.close();
  });
  return { pool, network, clock, route, logger, xapi };
}

const viaOf = ({ state }: Xapi) =>
  state.name === "connected" ? state.via : "not connected";

/** @returns the value, and after which time of the clock, in ms */
async function timed<T>(clock: FakeClock, promise: Promise<T>) {
  let isSettled = false;
  const settle = () => (isSettled = true);
  promise.then(settle, settle);
  const ms = await msUntil(clock, () => isSettled);
  return { ms, outcome: await Promise.allSettled([promise]) };
}

t.test("a pool that is reached is connected directly", async (t) => {
  const { xapi, route } = await setUp(t);
  await xapi.connect();
  t.equal(viaOf(xapi), undefined);
  t.same(route.requested, []);
});

t.test(
  "if packets are dropped, a call that waits is sent through the other way, within seconds",
  async (t) => {
    const { xapi, network, clock, route, logger, pool } = await setUp(t);
    await xapi.connect();
    await xapi.call("VM.get_all");
    network.drop();
    const { ms, outcome } = await timed(clock, xapi.call("VM.get_all"));
    t.match(outcome, [{ status: "fulfilled", value: [] }]);
    t.ok(ms < 10_000, `${ms} ms of the clock; without it 20 s`);
    t.equal(viaOf(xapi), "xo2");
    t.equal(route.requested[0], `https://127.0.0.1:${network.port}`);
    t.ok(logger.lines.some(({ message }) => /but through xo2$/.test(message)));
    t.equal(
      pool.calls.filter(({ method }) => /login/.test(method)).length,
      1,
      "in the same session",
    );
    const next = await timed(clock, xapi.call("VM.get_all"));
    t.ok(next.ms < 1_000, "the next call does not wait for the direct way");
  },
);

t.test("it is reached directly again when that is possible", async (t) => {
  const { xapi, network, clock, route, logger } = await setUp(t);
  await xapi.connect();
  network.drop();
  await timed(clock, xapi.call("VM.get_all"));
  await msUntil(clock, () => viaOf(xapi) === "xo2");
  network.isDropping = false;
  await msUntil(clock, () => viaOf(xapi) === undefined);
  const before = route.requested.length;
  t.match((await timed(clock, xapi.call("VM.get_all"))).outcome, [
    { status: "fulfilled" },
  ]);
  t.equal(route.requested.length, before);
  t.ok(logger.lines.some(({ message }) => /directly again$/.test(message)));
  await until(() => route.open === 0);
});

t.test("a refused connection goes the other way at once", async (t) => {
  const { xapi, network, clock } = await setUp(t);
  await network.refuse();
  const { ms, outcome } = await timed(clock, xapi.connect());
  t.match(outcome, [{ status: "fulfilled" }]);
  t.ok(ms < 1_000, `${ms} ms`);
  await msUntil(clock, () => viaOf(xapi) === "xo2");
});

t.test("a lost packet does not change the way", async (t) => {
  const { xapi, network, clock, route } = await setUp(t);
  network.isDropping = true;
  const connected = xapi.connect();
  await msUntil(clock, () => route.requested.length > 0);
  network.isDropping = false;
  await timed(clock, connected);
  await timed(clock, xapi.call("VM.get_all"));
  await msUntil(clock, () => route.open === 0);
  t.equal(viaOf(xapi), undefined);
});

t.test(
  "an invalid certificate is not a reason for the other way",
  async (t) => {
    const { xapi, route } = await setUp(t, { shown: other });
    await t.rejects(xapi.connect(), { code: "TLS_FINGERPRINT_MISMATCH" });
    t.same(route.requested, []);
  },
);

/** Connects in vain. @returns the error, and after which time of the clock, in ms */
async function failure(xapi: Xapi, clock: FakeClock) {
  // The client retries until it is disconnected.
  xapi.connect().catch(() => undefined);
  const ms = await msUntil(clock, () => xapi.state.name === "backing-off");
  const { state } = xapi;
  return { ms, cause: state.name === "backing-off" ? state.cause : undefined };
}

t.test("the certificate is verified through the other way too", async (t) => {
  const { xapi, network, clock, pool, route } = await setUp(t, {
    shown: other,
  });
  await network.refuse();
  const { cause } = await failure(xapi, clock);
  t.match(cause, { code: "CONNECTION_REFUSED" });
  t.equal(route.requested.length, 1);
  t.same(pool.calls, []);
});

t.test(
  "a pool that is down fails as it does without another way",
  async (t) => {
    for (const way of ["refused", "dropped"]) {
      const { xapi, network, clock, route } = await setUp(t);
      route.target = undefined;
      if (way === "refused") await network.refuse();
      else network.drop();
      const { ms, cause } = await failure(xapi, clock);
      const code =
        way === "refused" ? "CONNECTION_REFUSED" : "CONNECTION_TIMEOUT";
      t.match(cause, { code });
      t.ok(ms <= (way === "refused" ? 100 : 10_100), `${ms} ms`);
    }
  },
);

t.test("members that are down are not requested each time", async (t) => {
  const { xapi, network, clock, route } = await setUp(t);
  route.target = undefined;
  await network.refuse();
  await failure(xapi, clock);
  await msUntil(clock, () => route.requested.length >= 5);
  const start = clock.now();
  await msUntil(clock, () => route.requested.length >= 8);
  t.ok(clock.now() - start > 40_000);
});

t.test(
  "another process gets a socket through which it reaches the member",
  async (t) => {
    const { xapi, network, clock, route } = await setUp(t);
    await xapi.connect();
    const direct = await xapi.streamTarget({ path: "/x" });
    t.notMatch(direct, { socketPath: String });
    const member = `https://127.0.0.1:${network.port}`;
    await network.refuse();
    const get = () => timed(clock, xapi.streamTarget({ path: "/x" }));
    t.match((await get()).outcome, [
      {
        value: {
          ...direct,
          socketPath: `socket to ${member}`,
        },
      },
    ]);
    route.hasSockets = false;
    t.match((await get()).outcome, [
      { reason: { code: "UNREACHABLE", message: /no sockets/ } },
    ]);
  },
);

t.test(
  "a disk is read by NBD in the same way as the pool is reached",
  async (t) => {
    const { xapi, network, clock, route } = await setUp(t);
    const server = { address: "192.0.2.1", port: 10809, vdi: "OpaqueRef:d" };
    await xapi.connect();
    t.equal(await xapi.nbdSocket(server), undefined, "directly");
    network.drop();
    await timed(clock, xapi.call("VM.get_all"));
    await msUntil(clock, () => viaOf(xapi) === "xo2");
    t.equal(
      await xapi.nbdSocket(server),
      "socket to nbd://192.0.2.1:10809/OpaqueRef:d",
    );
    t.equal(
      await xapi.nbdSocket({ ...server, address: "2001:db8::1" }),
      "socket to nbd://[2001:db8::1]:10809/OpaqueRef:d",
    );
    route.hasSockets = false;
    await t.rejects(xapi.nbdSocket(server), { code: "UNREACHABLE" });
  },
);

t.test(
  "a client opens connections to the NBD servers of a disk for others, and to no others",
  async (t) => {
    const { xapi, pool } = await setUp(t);
    const nbd = createServer().listen(0, "127.0.0.1");
    await once(nbd, "listening");
    t.teardown(() => nbd.close());
    const { port } = nbd.address() as AddressInfo;
    pool.answer(
      poolScript(({ method, params }) =>
        method === "VDI.get_nbd_info" && params[1] === "OpaqueRef:d"
          ? { value: [{ address: "127.0.0.1", port: String(port) }] }
          : undefined,
      ),
    );
    const open = (url: string) =>
      xapi.openMember(url, new AbortController().signal);
    const url = `nbd://127.0.0.1:${port}/OpaqueRef:d`;
    await t.rejects(open(url), { code: "UNSUPPORTED" }, "not connected");
    await xapi.connect();
    const socket = await open(url);
    t.equal(socket.remotePort, port);
    socket.destroy();
    for (const other of [
      `nbd://127.0.0.1:${port + 1}/OpaqueRef:d`,
      `nbd://127.0.0.2:${port}/OpaqueRef:d`,
      `nbd://169.254.169.254:80/OpaqueRef:d`,
    ])
      await t.rejects(
        open(other),
        { code: "UNSUPPORTED", message: /does not name it for this disk/ },
        other,
      );
    await t.rejects(open(`nbd://127.0.0.1:${port}/OpaqueRef:e`));
  },
);

t.test("a client opens connections to members for others", async (t) => {
  const { xapi, network, clock } = await setUp(t);
  const open = (member: string) =>
    xapi.openMember(member, new AbortController().signal);
  const member = `https://127.0.0.1:${network.port}`;
  await t.rejects(open(member), { code: "UNSUPPORTED" }, "not connected");
  await xapi.connect();
  const socket = await open(member);
  t.equal(socket.remotePort, network.port);
  socket.destroy();
  for (const unknown of [
    "https://127.0.0.1:1",
    `http://127.0.0.1:${network.port}`,
    "https://169.254.169.254",
  ])
    await t.rejects(open(unknown), { code: "UNSUPPORTED" }, unknown);
  network.drop();
  await timed(clock, xapi.call("VM.get_all"));
  await msUntil(clock, () => viaOf(xapi) === "xo2");
  await t.rejects(open(member), { code: "UNSUPPORTED" }, "no loops");
});

t.test(
  "after packets are dropped, an action is sent in the other way, once",
  async (t) => {
    const { xapi, network, clock, pool } = await setUp(t);
    await xapi.connect();
    await xapi.call("VM.get_all");
    network.drop();
    const acting = xapi.call("VM.start", ["OpaqueRef:vm", false, false]);
    const { ms, outcome } = await timed(clock, acting);
    t.match(outcome, [{ status: "fulfilled" }]);
    t.ok(ms < 2_000, `${ms} ms`);
    t.equal(pool.calls.filter(({ method }) => method === "VM.start").length, 1);
  },
);

t.test(
  "actions that wait for their answers when packets are dropped do not delay other calls",
  async (t) => {
    const { xapi, network, clock, pool } = await setUp(t, {
      maxConcurrentCalls: 2,
    });
    await xapi.connect();
    pool.answer(
      poolScript(({ method }) =>
        method === "VM.start"
          ? { silent: true }
          : method === "VM.get_all"
            ? { value: [] }
            : undefined,
      ),
    );
    const starts = ["a", "b"].map((vm) =>
      xapi.call("VM.start", [`OpaqueRef:${vm}`, false, false]),
    );
    for (const start of starts) start.catch(() => undefined);
    const isSent = () =>
      pool.calls.filter(({ method }) => method === "VM.start").length === 2;
    await until(isSent);
    network.drop();
    const { ms, outcome } = await timed(clock, xapi.call("VM.get_all"));
    t.match(outcome, [{ status: "fulfilled" }]);
    t.ok(ms < 12_000, `${ms} ms`);
  },
);

t.test(
  "a caller is notified that an action may be lost, long before its time limit",
  async (t) => {
    const { xapi, network, clock, pool } = await setUp(t);
    await xapi.connect();
    pool.answer(
      poolScript(({ method }) =>
        method === "Async.VM.start" ? { silent: true } : undefined,
      ),
    );
    const reported: string[] = [];
    const start = xapi.callAsync("VM.start", ["OpaqueRef:a", false, false], {
      onUnanswered: (via) => reported.push(via),
    });
    start.catch(() => undefined);
    await until(() =>
      pool.calls.some(({ method }) => method === "Async.VM.start"),
    );
    network.drop();
    const ms = await msUntil(clock, () => reported.length > 0);
    t.ok(ms < 12_000, `${ms} ms`);
    const later = clock.now() + 10_000;
    await msUntil(clock, () => clock.now() > later);
    t.same(reported, ["xo2"], "once");
  },
);
