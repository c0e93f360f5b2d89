import { setTimeout as pause } from "node:timers/promises";
import { KillableClient } from "../faults/killable-client.js";
import { pick, type Random } from "../faults/seeded-random.js";

/** Longest visit and pause, in ms. */
const MAX_VISIT_MS = 20_000;
const MAX_PAUSE_MS = 5_000;
/** A pause between two requests. */
const MAX_THINKING_MS = 2_000;

/** Requests of clients, as the page and scripts send them. */
const calls: readonly (readonly [method: string, params: object])[] = [
  ["xo.getAllObjects", { filter: { type: "VM" } }],
  ["xo.getAllObjects", { limit: 200 }],
  ["query.page", { type: "VM", filter: "power_state:Running", limit: 100 }],
  ["query.count", { type: "VDI" }],
  ["user.getAll", {}],
  ["task.list", {}],
  ["system.listMethods", {}],
  ["status.subscribe", {}],
];

/** Paths under /rest/v0. */
const paths: readonly string[] = [
  "/vms?fields=*&limit=100",
  "/vms?filter=power_state:running&fields=id,name_label",
  "/hosts?fields=*",
  "/vdis?limit=50&fields=*",
  "/pools",
  "/tasks?fields=*&limit=50",
  "/docs/swagger.json",
];

/** Live queries of a page. */
const queries: readonly object[] = [
  { type: "VM", filter: "power_state:running", offset: 0, limit: 50 },
  { type: "VM", search: "web", offset: 0, limit: 50 },
  { type: "host", offset: 0, limit: 50, sort: [{ by: "now.cpu" }] },
  { type: "VDI", offset: 100, limit: 50, sort: [{ by: "size" }] },
];

/** Figures of all visits. */
export interface Visits {
  visits: number;
  answers: number;
  /** Refusals and errors, by message: counted, not hidden. */
  readonly errors: Map<string, number>;
}

interface Visit {
  /** `http://...` */
  readonly url: string;
  readonly password: string;
  readonly random: Random;
  /** Number of the visit, of all clients. */
  readonly index: number;
  /** To be called before each request; the first call begins the visit. Resolves with false at its end. */
  readonly next: () => Promise<boolean>;
}

export interface VisitorOptions extends Pick<
  Visit,
  "url" | "password" | "random"
> {
  /** Key of `visitKinds`. */
  readonly kind: string;
  /** Factor by which visits and pauses are shorter. */
  readonly pace: number;
  readonly signal: AbortSignal;
  readonly visits: Visits;
}

/** Kinds of clients by name. Each function carries out one visit. */
export const visitKinds: Readonly<
  Record<string, (visit: Visit) => Promise<void>>
> = { api: visitApi, rest: visitRest, live: visitLive };

/** Connects, signs in, sends requests for some time, disconnects, and connects again. */
export async function visitRepeatedly(options: VisitorOptions): Promise<void> {
  const { kind, pace, random, signal, visits } = options;
  const carryOut = visitKinds[kind];
  if (carryOut === undefined) throw new Error(`no such visit: ${kind}`);
  while (!signal.aborted) {
    const durationMs = random(MAX_VISIT_MS) / pace;
    let requests = 0;
    let startedAt = NaN;
    const next = async () => {
      if (requests++ === 0) startedAt = performance.now();
      else {
        visits.answers++;
        await pause(random(MAX_THINKING_MS) / pace);
      }
      const isOver = performance.now() - startedAt >= durationMs;
      return !isOver && !signal.aborted;
    };
    try {
      await carryOut({ ...options, index: visits.visits++, next });
    } catch (error) {
      const text = (error as Error).message.slice(0, 120);
      visits.errors.set(text, (visits.errors.get(text) ?? 0) + 1);
    }
    await pause(random(MAX_PAUSE_MS) / pace);
  }
}

async function visitApi(visit: Visit): Promise<void> {
  await withClient(visit, async (client) => {
    while (await visit.next()) {
      const [method, params] = pick(visit.random, calls);
      await client.request(method, params);
    }
  });
}

/** Opens live queries, each in place of the one before, and receives their changes. */
async function visitLive(visit: Visit): Promise<void> {
  await withClient(visit, async (client) => {
    while (await visit.next()) {
      const query = pick(visit.random, queries);
      await client.request("query.open", { name: "list", ...query });
    }
  });
}

/** A script that has a password, and that creates a token every second time. */
async function visitRest(visit: Visit): Promise<void> {
  const { url, password, random, index, next } = visit;
  const basic = Buffer.from(`admin:${password}`).toString("base64");
  let authorization = `Basic ${basic}`;
  const send = async (path: string, method = "GET") => {
    const headers = { authorization };
    const answer = await fetch(`${url}/rest/v0${path}`, { method, headers });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return text;
  };
  if (index % 2 === 0) {
    const client = new KillableClient(new URL(url).host);
    await client.signIn(password);
    const token = String(
      await client.request("token.create", { expiresIn: 60_000 }),
    );
    client.close();
    authorization = `Bearer ${token}`;
  }
  while (await next()) await send(pick(random, paths));
}

/** Every second visit ends without the closing handshake. */
async function withClient(
  { url, password, index }: Visit,
  use: (client: KillableClient) => Promise<void>,
): Promise<void> {
  const client = new KillableClient(new URL(url).host);
  try {
    await client.signIn(password);
    await use(client);
  } finally {
    if (index % 2 === 0) client.close();
    else client.terminate();
  }
}
