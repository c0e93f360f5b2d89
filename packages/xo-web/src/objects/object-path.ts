/** The list that contains objects of a type; the paths of their pages begin with it. */
const lists: Readonly<Record<string, string>> = {
  VM: "vms",
  "VM-template": "templates",
  "VM-snapshot": "snapshots",
  "VM-controller": "vms",
  host: "hosts",
  pool: "pools",
  SR: "srs",
  VDI: "vdis",
  network: "networks",
  PIF: "pifs",
  task: "tasks",
  message: "messages",
};

/** Types whose objects have a page of their own. */
const withPages = new Set([
  "VM",
  "VM-template",
  "VM-snapshot",
  "host",
  "pool",
  "SR",
  "network",
]);

/** Path of the page of an object; undefined: it has no page. */
export function pathOf(
  type: string,
  id: string,
  tab?: string,
): string | undefined {
  const list = lists[type];
  if (list === undefined || !withPages.has(type)) return undefined;
  return `/${list}/${id}${tab === undefined ? "" : `/${tab}`}`;
}

/** Path of the list of objects of a type, with a filter. */
export function listPathOf(type: string, filter?: string): string {
  const query = filter ? `?q=${encodeURIComponent(filter)}` : "";
  return `/${lists[type] ?? "vms"}${query}`;
}
