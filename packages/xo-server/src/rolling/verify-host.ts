import { XoError } from "@xo-server/model";
import type { PoolObject } from "../objects/pool-objects.js";
import type { RestartParts } from "../hosts/restart.js";
import { pause } from "../tasks/pause.js";
import type { MissingPatch } from "../updates/missing-patch.js";
import type { MissingPatches } from "../updates/missing-patches.js";
import { softwareVersion } from "../updates/software-version.js";
import { attachedPbds, type Turn } from "./rolling-record.js";

const LOOK_EVERY_MS = 2_000;
/** Storage is connected in the minutes after the start of XAPI. */
const STORAGE_WITHIN_MS = 5 * 60_000;
const UPDATER_WITHIN_MS = 5 * 60_000;

export interface VerifyParts extends RestartParts {
  readonly patches?: MissingPatches | undefined;
  readonly isUpdate: boolean;
  /** Ids of hosts that have been rebooted and verified. */
  readonly completed: readonly string[];
}

/**
 * Verifies that a host is as before its reboot: enabled, with its storage
 * connected; after an update, that it runs the installed version, and the same as
 * the coordinator.
 * @throws XoError INCORRECT_STATE: the first difference
 */
export async function verifyHost(
  turn: Turn,
  parts: VerifyParts,
): Promise<void> {
  const host = () => parts.objects.get(turn.host, "host");
  await storageConnected(turn, parts);
  const { xapi, ref } = host();
  const enabled = await xapi.call("host.get_enabled", [ref]);
  if (enabled !== true)
    throw wrong(host(), {
      property: "enabled",
      actual: enabled,
      expected: true,
    });
  if (parts.isUpdate) await updatesInstalled(turn, parts);
}

async function storageConnected(
  turn: Turn,
  parts: RestartParts,
): Promise<void> {
  const { objects, clock, signal } = parts;
  const until = clock.now() + STORAGE_WITHIN_MS;
  const missing = (): string[] => {
    const attached = new Set(
      attachedPbds(objects.get(turn.host, "host"), objects),
    );
    return (turn.pbds ?? []).filter(
      (pbd) => !attached.has(pbd) && objects.find(pbd) !== undefined,
    );
  };
  let isFirst = true;
  while (missing().length > 0) {
    const late = clock.now() >= until;
    if (late)
      throw notConnected(objects.get(turn.host, "host"), missing(), parts);
    if (signal.aborted) throw new XoError("ABORTED", { what: "it" });
    // XAPI may have stopped trying, while the storage may be reachable now.
    if (!isFirst) await plugAll(missing(), parts);
    isFirst = false;
    await pause(clock, LOOK_EVERY_MS, signal);
  }
}

async function plugAll(
  pbds: readonly string[],
  { objects }: RestartParts,
): Promise<void> {
  for (const pbd of pbds) {
    const { xapi, ref } = objects.get(pbd, "PBD");
    // The next check, or the timeout, reports it.
    await xapi.callAsync("PBD.plug", [ref]).catch(() => undefined);
  }
}

function notConnected(
  host: PoolObject,
  pbds: readonly string[],
  { objects }: RestartParts,
): XoError {
  const names = pbds.map((pbd) => {
    const sr = objects.find(pbd)?.object["SR"];
    const found = typeof sr === "string" ? objects.find(sr) : undefined;
    const name = found?.object["name_label"];
    return typeof name === "string" ? name : pbd;
  });
  return wrong(host, {
    property: "storage",
    actual: `not connected to ${names.join(", ")}`,
    expected: "as before the reboot",
  });
}

async function updatesInstalled(
  { host: id, updates = [], xapiBuild }: Turn,
  parts: VerifyParts,
): Promise<void> {
  const { objects, completed } = parts;
  const host = objects.get(id, "host");
  const expected = new Set(updates);
  const missing = await missingOn(host, parts);
  const left = missing.filter((one) => expected.has(one.id));
  if (left.length > 0)
    throw wrong(host, {
      property: "updates",
      actual: `${left.map(({ name }) => name).join(", ")} missing`,
      expected: "installed",
    });
  const software = await softwareOf(host);
  const build = (software as { xapi_build?: string }).xapi_build;
  // Repositories may have received a newer version since the list was read.
  if (xapiBuild !== undefined && isOlder(build ?? "", xapiBuild))
    throw wrong(host, {
      property: "version",
      actual: `xapi ${build}`,
      expected: `xapi ${xapiBuild}`,
    });
  const { master } = objects.get(String(host.object["$pool"]), "pool").object;
  if (master === id || !completed.includes(String(master))) return;
  const actual = softwareVersion(software);
  const coordinator = objects.get(String(master), "host");
  const requested = softwareVersion(await softwareOf(coordinator));
  if (actual !== requested)
    throw wrong(host, {
      property: "version",
      actual,
      expected: `that of the coordinator: ${requested}`,
    });
}

function isOlder(version: string, than: string): boolean {
  return version.localeCompare(than, "en", { numeric: true }) < 0;
}

/**
 * Reads the missing updates, with retries: after a reboot the updater or its repositories may
 * be unreachable for some seconds.
 */
async function missingOn(
  host: PoolObject,
  { patches, clock, signal }: VerifyParts,
): Promise<readonly MissingPatch[]> {
  const until = clock.now() + UPDATER_WITHIN_MS;
  for (;;)
    try {
      return (await patches?.again(host)) ?? [];
    } catch (error) {
      if (clock.now() >= until || signal.aborted) throw error;
      await pause(clock, LOOK_EVERY_MS, signal);
    }
}

function softwareOf({ xapi, ref }: PoolObject): Promise<unknown> {
  return xapi.call("host.get_software_version", [ref]);
}

function wrong(
  { id }: PoolObject,
  state: {
    readonly property: string;
    readonly actual: unknown;
    readonly expected: unknown;
  },
): XoError {
  return new XoError("INCORRECT_STATE", { object: id, ...state });
}
