import { randomUUID } from "node:crypto";
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

/** What a user is allowed, as a privilege of a role. */
export interface Privilege {
  readonly resource: string;
  readonly action: string;
  readonly selector?: string;
  /** "allow" by default */
  readonly effect?: "allow" | "deny";
}

export interface UserRights {
  /** Ids of roles. */
  readonly roles?: readonly string[];
  readonly privileges?: readonly Privilege[];
  readonly acls?: readonly {
    readonly object: string;
    readonly action: string;
  }[];
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

  /**
   * Creates a user, as an administrator.
   * @param rights none by default
   * @returns the id of the user, and a session of the user
   */
  async signUp(
    t: Test,
    email: string,
    { roles = [], privileges = [], acls = [] }: UserRights = {},
  ): Promise<{ readonly id: string; readonly session: ApiSession }> {
    const password = `password of ${email}`;
    const user = { email, password };
    const id = (await this.request("user.create", user)) as string;
    for (const role of roles)
      await this.request("role.addToUser", { id: role, userId: id });
    if (privileges.length > 0) await this.allow(id, privileges);
    for (const acl of acls)
      await this.request("acl.add", { subject: id, ...acl });
    return {
      id,
      session: await ApiSession.open(t, this.#url, email, password),
    };
  }

  /** Gives a user privileges, as an administrator, by a role of their own. */
  async allow(userId: string, privileges: readonly Privilege[]): Promise<void> {
    const name = randomUUID();
    const id = await this.request("role.create", { name });
    for (const privilege of privileges)
      await this.request("privilege.create", {
        roleId: id,
        effect: "allow",
        ...privilege,
      });
    await this.request("role.addToUser", { id, userId });
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
