import { canonicalMembers } from "../catalog/canonical-json.js";
import { MemberPicker } from "../catalog/member-picker.js";
import { metricOf, metricNames, METRICS_FIELD } from "./metrics.js";
import type { LatestMetrics } from "./latest-metrics.js";
import { toPath } from "./value-path.js";
import type { ViewObject } from "../views/view.js";

/** Extracts fields of objects: top-level fields, and `now.*` metrics. */
export class FieldPicker {
  readonly #latest: LatestMetrics;
  readonly #metrics: readonly number[];
  /** The fields that are not metrics. */
  readonly own: readonly string[];
  /** Fields that sort before `now` in canonical JSON, and after it. */
  readonly #before: MemberPicker;
  readonly #after: MemberPicker;

  constructor(fields: readonly string[], measured: LatestMetrics) {
    this.#latest = measured;
    this.#metrics = metricsOf(fields);
    const own = this.hasMetrics
      ? fields.filter((field) => !isMetricField(field))
      : fields;
    this.own = own;
    this.#before = new MemberPicker(
      this.hasMetrics ? own.filter((field) => field < METRICS_FIELD) : own,
    );
    this.#after = new MemberPicker(
      own.filter((field) => field > METRICS_FIELD),
    );
  }

  /** Whether metrics are among the fields. */
  get hasMetrics(): boolean {
    return this.#metrics.length > 0;
  }

  /** @returns canonical JSON of the object with those of the fields that exist */
  pick(json: Buffer, row: number): Buffer {
    if (!this.hasMetrics) return this.#before.pick(json);
    const now = this.#latest.object(row, this.#metrics);
    const members = [
      withoutBraces(this.#before.pickText(json)),
      now === undefined ? "" : `"${METRICS_FIELD}":${JSON.stringify(now)}`,
      withoutBraces(this.#after.pickText(json)),
    ];
    return Buffer.from(`{${members.filter((text) => text !== "").join(",")}}`);
  }

  /**
   * @param members the values of `own`; gets the metrics too
   * @returns the same as `pick`
   */
  encode(members: ViewObject, row: number): Buffer {
    if (this.hasMetrics)
      members[METRICS_FIELD] = this.#latest.object(row, this.#metrics);
    return Buffer.from(canonicalMembers(members, () => undefined));
  }
}

/** Indexes of the requested metrics, sorted by name as in canonical JSON. */
function metricsOf(fields: readonly string[]): number[] {
  const hasAll = fields.includes(METRICS_FIELD);
  const requested = metricNames.filter(
    (name) => hasAll || fields.includes(`${METRICS_FIELD}.${name}`),
  );
  return requested.sort().map((name) => metricOf([METRICS_FIELD, name]));
}

function isMetricField(field: string): boolean {
  return field === METRICS_FIELD || metricOf(toPath(field)) >= 0;
}

function withoutBraces(text: string): string {
  return text.slice(1, -1);
}
