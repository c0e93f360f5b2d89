import { join } from "node:path";
import type { WallClock } from "@xo-server/kit";
import type { Store } from "@xo-server/store";
import { createInitialAccounts } from "../auth/users/initial-accounts.js";
import { InitialPasswordFile } from "../auth/users/initial-password-file.js";
import { PasswordPolicy } from "../auth/users/password-policy.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import type { ServerOptions } from "./server-options.js";

/**
 * Creates the built-in roles and the first administrator of a new database. The hash
 * of the password takes 0.3 s of a thread, in which the rest of the server starts.
 * @throws XoError CONFIG_INVALID, STORE_UNAVAILABLE
 */
export async function startAccounts(
  store: Store,
  options: ServerOptions & { readonly clock: WallClock },
  stops: StopStack,
): Promise<void> {
  const { config, loggers, env, demo, clock } = options;
  const logger = loggers.named("xo:auth");
  // A demo needs no file: its database is deleted together with its users.
  const passwordFile =
    demo === undefined
      ? join(config.dataDir, "initial-admin-password")
      : undefined;
  await createInitialAccounts(store, {
    logger,
    policy: toPasswordPolicy(options),
    passwordFile,
    ...(env === undefined ? {} : { env }),
  });
  if (passwordFile !== undefined) {
    const file = new InitialPasswordFile(passwordFile, {
      store,
      clock,
      logger,
    });
    stops.push("initial password", () => file.stop());
  }
  // Without a checkpoint, a copy of the file of a new database would be empty: all
  // data would still be in the journal.
  await store.checkpoint();
}

/** Users of a demo may have any password. */
export function toPasswordPolicy({
  config,
  demo,
}: Pick<ServerOptions, "config" | "demo">): PasswordPolicy {
  return new PasswordPolicy(
    demo === undefined ? config.auth : { minPasswordLength: 1 },
  );
}
