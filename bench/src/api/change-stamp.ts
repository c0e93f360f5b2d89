const PREFIX = "bench-changed-at:";

/** The description that the bench writes to a VM: the current time. */
export function stampNow(): string {
  return `${PREFIX}${(performance.timeOrigin + performance.now()).toFixed(3)};`;
}

/** Of what the simulator's churn writes into other_config, and of `stampNow`; Unix time in ms. */
const STAMP = /(?:"sim:changed_at":"|bench-changed-at:)(\d+(?:\.\d+)?)/g;

/** The times of the changes in a message. */
export function readStamps(message: string): number[] {
  return Array.from(message.matchAll(STAMP), ([, digits]) => Number(digits));
}
