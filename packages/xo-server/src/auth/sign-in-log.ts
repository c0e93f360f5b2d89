import { XoError } from "@xo-server/model";
import type { Store } from "@xo-server/store";
import type { Logger } from "../log/logger.js";

export interface SignInAttempt {
  readonly address: string;
  /** `password` for those of our own. */
  readonly provider: string;
  /** The user here; absent: there is none. What was typed is not told: people type passwords into the wrong field. */
  readonly user?: { readonly id: string; readonly name: string } | undefined;
  /** Absent: it succeeded. */
  readonly error?: Error;
}

/** Writes tries to sign in to the audit log. */
export class SignInLog {
  readonly #store: Pick<Store, "audit">;
  readonly #logger: Logger;

  constructor(store: Pick<Store, "audit">, logger: Logger) {
    this.#store = store;
    this.#logger = logger;
  }

  /** Never rejects: who may come in does so also while the store is away. */
  async write({
    address,
    provider,
    user,
    error,
  }: SignInAttempt): Promise<void> {
    const entry = {
      ...(user === undefined ? {} : { userId: user.id, userName: user.name }),
      address,
      operation: "session.signIn",
      parameters: { provider, ...detailOf(error) },
      ...(error === undefined
        ? ({ outcome: "success" } as const)
        : ({ outcome: "failure", errorCode: codeOf(error) } as const)),
    };
    try {
      await this.#store.audit.append(entry);
    } catch (problem) {
      this.#logger.warn("A sign-in is not in the audit log", {
        entry,
        error: problem,
      });
    }
  }
}

/** The password was right. */
function detailOf(error: Error | undefined): object {
  return error instanceof XoError && error.data["otpRequired"] === true
    ? { otpRequired: true }
    : {};
}

function codeOf(error: Error): string {
  return error instanceof XoError ? error.code : "INTERNAL";
}
