/** A round-robin archive: its number of rows, and the seconds that each stands for. */
export interface Archive {
  /** Seconds. */
  readonly step: number;
  readonly rows: number;
}

/** Seconds between two measurements. */
export const BASE_STEP = 5;

/** As xcp-rrdd makes them [rrdd_shared.ml:55-68]; all of them AVERAGE. */
export const archives: readonly Archive[] = [
  { step: 5, rows: 120 },
  { step: 60, rows: 120 },
  { step: 3600, rows: 168 },
  { step: 86400, rows: 366 },
];

/** The time of an archive's newest row at `now`, Unix seconds. */
export function lastRow({ step }: Archive, now: number): number {
  return Math.floor(now / step) * step;
}

/**
 * The finest archive that is at least as coarse as `interval` and reaches back to
 * `start`; where none reaches so far, the coarsest.
 */
export function chooseArchive(
  now: number,
  start: number,
  interval: number,
): Archive {
  const last = archives.at(-1)!;
  return (
    archives.find(
      (archive) =>
        archive.step >= interval &&
        lastRow(archive, now) - archive.step * archive.rows <= start,
    ) ?? last
  );
}
