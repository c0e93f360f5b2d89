import { writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { Test } from "tap";
import { WebSocket } from "ws";
import { loadConfig } from "../src/config/load-config.js";
import { createLoggers } from "../src/log/logger.js";
import type { PoolSettings } from "../src/pools/pool-settings.js";
import { startServer } from "../src/boot/start-server.js";
import type { ServerOptions } from "../src/boot/server-options.js";
import { cheapCosts } from "./cheap-costs.js";
import { FakePool } from "./fake-pool.js";
import { createDatabase } from "./new-database.js";

export interface TestServer {
  /** `127.0.0.1:port` */
  readonly host: string;
  readonly pools: readonly FakePool[];
  readonly lines: readonly string[];
  readonly get: (path: string, init?: RequestInit) => Promise<Response>;
  readonly connect: (path?: string) => Promise<TestClient>;
  readonly stop: () => Promise<void>;
}

/** Of the user `admin`, who is there from the start. */
export const ADMIN_PASSWORD = "correct horse";

/** Of a start, in ms; far more than it takes on a busy machine. */
const START_LIMIT_MS = 90_000;

/** A server of its own on loopback, with fake pools; ends with the test. */
export async function startTestServer(
  t: Test,
  yaml = "",
  options: Partial<ServerOptions> = {},
): Promise<TestServer> {
  const home = t.testdir({ "config.yaml": yaml });
  const nowhere = { env: {}, cwd: home, home };
  const overrides = { host: "127.0.0.1", port: 0 };
  const pools: FakePool[] = [];
  const lines: string[] = [];
  const loaded = loadConfig(undefined, overrides, nowhere);
  const { auth, store } = loaded.config;
  const starting = startServer({
    ...loaded,
    config: {
      ...loaded.config,
      store:
        store.location === ""
          ? { ...store, ...(await createDatabase(t)) }
          : store,
      // Short passwords, unless the test is about their length.
      auth: yaml.includes("minPasswordLength")
        ? auth
        : { ...auth, minPasswordLength: 1 },
    },
    loggers: createLoggers({ destination: { write: (l) => lines.push(l) } }),
    env: { XO_ADMIN_PASSWORD: ADMIN_PASSWORD },
    async createPool(settings: PoolSettings) {
      const pool = new FakePool(settings);
      pools.push(pool);
      return pool;
    },
    createsDefaultRules: false,
    storeCosts: cheapCosts,
    writeHeap: (file) => writeFileSync(file, "{}"),
    ...options,
  });
  const server = await inTime(starting, lines);
  t.teardown(() => server.stop());
  const { host } = new URL(server.url);
  return {
    host,
    pools,
    lines,
    get: (path, init) => fetch(`http://${host}${path}`, init),
    connect: (path = "/api/") => TestClient.open(`ws://${host}${path}`),
    stop: () => server.stop(),
  };
}

/** @throws Error with what the server has logged, if it does not start */
async function inTime<T>(
  starting: Promise<T>,
  lines: readonly string[],
): Promise<T> {
  const stop = new AbortController();
  const late = pause(START_LIMIT_MS, undefined, stop).then(() => {
    throw new Error(
      `the server has not started; it has logged:\n${lines.join("")}`,
    );
  });
  try {
    return await Promise.race([starting, late]);
  } finally {
    stop.abort();
    // It ends by the abort.
    late.catch(() => undefined);
  }
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly data?: unknown };
}

/** A client of the API that keeps what it got. */
export class TestClient {
  readonly socket: WebSocket;
  readonly messages: Message[] = [];
  readonly closed: Promise<number>;
  #waiting: (() => void)[] = [];
  #lastId = -1;

  static async open(url: string): Promise<TestClient> {
    const socket = new WebSocket(url);
    const client = new TestClient(socket);
    await new Promise((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    return client;
  }

  private constructor(socket: WebSocket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => {
      socket.once("close", resolve);
    });
    socket.on("error", () => undefined);
    socket.on("message", (data: Buffer) => {
      this.messages.push(JSON.parse(data.toString()) as Message);
      for (const wake of this.#waiting.splice(0)) wake();
    });
  }

  /** @throws what the answer says */
  async signIn(name = "admin", password = ADMIN_PASSWORD): Promise<this> {
    const answer = await this.call("session.signIn", {
      username: name,
      password,
    });
    if (answer.error !== undefined) throw new Error(JSON.stringify(answer));
    return this;
  }

  /** The result of a call that succeeds. */
  async request(method: string, params?: object): Promise<unknown> {
    const answer = await this.call(method, params);
    if (answer.error !== undefined)
      throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
    return answer.result;
  }

  async call(method: string, params?: object): Promise<Message> {
    const id = ++this.#lastId;
    this.socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return this.find((message) => message.id === id);
  }

  /** The first message, come or to come, that fits. */
  async find(fits: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const found = this.messages.find(fits);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
}
