import { wallClock, type WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { Test } from "tap";
import { loadConfig } from "../src/config/load-config.js";
import { createJsonRpcHandler } from "../src/api/json-rpc/json-rpc.js";
import type { RestApiOptions } from "../src/api/rest/rest-api.js";
import type { Tasks } from "../src/tasks/tasks.js";
import {
  startWebServer,
  type WebServerOptions,
} from "../src/api/web-server.js";
import { createLoggers } from "../src/log/logger.js";
import type { Operation, Permission } from "../src/operations/operation.js";
import type { Authenticator } from "../src/auth/sign-in/authenticator.js";
import type { AuthenticatedUser } from "../src/auth/users/authenticated-user.js";
import type { Privilege } from "../src/rights/privilege.js";
import { Rights } from "../src/rights/rights.js";
import type { Services } from "../src/methods/definition/services.js";
import type { PoolObjects } from "../src/objects/pool-objects.js";
import { FakeObjects } from "./fake-objects.js";
import { createTestDispatcher } from "./test-dispatcher.js";

export interface RestServerOptions {
  readonly objects?: FakeObjects;
  /** Privileges by token, which is also the name; `admin` is always there. The password is `pw`. */
  readonly users?: Readonly<Record<string, readonly Privilege[]>>;
  readonly operations?: readonly Operation[];
  /** Those that the operations work with. */
  readonly services?: Partial<Services>;
  /** Default: objects of pools that cannot be called. */
  readonly poolObjects?: PoolObjects;
  readonly tasks?: Tasks;
  /** Of callers who have not signed in; default: `viewer`. */
  readonly permission?: Permission;
  readonly yaml?: string;
  readonly clock?: WallClock;
  readonly maxUnsentBytes?: number;
}

export interface RestServer {
  readonly host: string;
  readonly lines: readonly string[];
  /** @param path under /rest/v0 */
  readonly get: (path: string, init?: RequestInit) => Promise<Response>;
  /** The answer's JSON; fails the test unless the status is as expected. */
  readonly json: (
    path: string,
    init?: RequestInit,
    status?: number,
  ) => Promise<unknown>;
}

/** The API on loopback with the objects and users of a test; stops when it ends. */
export async function startRestServer(
  t: Test,
  options: RestServerOptions = {},
): Promise<RestServer> {
  const home = t.testdir({ "config.yaml": options.yaml ?? "" });
  const overrides = { host: "127.0.0.1", port: 0 };
  const { config } = loadConfig(undefined, overrides, {
    env: {},
    cwd: home,
    home,
  });
  const lines: string[] = [];
  const loggers = createLoggers({
    destination: { write: (l) => lines.push(l) },
  });
  const logger = loggers.named("xo:test");
  const { objects = new FakeObjects(), operations = [] } = options;
  const dispatcher = createTestDispatcher(operations, {
    logger,
    services: options.services ?? {},
    findObject: (id) => objects.views.catalog.get(id),
    ...(options.poolObjects === undefined
      ? {}
      : { objects: options.poolObjects }),
  });
  const rest: Pick<RestApiOptions, "authenticator" | "tasks"> = {
    tasks: options.tasks,
    authenticator: toAuthenticator(options.users ?? {}),
  };
  // What no test here asks for is left out.
  const parts: Partial<WebServerOptions> = {
    http: config.http,
    jsonRpc: createJsonRpcHandler(dispatcher),
    readHealth: () => ({ live: true, ready: true }) as never,
    readMetrics: () => "",
    permission: options.permission ?? "viewer",
    webRoot: undefined,
    rest: { ...rest, objects: objects.views, operations, dispatcher },
    onClose: () => undefined,
    clock: options.clock ?? wallClock,
    logger,
    ...(options.maxUnsentBytes === undefined
      ? {}
      : { maxUnsentBytes: options.maxUnsentBytes }),
  };
  const web = await startWebServer(parts as WebServerOptions);
  t.teardown(() => web.stop());
  const { host } = new URL(web.url);
  const get = (path: string, init?: RequestInit) =>
    fetch(`http://${host}/rest/v0${path}`, { redirect: "manual", ...init });
  return {
    host,
    lines,
    get,
    async json(path, init, status = 200) {
      const answer = await get(path, init);
      const text = await answer.text();
      t.equal(answer.status, status, `${path}: ${text.slice(0, 200)}`);
      return JSON.parse(text) as unknown;
    },
  };
}

/** Headers of a signed-in user. */
export function as(name: string): RequestInit {
  return { headers: { cookie: `authenticationToken=${name}` } };
}

function toAuthenticator(
  users: Readonly<Record<string, readonly Privilege[]>>,
): Authenticator {
  const persons = new Map<string, AuthenticatedUser>([
    ["admin", toPerson("admin", Rights.all, true)],
  ]);
  for (const [name, privileges] of Object.entries(users))
    persons.set(name, toPerson(name, new Rights(privileges), false));
  const sessionOf = async (name: string) => {
    const person = persons.get(name);
    if (person === undefined) throw new XoError("CREDENTIALS_INVALID");
    return { userId: person.id, user: () => person };
  };
  return {
    byToken: sessionOf,
    byPassword: async ({ name, password, otp }) => {
      if (password !== "pw" || (name === "totp" && otp !== "123456"))
        throw new XoError("CREDENTIALS_INVALID");
      return sessionOf(name);
    },
  };
}

function toPerson(
  name: string,
  rights: Rights,
  isAdmin: boolean,
): AuthenticatedUser {
  return { id: `id-of-${name}`, name, isAdmin, groups: [], rights };
}
