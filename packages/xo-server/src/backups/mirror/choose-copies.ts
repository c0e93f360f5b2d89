import { toDelete, type Retention } from "../../jobs/retention.js";
import type { Copy, SourceBackup } from "./mirror-index.js";

export interface CopyRules {
  readonly rules: Retention;
  readonly timezone: string | undefined;
}

/**
 * The backups to copy, oldest first: those that the retention would keep together
 * with the existing copies. Damaged backups are left out.
 */
export function chooseMissing(
  sources: readonly SourceBackup[],
  copies: readonly Copy[],
  { rules, timezone }: CopyRules,
): SourceBackup[] {
  const copied = new Set(copies.map(({ of }) => of));
  const missing = sources.filter(
    ({ backup, isDamaged }) => !isDamaged && !copied.has(backup),
  );
  const all = [
    ...copies.map(({ of, time, order }) => ({ id: of, time, order })),
    ...missing.map(({ backup, time, order }) => ({ id: backup, time, order })),
  ];
  const expired = new Set(toDelete(all, rules, timezone).map(({ id }) => id));
  return missing
    .filter(({ backup }) => !expired.has(backup))
    .toSorted((a, b) => a.order - b.order);
}

/**
 * Copies that the retention does not keep.
 * @returns their ids in the target
 */
export function chooseExpired(
  copies: readonly Copy[],
  { rules, timezone }: CopyRules,
): string[] {
  const dated = copies.map(({ backup: id, time, order }) => ({
    id,
    time,
    order,
  }));
  return toDelete(dated, rules, timezone).map(({ id }) => id);
}

/**
 * The copy that probably differs least from a backup: the newest one
 * before it, otherwise the oldest one after it. Its own source must still exist and
 * be readable.
 */
export function chooseBase(
  order: number,
  sources: readonly SourceBackup[],
  copies: readonly Copy[],
): Copy | undefined {
  const readable = new Set(
    sources.filter(({ isDamaged }) => !isDamaged).map(({ backup }) => backup),
  );
  const usable = copies
    .filter(({ of }) => readable.has(of))
    .toSorted((a, b) => a.order - b.order);
  return usable.findLast((one) => one.order <= order) ?? usable[0];
}
