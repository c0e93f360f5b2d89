import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { makeLoopbackCertificate } from "@xo-server/certificate";
import type { Test } from "tap";
import type { IndirectRoute, Xapi, XapiOptions } from "../src/index.js";
import { createClient, keepingLogger, PASSWORD } from "./client.js";
import { FakeClock, msUntil } from "./fake-clock.js";
import { FakeXapi, poolScript } from "./fake-xapi.js";

const certificate = makeLoopbackCertificate();
export const other = makeLoopbackCertificate();
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

export async function setUp(
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

export const viaOf = ({ state }: Xapi) =>
  state.name === "connected" ? state.via : "not connected";

/** @returns the value, and after which time of the clock, in ms */
export async function timed<T>(clock: FakeClock, promise: Promise<T>) {
  let isSettled = false;
  const settle = () => (isSettled = true);
  promise.then(settle, settle);
  const ms = await msUntil(clock, () => isSettled);
  return { ms, outcome: await Promise.allSettled([promise]) };
}
