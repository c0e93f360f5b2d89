/** An object with a problem. */
export interface HealthItem {
  readonly id: string;
  /** Absent: the object has none, or it has been removed meanwhile. */
  readonly name?: string;
  /** Id of its pool. */
  readonly pool?: string;
  /** Figures and links by name, such as `{mac, vms}` or `{length}`; sizes in bytes, times in seconds since the epoch. */
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface HealthFindings {
  /** Number of objects with the problem, in `items` or not. */
  readonly total: number;
  /** At most `MAX_ITEMS` of them. */
  readonly items: readonly HealthItem[];
  /** Filter of a list with exactly these objects, if the filter language can express it. */
  readonly filter?: string;
  /** Number of objects that could not be checked, such as hosts that did not answer. */
  readonly unknown?: number;
}

/** Maximum number of items of a check in an answer. */
export const MAX_ITEMS = 100;
