import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import t from "tap";
import { WebSocket } from "ws";
import { ConsoleClient, opened } from "./console-client.js";
import { FollowedQuery } from "./followed-query.js";
import { startStorageBench } from "./storage-bench.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 120_000 };
t.comment("timeout=120000");

const PASSWORD = "correct horse battery";
const CLIENTS = 40;
/** Time for calls of disconnected clients to end, in ms. */
const PATIENCE_MS = 10_000;

/** Gauges of /metrics that count what clients have open. */
const counted = [
  "xo_api_clients",
  "xo_api_sessions",
  "xo_api_subscribers",
  "xo_query_subscribers",
  "xo_consoles",
] as const;
type Counts = Readonly<Record<(typeof counted)[number], number>>;

t.test("what disconnected clients leave", LIMIT, async (t) => {
  const { admin, list, url } = await startStorageBench(t);
  const [vm] = await list("vms", "power_state:Running");
  const read = async (): Promise<Counts> => {
    const text = await (await fetch(`${url}/metrics`)).text();
    return Object.fromEntries(
      counted.map((name) => [
        name,
        Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)![1]),
      ]),
    ) as Counts;
  };
  const before = await read();
  /** What is open once all clients have disconnected, and their calls have ended. */
  const left = async (): Promise<Counts> => {
    for (const until = performance.now() + PATIENCE_MS; ; await pause(50)) {
      const now = await read();
      const isSame = counted.every((name) => now[name] === before[name]);
      if (isSame || performance.now() > until) return now;
    }
  };
  const connect = async () => {
    const socket = new WebSocket(`${url.replace("http", "ws")}/api/`);
    await once(socket, "open");
    const send = (method: string, params: object) =>
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
    return { socket, send };
  };

  t.test("nothing after a disconnect during the sign-in", async (t) => {
    for (let i = 0; i < CLIENTS; i++) {
      const { socket, send } = await connect();
      send("session.signIn", { email: "admin", password: PASSWORD });
      socket.terminate();
    }
    // A sign-in of the same user from the same address ends after all earlier ones.
    const last = await FollowedQuery.connect(t, url);
    const credentials = { email: "admin", password: PASSWORD };
    t.match(await last.call("session.signIn", credentials), { result: {} });
    last.close();
    t.same(await left(), before);
  });

  t.test("nothing after a disconnect during other calls", async (t) => {
    const token = admin.cookie.split("=")[1];
    for (let i = 0; i < CLIENTS; i++) {
      const { socket, send } = await connect();
      send("session.signInWithToken", { token });
      await once(socket, "message");
      send("query.open", {
        name: "list",
        type: "VM",
        filter: `name_label:/${i}/`,
        offset: 0,
        limit: 10,
      });
      send("xo.getAllObjects", { limit: 10 });
      send("status.subscribe", {});
      socket.terminate();
    }
    t.same(await left(), before);
  });

  t.test("an open console is sent no changes of objects", async (t) => {
    const open = () =>
      ConsoleClient.open(t, `${url}/api/consoles/${vm!.id}`, {
        cookie: admin.cookie,
      });
    const client = opened(await open());
    await client.shakeHands();
    // This one signs in later, and calls nothing: it is subscribed after a second.
    const idle = await connect();
    idle.send("session.signIn", { email: "admin", password: PASSWORD });
    const { xo_api_subscribers: subscribers } = before;
    let now = await read();
    while (now.xo_api_subscribers === subscribers) now = await read();
    t.equal(now.xo_api_subscribers, subscribers + 1, "only that one");
    t.equal(now.xo_api_sessions, before.xo_api_sessions + 2);
    idle.socket.close();
    client.socket.close();
    for (let i = 0; i < CLIENTS; i++) {
      const next = opened(await open());
      await next.shakeHands();
      if (i % 2 === 0) next.socket.close();
      else next.socket.terminate();
      await next.closed;
    }
    t.same(await left(), before, `nothing after ${CLIENTS} more`);
  });
});
