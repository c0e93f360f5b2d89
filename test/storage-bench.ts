import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";
import { FollowedQuery } from "./followed-query.js";
import { RunningProgram } from "./running-program.js";
import { simulateIn, type Simulated } from "./simulated.js";
import { StatusPage } from "./status-page.js";

const PASSWORD = "correct horse battery";

export type Row = Readonly<Record<string, unknown>> & { readonly id: string };

/** A signed-in user, with JSON-RPC and REST. */
export interface Operator {
  /** @returns the whole answer */
  readonly call: (
    method: string,
    params?: object,
  ) => Promise<{ result?: unknown; error?: { code: number; data?: unknown } }>;
  /** @returns the result; fails the test where there is none */
  readonly request: <T>(method: string, params?: object) => Promise<T>;
  /** @param path under /rest/v0 */
  readonly rest: (
    method: string,
    path: string,
    body?: unknown,
  ) => Promise<{ status: number; body: never; headers: Headers }>;
  readonly fetch: (path: string, init?: RequestInit) => Promise<Response>;
  readonly cookie: string;
}

export interface StorageBench {
  readonly url: string;
  readonly pool: Simulated;
  readonly poolProgram: RunningProgram;
  readonly server: RunningProgram;
  readonly admin: Operator;
  /** A user who has only the rights on these objects. */
  readonly addUser: (
    name: string,
    rights: Readonly<Record<string, string>>,
  ) => Promise<Operator>;
  /** Objects of a type, as REST filters them. */
  readonly list: (folder: string, filter?: string) => Promise<Row[]>;
  /** Repeats until there are no such objects; the time limit of the test ends it. */
  readonly untilGone: (folder: string, filter: string) => Promise<void>;
}

/**
 * A simulated pool and a server that follows it, both programs.
 * @param args of the simulator
 */
export function startStorageBench(
  t: Test,
  ...args: string[]
): Promise<StorageBench> {
  return startConfiguredBench(t, "", args);
}

/**
 * The same with more configuration of the server.
 * @param config YAML
 */
export async function startConfiguredBench(
  t: Test,
  config: string,
  args: readonly string[] = [],
): Promise<StorageBench> {
  const { program: poolProgram, pools } = await simulateIn(t, ...args);
  const [pool] = pools;
  const cwd = await mkdtemp(join(tmpdir(), "xo-server-test-"));
  // A worker of the killed server may still write a file: tap's removal would fail.
  t.teardown(() => rm(cwd, { recursive: true, force: true, maxRetries: 5 }));
  await writeFile(
    join(cwd, "config.yaml"),
    `pools: [{ label: P, hosts: ["${pool!.url}"], password: ${pool!.password} }]\n${config}`,
    { mode: 0o600 },
  );
  const start = ["start", "--host", "127.0.0.1", "--port", "0"];
  const env = { XO_ADMIN_PASSWORD: PASSWORD };
  const server = new RunningProgram(t, "xo-server", start, { cwd, env });
  const url = await server.find(/Web server listening on (http:\S+)/);
  const page = await StatusPage.open(t, url, PASSWORD);
  await page.until(({ pools }) => pools["p"]?.state === "watching");
  const signIn = (email: string, password: string) =>
    connect(t, url, { email, password });
  const admin = await signIn("admin", PASSWORD);
  const list: StorageBench["list"] = async (folder, filter = "") => {
    const query = `fields=*&filter=${encodeURIComponent(filter)}`;
    return (await admin.rest("GET", `/${folder}?${query}`)).body;
  };
  return {
    url,
    pool: pool!,
    poolProgram,
    server,
    admin,
    async addUser(name, rights) {
      const password = `password of a user called ${name}`;
      const subject = await admin.request<string>("user.create", {
        email: name,
        password,
      });
      for (const [object, action] of Object.entries(rights))
        await admin.request("acl.add", { subject, object, action });
      return signIn(name, password);
    },
    list,
    async untilGone(folder, filter) {
      while ((await list(folder, filter)).length > 0) continue;
      t.pass(`no ${folder} ${filter}`);
    },
  };
}

async function connect(
  t: Test,
  url: string,
  credentials: { readonly email: string; readonly password: string },
): Promise<Operator> {
  const client = await FollowedQuery.connect(t, url);
  const call: Operator["call"] = (method, params = {}) =>
    client.call(method, params);
  t.match(await call("session.signIn", credentials), { result: {} });
  const token = (await call("token.create")).result as string;
  const cookie = `authenticationToken=${token}`;
  const atRest: Operator["fetch"] = (path, init = {}) =>
    fetch(`${url}/rest/v0${path}`, {
      ...init,
      headers: { cookie, ...(init.headers as Record<string, string>) },
    });
  return {
    call,
    cookie,
    fetch: atRest,
    async request<T>(method: string, params?: object) {
      const answer = await call(method, params);
      t.equal(answer.error, undefined, `${method} is done`);
      return answer.result as T;
    },
    async rest(method, path, body) {
      const answer = await atRest(path, {
        method,
        ...(body === undefined
          ? {}
          : {
              headers: { "content-type": "application/json" },
              body: JSON.stringify(body),
            }),
      });
      const text = await answer.text();
      const { status, headers } = answer;
      return {
        status,
        headers,
        body: (text === "" ? undefined : JSON.parse(text)) as never,
      };
    },
  };
}
