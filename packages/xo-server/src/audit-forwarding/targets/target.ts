import type { AuditRecord } from "@xo-server/store";
import type { Config } from "../../config/config.js";

export type TargetConfig = Config["audit"]["forward"][number];

/** A destination of forwarded entries. */
export interface AuditTarget {
  /** URL without query and secrets, for status and log. */
  readonly address: string;
  /**
   * Resolves when the target has received all entries; for UDP, when they have
   * been sent.
   * @throws XoError or an error of the file system or network
   */
  send(records: readonly AuditRecord[], signal: AbortSignal): Promise<void>;
}

/** Timeout of each attempt, in ms. */
export const SEND_TIMEOUT_MS = 30_000;
