import type {
  CreateResult,
  OpenResult,
  StorageLocation,
  WorkOperation,
} from "@xo-server/backup";
import { randomBytes } from "node:crypto";
import { toRepositoryError } from "./repository-error.js";
import type { RepositoryCredentials } from "./repository-input.js";
import type { Workers } from "./workers.js";

/** A repository that was opened, or created. Only a new one has a recovery sheet. */
type Opened = OpenResult & Partial<CreateResult>;

/** @throws XoError BACKUP_REPOSITORY_*, ABORTED */
export async function openOrCreate(
  workers: Pick<Workers, "run">,
  {
    storage,
    name,
  }: { readonly storage: StorageLocation; readonly name: string },
  {
    passphrase,
    recoveryKey,
    parity,
  }: RepositoryCredentials & { parity: boolean },
): Promise<Opened> {
  const open = async (
    operation: WorkOperation,
    credentials: RepositoryCredentials,
  ) => {
    const { passphrase, recoveryKey } = credentials;
    return (await workers.run({
      storage,
      operation,
      ...(recoveryKey === undefined ? {} : { recoveryKey }),
      ...(passphrase === undefined ? {} : { passphrase }),
    })) as Opened;
  };
  try {
    if (recoveryKey !== undefined)
      return await open({ type: "open" }, { recoveryKey });
    if (passphrase !== undefined)
      try {
        return await open({ type: "open" }, { passphrase });
      } catch (error) {
        if ((error as { code?: unknown }).code !== "absent") throw error;
      }
    // Without a passphrase only the recovery key opens the repository.
    const secret = passphrase ?? randomBytes(32).toString("base64url");
    return await open({ type: "create", passphrase: secret, parity }, {});
  } catch (error) {
    throw toRepositoryError(error, name);
  }
}
