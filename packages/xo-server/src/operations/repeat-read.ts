import { XoError } from "@xo-server/model";
import type { StoredByOthers } from "./stored-by-others.js";

interface RepeatOptions {
  /** Default: no other server stores anything. */
  readonly stored: StoredByOthers | undefined;
  /** Resolves when the pools of the call are being connected; undefined: they are. */
  readonly connecting: Promise<void> | undefined;
}

/**
 * Carries out a call that changes nothing. It does not wait for pools that are not being
 * connected yet, because most reads need only the mirror; one that fails as its pool is not
 * connected is repeated after that.
 */
export async function repeatRead(
  read: () => Promise<unknown>,
  { stored, connecting }: RepeatOptions,
): Promise<unknown> {
  const attempt = () => (stored === undefined ? read() : stored.read(read));
  if (connecting === undefined) return attempt();
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof XoError && error.code === "NOT_CONNECTED"))
      throw error;
    await connecting;
    return attempt();
  }
}
