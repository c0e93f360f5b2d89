import { once } from "node:events";
import type { Test } from "tap";
import { WebSocket } from "ws";
import { RunningProgram } from "./running-program.js";
import { simulate, type Simulated } from "./simulated.js";
import { StatusPage } from "./status-page.js";

export type Thing = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly type: string;
};

export interface Answer {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: unknown;
  };
}

export const PASSWORD = "correct horse battery";

/** A server over simulated pools, all in processes of their own. */
export async function startOver(
  t: Test,
  ...pools: readonly string[][]
): Promise<{ readonly url: string; readonly pools: readonly Simulated[] }> {
  const started = await Promise.all(
    pools.map(async (args) => (await simulate(t, ...args))[0]!),
  );
  const entries = started.map(
    ({ url, password }, i) =>
      `{ label: P${i}, hosts: ["${url}"], password: ${password} }`,
  );
  const cwd = t.testdir({ "config.yaml": `pools: [${entries.join(", ")}]` });
  const args = ["start", "--host", "127.0.0.1", "--port", "0"];
  const env = { XO_ADMIN_PASSWORD: PASSWORD };
  const server = new RunningProgram(t, "xo-server", args, { cwd, env });
  const url = await server.find(/Web server listening on (http:\S+)/);
  const page = await StatusPage.open(t, url, PASSWORD);
  await page.until((status) =>
    started.every((_, i) => status.pools[`p${i}`]?.state === "watching"),
  );
  return { url, pools: started };
}

/** A signed-in user, with JSON-RPC and REST. */
export class ApiSession {
  readonly #url: string;
  readonly #socket: WebSocket;
  readonly #answers = new Map<number, (answer: Answer) => void>();
  #token = "";
  #next = 0;

  static async open(
    t: Test,
    url: string,
    email = "admin",
    password = PASSWORD,
  ): Promise<ApiSession> {
    const session = await ApiSession.connect(t, url);
    await session.request("session.signIn", { email, password });
    session.#token = (await session.request("token.create", {})) as string;
    return session;
  }

  /** An anonymous client. */
  static async connect(t: Test, url: string): Promise<ApiSession> {
    const socket = new WebSocket(`${url.replace("http", "ws")}/api/`);
    t.teardown(() => {
      socket.terminate();
    });
    await once(socket, "open");
    return new ApiSession(url, socket);
  }

  private constructor(url: string, socket: WebSocket) {
    this.#url = url;
    this.#socket = socket;
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as Answer;
      if (message.id !== undefined) this.#answers.get(message.id)?.(message);
    });
  }

  call(method: string, params: object = {}): Promise<Answer> {
    const id = this.#next++;
    return new Promise((resolve) => {
      this.#answers.set(id, resolve);
      this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  }

  /** @throws Error if the response is an error */
  async request(method: string, params: object = {}): Promise<unknown> {
    const { result, error } = await this.call(method, params);
    if (error !== undefined)
      throw new Error(
        `${method}: ${error.code} ${error.message} ${JSON.stringify(error.data)}`,
      );
    return result;
  }

  async all(filter: object): Promise<Thing[]> {
    const found = await this.request("xo.getAllObjects", { filter });
    return Object.values(found as Record<string, Thing>);
  }

  /** @throws TypeError if there is no such object */
  async get(id: string): Promise<Thing> {
    return (await this.all({ id }))[0]!;
  }

  /** @param path under /rest/v0 */
  rest(method: string, path: string, body?: object): Promise<Response> {
    const type = { "content-type": "application/json" };
    return fetch(`${this.#url}/rest/v0${path}`, {
      method,
      headers: {
        cookie: `authenticationToken=${this.#token}`,
        ...(body === undefined ? {} : type),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }
}
