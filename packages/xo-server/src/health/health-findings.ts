/** An object with a problem. */
export interface HealthItem {
  readonly id: string;
  /** Absent: the object has no name, or was deleted in the meantime. */
  readonly name?: string;
  /** Id of its pool. */
  readonly pool?: string;
  /** Figures and links by name, such as `{mac, vms}` or `{length}`; sizes in bytes, times in seconds since the epoch. */
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface HealthFindings {
  /** Number of objects with the problem, including those that are not in `items`. */
  readonly total: number;
  /** The first `MAX_ITEMS` objects. */
  readonly items: readonly HealthItem[];
  /** Filter of a list with exactly these objects, if the filter language can express it. */
  readonly filter?: string;
  /** Number of objects that could not be checked, such as hosts that did not answer. */
  readonly unknown?: number;
}

/** Maximum number of items of a check in an answer. */
export const MAX_ITEMS = 100;
