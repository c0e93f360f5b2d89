import type { ApiClient } from "../api/api-client.js";
import type { StringSource } from "./parameter-values.js";

/** Types of the objects of a pool that parameters name. */
const TYPES = [
  "VM",
  "VM-snapshot",
  "VM-template",
  "VDI",
  "SR",
  "network",
  "host",
  "pool",
  "VIF",
  "VBD",
  "PIF",
  "PBD",
  "message",
  "task",
] as const;

/** Type by the name of a parameter, without a plural's "s". */
const BY_NAME: Readonly<Record<string, string>> = {
  vm: "VM",
  host: "host",
  targethost: "host",
  migrationhost: "host",
  sr: "SR",
  srid: "SR",
  targetsr: "SR",
  network: "network",
  pool: "pool",
  migrationnetwork: "network",
  template: "VM-template",
  vdi: "VDI",
  disk: "VDI",
  vif: "VIF",
  vbd: "VBD",
  pif: "PIF",
  pbd: "PBD",
  snapshot: "VM-snapshot",
  source: "pool",
  target: "pool",
};

/** Ids of the objects of the pools, and of what earlier calls have created. */
export class SampleObjects {
  readonly #ids = new Map<string, readonly string[]>();
  readonly #created = new Map<string, string>();
  #next = 0;

  static async read(client: ApiClient): Promise<SampleObjects> {
    const samples = new SampleObjects();
    for (const type of TYPES) {
      const page = (await client.call("query.page", {
        type,
        limit: 1_000,
        fields: ["id"],
      })) as { readonly rows: readonly { readonly id: string }[] };
      const ids = page.rows.map(({ id }) => id);
      if (ids.length > 0) samples.#ids.set(type, ids);
    }
    return samples;
  }

  /** Ids that a successful call has answered are used by later calls of the same noun. */
  learn(method: string, result: unknown): void {
    if (!/\.(create|add|new)/i.test(method)) return;
    const id =
      typeof result === "string"
        ? result
        : (result as { readonly id?: unknown } | null)?.id;
    if (typeof id === "string") this.#created.set(nounOf(method), id);
  }

  /** Strings for the parameters of a method: another object at each call. */
  stringsFor(method: string): StringSource {
    return (name) => {
      const noun = nounOf(method);
      const plain = name.toLowerCase().replace(/(ids?|s)$/, "");
      const type =
        BY_NAME[name.toLowerCase()] ??
        BY_NAME[plain] ??
        (plain === "" ? (BY_NAME[noun.toLowerCase()] ?? noun) : undefined);
      if (name === "type") return "VM";
      if (name === "method") return "vm.set";
      const ids = type === undefined ? undefined : this.#ids.get(type);
      if (ids !== undefined) return ids[this.#next++ % ids.length]!;
      return this.#created.get(type ?? plain) ?? `${name} ${this.#next++}`;
    };
  }
}

function nounOf(method: string): string {
  return method.slice(0, method.lastIndexOf("."));
}
