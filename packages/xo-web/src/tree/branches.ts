import { exactText, wordText } from "../filters/value-text.js";
import type { ObjectRow } from "../api/object-row.js";
import type { RunRequest, TreeNode, TreePart } from "./outline.js";

/** How VMs are grouped. */
export type Grouping = "host" | "tag" | "none";

/** The loaded data of the tree; unknown totals count as empty. */
export interface TreeInput {
  readonly pools: readonly ObjectRow[];
  /** Hosts of expanded pools. */
  readonly hosts: readonly ObjectRow[];
  /** Number of VMs by pool, host (or pool, for VMs without a host) and tag; "" is not a tag. */
  readonly byPool: ReadonlyMap<string, number>;
  readonly byContainer: ReadonlyMap<string, number>;
  readonly byTag: ReadonlyMap<string, number>;
  readonly isOpen: (key: string) => boolean;
  /** Number of objects of a run; undefined: not known yet. */
  readonly totalOf: (runKey: string) => number | undefined;
}

/** Types that a search covers, in the order in which they are shown. */
const foundTypes = ["VM", "host", "pool", "SR", "network"] as const;

/** Key of a pool's node. */
export const poolKey = (id: string) => `pool ${id}`;
/** Key of a host's node. */
export const hostKey = (id: string) => `host ${id}`;
/** VMs of a pool without a host. */
export const restKey = (id: string) => `rest ${id}`;
/** VMs below a node. */
export const runKey = (key: string) => `${key} VMs`;

/** The lines of a tree of VMs. */
export function branches(grouping: Grouping, input: TreeInput): TreePart[] {
  switch (grouping) {
    case "host":
      return poolBranches(input);
    case "tag":
      return tagBranches(input);
    case "none":
      return [run("all", { type: "VM" }, 1, input.totalOf("all VMs") ?? 0)];
  }
}

/** The lines of the results of a search, by type. */
export function foundBranches(
  search: string,
  totalOf: TreeInput["totalOf"],
): TreePart[] {
  const found = foundTypes.map((type) => {
    const key = `found ${type}`;
    return { type, key, total: totalOf(runKey(key)) ?? 0 };
  });
  const shown = found.filter(({ total }) => total > 0);
  return shown.flatMap(({ type, key, total }, at) => [
    node({
      key,
      kind: "found",
      name: type,
      level: 1,
      count: total,
      position: at + 1,
      size: shown.length,
      isOpen: true,
    }),
    run(key, { type, search }, 2, total),
  ]);
}

/** Runs that are loaded although none of their rows is visible, because their totals are shown. */
export function countedRuns(
  grouping: Grouping,
  search: string,
): readonly { readonly key: string; readonly request: RunRequest }[] {
  if (search !== "")
    return foundTypes.map((type) => ({
      key: runKey(`found ${type}`),
      request: { type, search },
    }));
  return grouping === "none"
    ? [{ key: runKey("all"), request: { type: "VM" } }]
    : [];
}

function poolBranches(input: TreeInput): TreePart[] {
  const hostsOf = byPool(input.hosts);
  return input.pools.flatMap((pool, at) => {
    const key = poolKey(pool.id);
    const isOpen = input.isOpen(key);
    const self = node({
      key,
      kind: "pool",
      object: pool,
      level: 1,
      isOpen,
      position: at + 1,
      size: input.pools.length,
      count: input.byPool.get(pool.id),
    });
    if (!isOpen) return [self];
    return [self, ...hostBranches(pool, hostsOf.get(pool.id) ?? [], input)];
  });
}

function byPool(hosts: readonly ObjectRow[]): Map<string, ObjectRow[]> {
  const groups = new Map<string, ObjectRow[]>();
  for (const host of hosts) {
    const group = groups.get(host.$pool ?? "");
    if (group === undefined) groups.set(host.$pool ?? "", [host]);
    else group.push(host);
  }
  return groups;
}

function hostBranches(
  pool: ObjectRow,
  hosts: readonly ObjectRow[],
  input: TreeInput,
): TreePart[] {
  const rest = input.byContainer.get(pool.id) ?? 0;
  const size = hosts.length + (rest > 0 ? 1 : 0);
  const parts = hosts.flatMap((host, at) => {
    const position = { level: 2, position: at + 1, size };
    const self = { key: hostKey(host.id), kind: "host", object: host } as const;
    return withVms({ ...self, ...position }, host.id, input);
  });
  if (rest === 0) return parts;
  const position = { level: 2, position: size, size };
  const self = { key: restKey(pool.id), kind: "rest" } as const;
  return [...parts, ...withVms({ ...self, ...position }, pool.id, input)];
}

/** A host, or the VMs without a host, with its VMs if it is expanded. */
function withVms(
  self: Omit<TreeNode, "isOpen" | "count">,
  container: string,
  input: TreeInput,
): TreePart[] {
  const count = input.byContainer.get(container) ?? 0;
  const filter = `$container:${wordText(container)}`;
  return withRun({ ...self, count }, { type: "VM", filter }, input);
}

function withRun(
  self: Omit<TreeNode, "isOpen"> & { readonly count: number },
  request: RunRequest,
  { isOpen, totalOf }: TreeInput,
): TreePart[] {
  const total = totalOf(runKey(self.key)) ?? self.count;
  if (total === 0) return [node({ ...self, count: 0 })];
  const open = isOpen(self.key);
  const line = node({ ...self, count: total, isOpen: open });
  return open ? [line, run(self.key, request, self.level + 1, total)] : [line];
}

function tagBranches(input: TreeInput): TreePart[] {
  const tags = [...input.byTag].sort(([one], [other]) =>
    one === "" ? 1 : other === "" ? -1 : one.localeCompare(other),
  );
  return tags.flatMap(([tag, count], at) => {
    const position = { level: 1, position: at + 1, size: tags.length };
    const self = { key: `tag ${tag}`, kind: "tag", name: tag } as const;
    const filter = tag === "" ? "tags:length:0" : `tags:${exactText(tag)}`;
    return withRun(
      { ...self, ...position, count },
      { type: "VM", filter },
      input,
    );
  });
}

function node(node: TreeNode): TreePart {
  return { kind: "node", node };
}

function run(
  above: string,
  request: RunRequest,
  level: number,
  total: number,
): TreePart {
  return { kind: "run", run: { key: runKey(above), request, level, total } };
}
