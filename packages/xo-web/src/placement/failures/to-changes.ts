import type { Change, HostModel, VmModel } from "@xo-server/placement";
import { isObject, type Json } from "@xo-server/kit";
import type { Call } from "../../api/server-connection.js";
import type { DraftChange } from "./draft-changes.js";

/** Unspecified properties of an existing VM stay. */
type GivenChange =
  | Exclude<Change, { readonly kind: "vm" }>
  | {
      readonly kind: "vm";
      readonly vm: Partial<VmModel> & Pick<VmModel, "id" | "memory">;
    };

/**
 * Simulated changes as parameters of the server: a new host has the networks
 * and SRs of its model; new VMs need neither.
 */
export async function toChanges(
  call: Call,
  pool: string,
  drafts: readonly DraftChange[],
): Promise<readonly GivenChange[]> {
  const changes = await Promise.all(
    drafts.map((draft, index) => changesOf(call, pool, { draft, index })),
  );
  return changes.flat();
}

async function changesOf(
  call: Call,
  pool: string,
  { draft, index }: { readonly draft: DraftChange; readonly index: number },
): Promise<readonly GivenChange[]> {
  switch (draft.kind) {
    case "removeHost":
      return [{ kind: "host-down", host: draft.host }];
    case "addHosts": {
      const like = await readHost(call, pool, draft.host);
      return times(draft.count, (n) => ({
        kind: "host",
        host: { ...like, id: `new-host-${index}-${n}` },
      }));
    }
    case "addVms":
      return times(draft.count, (n) => ({
        kind: "vm",
        vm: {
          id: `new-vm-${index}-${n}`,
          srs: [],
          networks: [],
          memory: draft.memory,
          vcpus: draft.vcpus,
          ...restartOf(draft.protection, 0),
        },
      }));
    case "setMemory":
      return [{ kind: "vm", vm: { id: draft.vm, memory: draft.memory } }];
  }
}

/** An empty, enabled host. */
async function readHost(
  call: Call,
  pool: string,
  id: string,
): Promise<HostModel> {
  const page = pager(call);
  const [[host], pifs, pbds, networks] = await Promise.all([
    page("host", { ids: [id] }, ["memory", "cpus", "CPUs", "controlDomain"]),
    page("PIF", { filter: `$host:${id}` }, ["$network"]),
    page("PBD", { filter: `host:${id} attached?` }, ["SR"]),
    page("network", { filter: `$pool:${pool}` }, ["id", "PIFs"]),
  ]);
  const [domain] = await page(
    "VM-controller",
    { ids: [textOf(host?.["controlDomain"])] },
    ["memory"],
  );
  // Networks without PIFs are internal: every host has them.
  const inside = networks.filter(({ PIFs }) => listOf(PIFs).length === 0);
  return {
    id,
    state: "up",
    memory: Math.max(0, sizeOf(host) - sizeOf(domain)),
    cores: numberAt(host, "cpus", "cores"),
    networks: unique([
      ...pifs.map(({ $network }) => $network),
      ...inside.map(({ id }) => id),
    ]),
    srs: unique(pbds.map(({ SR }) => SR)),
    ...cpuOf(host),
  };
}

type Row = Readonly<Record<string, Json>>;

function pager(call: Call) {
  return async (
    type: string,
    which: { readonly ids?: readonly string[]; readonly filter?: string },
    fields: readonly string[],
  ): Promise<readonly Row[]> => {
    const params = { ...which, type, fields, limit: 1_000 };
    const answer = await call("query.page", params);
    return isObject(answer) ? listOf(answer["rows"]).filter(isObject) : [];
  };
}

function restartOf(
  priority: string,
  delay: number,
): Pick<VmModel, "restart"> | undefined {
  return priority === "restart" || priority === "best-effort"
    ? { restart: { priority, order: 0, delay } }
    : undefined;
}

function cpuOf(host: Row | undefined): Pick<HostModel, "cpu"> | undefined {
  const cpus = host?.["CPUs"];
  const vendor = isObject(cpus ?? null) ? (cpus as Row)["vendor"] : undefined;
  return typeof vendor === "string" ? { cpu: vendor } : undefined;
}

function sizeOf(row: Row | undefined): number {
  return numberAt(row, "memory", "size");
}

function numberAt(row: Row | undefined, key: string, name: string): number {
  const value = row?.[key];
  const found = value !== undefined && isObject(value) ? value[name] : 0;
  return typeof found === "number" ? found : 0;
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

function unique(values: readonly (Json | undefined)[]): string[] {
  return [...new Set(values.map(textOf))].filter((one) => one !== "");
}

function times(
  count: number,
  make: (n: number) => GivenChange,
): readonly GivenChange[] {
  return Array.from({ length: count }, (_, n) => make(n));
}
