import { formatMs, formatRatio } from "./format.js";
import { markdownTable } from "./markdown.js";

/** A performance target of the product, compared with the medians. */
export interface Target {
  /** What the target requires. */
  readonly requirement: string;
  /** In a readable form. */
  readonly measured: string;
  /** Undefined: this run did not measure it. */
  readonly met: boolean | undefined;
}

/** All targets with measured values and status. */
export function targetTable(targets: readonly Target[]): string {
  return markdownTable(
    [{ title: "Target" }, { title: "Measured", align: "right" }, { title: "" }],
    targets.map((target) => [
      target.requirement,
      target.measured,
      statusOf(target),
    ]),
  );
}

/** Status of a target for the table: met, missed or not measured. */
export function statusOf({ met }: Target): string {
  if (met === undefined) return "not measured";
  return met ? "met" : "**missed**";
}

/** @param value a ratio; NaN: not measured */
export function atMost(what: string, limit: number, value: number): Target {
  return {
    requirement: `${what}: at most ${limit}x`,
    measured: formatRatio(value),
    met: Number.isFinite(value) ? value <= limit : undefined,
  };
}

/** A ratio that must be reached. `met` is undefined if it was not measured. */
export function atLeast(what: string, limit: number, value: number): Target {
  return {
    requirement: `${what}: at least ${limit}x`,
    measured: formatRatio(value),
    met: Number.isFinite(value) ? value >= limit : undefined,
  };
}

/** A duration that must not be exceeded, in ms. `met` is undefined if it was not measured. */
export function atMostMs(
  what: string,
  limitMs: number,
  valueMs: number,
): Target {
  return {
    requirement: `${what}: at most ${limitMs} ms`,
    measured: Number.isFinite(valueMs) ? `${formatMs(valueMs)} ms` : "-",
    met: Number.isFinite(valueMs) ? valueMs <= limitMs : undefined,
  };
}
