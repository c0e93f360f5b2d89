import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApiClient } from "../api/api-client.js";
import { median, type Figures } from "../harness/figures.js";
import { VM_LIST } from "./vm-list.js";

/**
 * VMs up to which `xo.getAllObjects` is measured: a client cannot hold the
 * answer of 100,000, 1 GB, as one text.
 */
const MAX_LISTED = 10_000;
const RENAMES = 5;
const FILE_READS = 3;
const RENAME_TIMEOUT_MS = 10_000;

interface Vm {
  readonly id: string;
  readonly name_label: string;
}

/** Requests of a client after the first list, once each. Times in ms, from the request to the parsed answer. */
export async function measureRequests(
  client: ApiClient,
  vms: number,
): Promise<Figures> {
  const page = (more: object = {}) =>
    timed(() => client.call("query.page", { ...VM_LIST, ...more }));
  const objects = (filter?: object) =>
    timed(() => client.call("xo.getAllObjects", { filter }));
  const againMs = await page();
  const searchMs = await page({ search: "a1" });
  const searchAgainMs = await page({ search: "b2" });
  const filterMs = await page({ filter: "power_state:Running" });
  const filterAgainMs = await page({ filter: "power_state:Halted" });
  const sortMs = await page({ sort: [{ by: "memory.size" }] });
  const sortAgainMs = await page({
    sort: [{ by: "memory.size", descending: true }],
  });
  const disksMs = await page({ type: "VDI", fields: ["name_label", "size"] });
  const [vm] = await readVms(client);
  const { id, name_label } = vm!;
  return {
    againMs,
    searchMs,
    searchAgainMs,
    filterMs,
    filterAgainMs,
    sortMs,
    sortAgainMs,
    disksMs,
    byIdMs: await objects({ type: "VM", id }),
    byNameMs: await objects({ type: "VM", name_label }),
    ...(vms <= MAX_LISTED && {
      allMs: await objects(),
      allAgainMs: await objects(),
      fileMs: await measureFile(await client.call("xo.getAllObjects", {})),
    }),
    renameMs: await measureRenames(client),
  };
}

/** The median of some times in which the JSON of a value is read from a file and parsed, in ms. */
async function measureFile(value: unknown): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "xo-whole-file-"));
  try {
    const path = join(folder, "objects.json");
    await writeFile(path, JSON.stringify(value));
    const times: number[] = [];
    for (let i = 0; i < FILE_READS; i++)
      times.push(
        await timed(
          async () => JSON.parse((await readFile(path)).toString()) as unknown,
        ),
      );
    return median(times);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The median of some renames over the API, each until a list has the new name, in ms. */
async function measureRenames(client: ApiClient): Promise<number> {
  const delays: number[] = [];
  for (const { id } of (await readVms(client)).slice(0, RENAMES))
    delays.push(await timed(() => rename(client, id, `renamed ${id}`)));
  return median(delays);
}

async function rename(
  client: ApiClient,
  id: string,
  name: string,
): Promise<void> {
  await client.call("vm.set", { id, name_label: name });
  const deadline = performance.now() + RENAME_TIMEOUT_MS;
  while (performance.now() < deadline) {
    const [vm] = await readVms(client, { filter: `id:${id}` });
    if (vm?.name_label === name) return;
  }
  throw new Error(`the list has not shown the new name of ${id}`);
}

async function readVms(client: ApiClient, more: object = {}) {
  const fields = ["id", "name_label"];
  const request = { ...VM_LIST, fields, ...more };
  const page = await client.call("query.page", request);
  return (page as { readonly rows: readonly Vm[] }).rows;
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await run();
  return performance.now() - before;
}
