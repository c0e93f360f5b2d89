import { findNamed, type Named } from "../objects/find-named.js";
import type { Rpc } from "../server/rpc.js";

/** A backup repository, as `remote.getAll` returns it. */
export interface Repository extends Named {
  readonly url: string;
  readonly enabled: boolean;
  readonly error?: { readonly code: string };
  readonly state: {
    /** Bytes. */
    readonly stored?: number;
    readonly backups?: number;
    readonly verification?: {
      /** Milliseconds since the epoch. */
      readonly endedAt?: number;
      readonly findings?: readonly unknown[];
    };
  };
}

/** All backup repositories that the user may see. */
export async function readRepositories(
  rpc: Rpc,
): Promise<readonly Repository[]> {
  return (await rpc.call("remote.getAll")) as readonly Repository[];
}

/** @param text id or name @throws RequestError NO_SUCH_OBJECT; CliError USAGE */
export async function findRepository(
  rpc: Rpc,
  text: string,
): Promise<Repository> {
  return findNamed(await readRepositories(rpc), text, "backup repository");
}
