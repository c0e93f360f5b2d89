import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { WebSocket } from "ws";
import { KillableClient } from "../faults/killable-client.js";
import { isOn, setFault, type Simulated } from "../simulated.js";

/** A running server over one simulated pool. */
export interface UsedServer {
  readonly url: string;
  readonly pool: Simulated;
  readonly password: string;
  /** A token of the administrator. */
  readonly token: string;
  /** Signed in. */
  readonly admin: KillableClient;
  /** Ids of running VMs. */
  readonly vms: readonly string[];
}

/** Uses the server once, and leaves nothing open. */
type Use = (server: UsedServer, index: number) => Promise<void>;

/** Ways to use a server that must not leave anything in its memory, by name. */
export const repeatedUses: Readonly<Record<string, Use>> = {
  "WebSocket without sign-in": async ({ url }, i) => {
    const socket = await openSocket(url);
    await end(socket, i);
  },
  "sign-in with a password": async ({ url, password }, i) => {
    const client = await connect(url);
    await client.request("session.signIn", { username: "admin", password });
    await end(client, i);
  },
  "sign-in with a token": async ({ url, token }, i) => {
    const client = await connect(url);
    await client.request("session.signInWithToken", { token });
    await end(client, i);
  },
  "sign-in and sign-out of the page": async ({ url, password }) => {
    const answer = await fetch(`${url}/auth/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ username: "admin", password }),
    });
    await answer.arrayBuffer();
    const cookie = answer.headers.get("set-cookie")!.split(";")[0]!;
    const token = cookie.split("=")[1]!;
    const client = await connect(url);
    await client.request("session.signInWithToken", { token });
    await client.request("session.signOut");
    await client.request("token.delete", { token }).catch(() => undefined);
    await end(client, 0);
  },
  "live query": async ({ url, token }, i) => {
    const client = await connect(url);
    await client.request("session.signInWithToken", { token });
    await client.request("query.open", {
      name: "list",
      type: "VM",
      filter: `name_label:/^${i % 10}/ power_state:running`,
      offset: 0,
      limit: 50,
    });
    await end(client, i);
  },
  "copy of all objects": async ({ url, token }, i) => {
    const client = await connect(url);
    await client.request("session.signInWithToken", { token });
    await client.request("xo.getAllObjects", { limit: 100 });
    await end(client, i);
  },
  "REST request with a password": async (server) => {
    const basic = Buffer.from(`admin:${server.password}`).toString("base64");
    await readAll(server, "/vms?fields=*&limit=20", `Basic ${basic}`);
  },
  "REST request with a token": (server) =>
    readAll(server, "/vms?fields=*&limit=20", `Bearer ${server.token}`),
  "event stream": async (server) => {
    const ended = new AbortController();
    const headers = { authorization: `Bearer ${server.token}` };
    const { signal } = ended;
    const path = `${server.url}/rest/v0/events`;
    const stream = await fetch(path, { headers, signal });
    const reader = stream.body!.getReader();
    const { value } = await reader.read();
    const [, id] = /"id":"([^"]+)"/.exec(Buffer.from(value!).toString())!;
    const answer = await fetch(`${path}/${id}/subscriptions`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ collection: "VM", fields: ["id"] }),
      signal,
    });
    await answer.arrayBuffer();
    ended.abort();
    await reader.closed.catch(() => undefined);
  },
  console: async ({ url, token, vms }, i) => {
    const id = vms[i % vms.length]!;
    const path = `${url.replace("http", "ws")}/api/consoles/${id}`;
    const headers = { cookie: `authenticationToken=${token}` };
    const socket = new WebSocket(path, { headers });
    socket.on("error", () => undefined);
    await once(socket, "message");
    await end(socket, i);
  },
  "call of a pool": async ({ admin, vms }, i) => {
    const id = vms[i % vms.length]!;
    await admin.request("vm.set", { id, name_description: `set ${i}` });
  },
  task: (server, i) => {
    const id = server.vms[(i >> 1) % server.vms.length]!;
    const action = i % 2 === 0 ? "pause" : "unpause";
    const path = `/vms/${id}/actions/${action}?sync=true`;
    return readAll(server, path, `Bearer ${server.token}`, "POST");
  },
  "session of the pool lost": async ({ pool, admin }) => {
    await setFault(pool, "sessionInvalid", { value: true, times: 1 });
    while (await isOn(pool, "sessionInvalid")) await pause(20);
    await untilConnected(admin);
  },
  "pool disconnected and connected": async ({ admin }) => {
    const [server] = (await admin.request("server.getAll")) as { id: string }[];
    await admin.request("server.disable", { id: server!.id });
    await admin.request("server.enable", { id: server!.id });
    await untilConnected(admin);
  },
};

async function connect(url: string): Promise<KillableClient> {
  const client = new KillableClient(new URL(url).host);
  await client.opened;
  return client;
}

async function openSocket(url: string): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/api/`);
  await once(socket, "open");
  return socket;
}

/** Every second time without the closing handshake. */
async function end(
  client: Pick<WebSocket, "close" | "terminate">,
  index: number,
): Promise<void> {
  if (index % 2 === 0) client.close();
  else client.terminate();
  await pause(0);
}

async function readAll(
  { url }: UsedServer,
  path: string,
  authorization: string,
  method = "GET",
): Promise<void> {
  const headers = { authorization };
  const answer = await fetch(`${url}/rest/v0${path}`, { headers, method });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
}

async function untilConnected(admin: KillableClient): Promise<void> {
  for (;;) {
    const pools = (await admin.request("pool.listStatus")) as {
      state: string;
    }[];
    if (pools.every(({ state }) => state === "watching")) return;
    await pause(20);
  }
}
