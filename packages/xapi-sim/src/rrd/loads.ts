import type { PoolData } from "../pool-state.js";
import { LOAD_KEY } from "../fleet/load-key.js";
import { hashText } from "../fleet/seeded-random.js";
import { int, map, text } from "../records/fields.js";
import type { XapiRecord } from "../xapi-value.js";
import { noise, wave } from "./metric.js";

/** Core usage of a VM at a moment, Unix seconds. */
export type Load = (seconds: number) => number;

/** Of each VM that many are remembered. */
const MOST_SETTINGS = 16;
/** A stated load varies by this share, up and down. */
const JITTER = 0.05;

/**
 * From `now` on, Unix seconds, the VM uses this many cores, plus or minus a twentieth, and never
 * more than its VCPUs.
 */
export function setLoad(
  { db, state }: PoolData,
  vm: string,
  { cores, now }: { readonly cores: number; readonly now: number },
): void {
  db.get("VM", vm);
  if (!(cores >= 0)) throw new RangeError("a VM keeps 0 or more cores busy");
  const before = state.loads.get(vm) ?? [];
  state.loads.set(vm, [...before, { from: now, cores }].slice(-MOST_SETTINGS));
}

/** A VM's load at any time: stated, or derived from its uuid. */
export function loadOf({ db, state }: PoolData, ref: string): Load {
  const vm = db.get("VM", ref);
  const seed = hashText(`${text(vm, "uuid")}:load`);
  const vcpus = int(vm, "VCPUs_at_startup");
  const settings = state.loads.get(ref) ?? [];
  const usual = usualLoad(vm, seed);
  return (seconds) => {
    const setting = settings.findLast(({ from }) => from <= seconds);
    const load =
      setting === undefined
        ? usual(seconds)
        : around(setting.cores, seed, seconds);
    return Math.min(vcpus, load);
  };
}

function usualLoad(vm: XapiRecord, seed: number): Load {
  const requestedLoad = Number(map(vm, "other_config")[LOAD_KEY]);
  if (requestedLoad >= 0)
    return (seconds) => around(requestedLoad, seed, seconds);
  // Most have little to do, a few have much.
  const share = 0.02 + 0.35 * ((seed >>> 8) / 2 ** 24) ** 2;
  const mean = share * int(vm, "VCPUs_at_startup");
  return (seconds) => mean * (0.6 + 0.8 * wave(seed, seconds));
}

function around(cores: number, seed: number, seconds: number): number {
  return cores * (1 + JITTER * (2 * noise(seed, seconds) - 1));
}
