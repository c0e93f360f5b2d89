import { hashText } from "../fleet/seeded-random.js";
import type { Run } from "../pool-state.js";

/** One thing that is measured of a host, VM or SR. Values are a pure function of owner, name and time: nothing is stored. */
export interface Metric {
  readonly name: string;
  readonly description: string;
  readonly units: string;
  /** Infinity where there is no limit. */
  readonly max: number;
  readonly type: "GAUGE" | "DERIVE";
  /** Value at a time in Unix seconds. NaN before the first measurement. */
  valueAt(seconds: number): number;
}

/** A metric before it is assigned to an object. */
export interface MetricDefinition {
  readonly name: string;
  readonly description: string;
  readonly units: string;
  readonly max?: number;
  /** The values swing between these. */
  readonly low: number;
  readonly high: number;
}

const always: readonly Run[] = [{ from: -Infinity, to: Infinity }];

/** @param runs when there was anything to measure: between them are gaps */
export function makeMetrics(
  owner: string,
  shapes: readonly MetricDefinition[],
  runs: readonly Run[] = always,
): readonly Metric[] {
  return shapes.map(
    ({ name, description, units, max = Infinity, low, high }) => {
      const seed = hashText(`${owner}:${name}`);
      return {
        name,
        description,
        units,
        max,
        type: derived.test(name) ? "DERIVE" : "GAUGE",
        valueAt: (seconds) => {
          if (!isWithin(runs, seconds)) return NaN;
          return low === high ? low : low + (high - low) * wave(seed, seconds);
        },
      };
    },
  );
}

/** Most requested moments are in the last run. */
export function isWithin(runs: readonly Run[], seconds: number): boolean {
  for (let i = runs.length - 1; i >= 0; i--)
    if (seconds >= runs[i]!.from && seconds <= runs[i]!.to) return true;
  return false;
}

/** Counters whose rate is stored. */
const derived = /^(cpu|pif_|vif_|vbd_.*(read|write)$)/;

/** Value in [0, 1]: a wave of a day, a wave of some minutes, and noise per 5 s. */
export function wave(seed: number, seconds: number): number {
  const phase = (seed % 86400) / 86400;
  const day = 0.5 + 0.5 * Math.sin(2 * Math.PI * (seconds / 86400 + phase));
  const minutes =
    0.5 +
    0.5 * Math.sin(2 * Math.PI * (seconds / (600 + (seed % 400)) + phase * 7));
  return 0.4 * day + 0.3 * minutes + 0.3 * noise(seed, seconds);
}

/** Pseudo-random number in [0, 1), another one every 5 s. */
export function noise(seed: number, seconds: number): number {
  let bits = Math.imul(seed ^ Math.floor(seconds / 5), 0x9e3779b1);
  bits = Math.imul(bits ^ (bits >>> 15), 0x85ebca6b);
  return ((bits ^ (bits >>> 13)) >>> 0) / 4294967296;
}
