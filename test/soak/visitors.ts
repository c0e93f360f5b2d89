import { setTimeout as pause } from "node:timers/promises";
import { pick, type Random } from "../faults/seeded-random.js";
import { KillableClient } from "../faults/killable-client.js";

/** Longest visit and pause, in ms. */
const MAX_VISIT_MS = 20_000;
const MAX_PAUSE_MS = 5_000;
/** A pause between two questions. */
const MAX_THINKING_MS = 2_000;

/** Requests of clients, as the page and scripts send them. */
const questions: readonly (readonly [method: string, params: object])[] = [
  ["xo.getAllObjects", { filter: { type: "VM" } }],
  ["xo.getAllObjects", { limit: 200 }],
  ["query.page", { type: "VM", filter: "power_state:Running", limit: 100 }],
  ["query.count", { type: "VDI" }],
  ["user.getAll", {}],
  ["task.list", {}],
  ["system.listMethods", {}],
  ["status.subscribe", {}],
];

/** Figures of all visits. */
export interface Visits {
  visits: number;
  answers: number;
  /** Refusals and errors, by message: counted, not hidden. */
  readonly errors: Map<string, number>;
}

/** Connects, signs in, sends requests for some time, disconnects (without closing every second time), and connects again. */
export async function visit(
  host: string,
  password: string,
  random: Random,
  { signal, visits }: { readonly signal: AbortSignal; readonly visits: Visits },
): Promise<void> {
  while (!signal.aborted) {
    visits.visits++;
    const client = new KillableClient(host);
    try {
      await client.signIn(password);
      const until = performance.now() + random(MAX_VISIT_MS);
      while (performance.now() < until && !signal.aborted) {
        const [method, params] = pick(random, questions);
        await client.ask(method, params);
        visits.answers++;
        await pause(random(MAX_THINKING_MS));
      }
    } catch (error) {
      const text = (error as Error).message.slice(0, 120);
      visits.errors.set(text, (visits.errors.get(text) ?? 0) + 1);
    }
    client.close();
    await pause(random(MAX_PAUSE_MS));
  }
}
