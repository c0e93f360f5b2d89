import type { PoolData } from "../pool-state.js";
import { LOAD_KEY } from "../fleet/load-key.js";
import { hashText } from "../fleet/seeded-random.js";
import { int, map, text } from "../records/fields.js";
import type { XapiRecord } from "../xapi-value.js";
import { noise, wave } from "./metric.js";

/** CPU usage of a VM in cores, at a time in Unix seconds. */
export type Load = (seconds: number) => number;

/** Number of settings that are retained for each VM. */
const MAX_SETTINGS = 16;
/** A load that was set varies by this share, up and down. */
const JITTER = 0.05;

/**
 * From `now` on, Unix seconds, the VM uses this many cores, plus or minus 5 %, and at most
 * its VCPUs.
 * @throws RangeError for less than 0 cores
 */
export function setLoad(
  { db, state }: PoolData,
  vm: string,
  { cores, now }: { readonly cores: number; readonly now: number },
): void {
  db.get("VM", vm);
  if (!(cores >= 0))
    throw new RangeError("the load of a VM is 0 or more cores");
  const before = state.loads.get(vm) ?? [];
  state.loads.set(vm, [...before, { from: now, cores }].slice(-MAX_SETTINGS));
}

/** The load of a VM at any time: as set, or derived from its UUID. */
export function loadOf({ db, state }: PoolData, ref: string): Load {
  const vm = db.get("VM", ref);
  const seed = hashText(`${text(vm, "uuid")}:load`);
  const vcpus = int(vm, "VCPUs_at_startup");
  const settings = state.loads.get(ref) ?? [];
  const defaultLoad = defaultLoadOf(vm, seed);
  return (seconds) => {
    const setting = settings.findLast(({ from }) => from <= seconds);
    const load =
      setting === undefined
        ? defaultLoad(seconds)
        : withJitter(setting.cores, seed, seconds);
    return Math.min(vcpus, load);
  };
}

function defaultLoadOf(vm: XapiRecord, seed: number): Load {
  const requestedLoad = Number(map(vm, "other_config")[LOAD_KEY]);
  if (requestedLoad >= 0)
    return (seconds) => withJitter(requestedLoad, seed, seconds);
  // Most VMs have a low load, a few a high one.
  const share = 0.02 + 0.35 * ((seed >>> 8) / 2 ** 24) ** 2;
  const mean = share * int(vm, "VCPUs_at_startup");
  return (seconds) => mean * (0.6 + 0.8 * wave(seed, seconds));
}

function withJitter(cores: number, seed: number, seconds: number): number {
  return cores * (1 + JITTER * (2 * noise(seed, seconds) - 1));
}
