import { MemberPicker } from "../catalog/member-picker.js";
import { nowMetricOf, nowMetrics, NOW } from "./now-metrics.js";
import type { Measured } from "./now-table.js";
import { toPath } from "./value-path.js";

/** Some fields of objects: their own top-level ones, and what is measured of them. */
export class FieldPicker {
  readonly #measured: Measured;
  readonly #metrics: readonly number[];
  /** Of fields that stand before `now` in canonical JSON, and after it. */
  readonly #before: MemberPicker;
  readonly #after: MemberPicker;

  constructor(fields: readonly string[], measured: Measured) {
    this.#measured = measured;
    this.#metrics = metricsOf(fields);
    const own = this.hasNow
      ? fields.filter((field) => !isOfNow(field))
      : fields;
    this.#before = new MemberPicker(
      this.hasNow ? own.filter((field) => field < NOW) : own,
    );
    this.#after = new MemberPicker(own.filter((field) => field > NOW));
  }

  /** Something measured is among them. */
  get hasNow(): boolean {
    return this.#metrics.length > 0;
  }

  /** @returns canonical JSON of the object with these fields that are there */
  pick(json: Buffer, row: number): Buffer {
    if (!this.hasNow) return this.#before.pick(json);
    const now = this.#measured.object(row, this.#metrics);
    const members = [
      withoutBraces(this.#before.pickText(json)),
      now === undefined ? "" : `"${NOW}":${JSON.stringify(now)}`,
      withoutBraces(this.#after.pickText(json)),
    ];
    return Buffer.from(`{${members.filter((text) => text !== "").join(",")}}`);
  }
}

/** In the order of canonical JSON. */
function metricsOf(fields: readonly string[]): number[] {
  const isWhole = fields.includes(NOW);
  const wanted = nowMetrics.filter(
    (name) => isWhole || fields.includes(`${NOW}.${name}`),
  );
  return wanted.sort().map((name) => nowMetricOf([NOW, name]));
}

function isOfNow(field: string): boolean {
  return field === NOW || nowMetricOf(toPath(field)) >= 0;
}

function withoutBraces(text: string): string {
  return text.slice(1, -1);
}
