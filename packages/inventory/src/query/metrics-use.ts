import { METRICS_FIELD, metricOf } from "./metrics.js";
import type { CompiledQuery } from "./request.js";
import { toPath, type ValuePath } from "./value-path.js";

/** Whether clients read metrics: otherwise they are fetched from hosts less often. */
export class MetricsUse {
  #readers = 0;
  #isRead = false;

  /** Metrics have been read once. */
  readonly note = (): void => {
    this.#isRead = true;
  };

  /** These paths are read once. */
  notePaths(paths: Iterable<ValuePath>): void {
    for (const path of paths) if (metricOf(path) >= 0) this.note();
  }

  /** Metrics are being read. @returns to be called when they no longer are */
  open(): () => void {
    this.#readers++;
    let isOpen = true;
    return () => {
      if (isOpen) this.#readers--;
      isOpen = false;
    };
  }

  /** Whether they are being read, or have been since the last call. */
  take(): boolean {
    const isUsed = this.#isRead || this.#readers > 0;
    this.#isRead = false;
    return isUsed;
  }
}

/** Whether a query filters or sorts by metrics, or returns them. */
export function usesMetrics(
  { paths, sort = [] }: Pick<CompiledQuery, "paths" | "sort">,
  fields: readonly string[] = [],
): boolean {
  return (
    paths.some((path) => metricOf(path) >= 0) ||
    sort.some(({ path }) => metricOf(path) >= 0) ||
    fields.some(
      (field) => field === METRICS_FIELD || metricOf(toPath(field)) >= 0,
    )
  );
}
