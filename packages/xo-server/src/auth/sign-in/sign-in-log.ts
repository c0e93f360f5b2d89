import { XoError } from "@xo-server/model";
import type { Store } from "@xo-server/store";

interface SignInAttempt {
  readonly address: string;
  /** `password` for local passwords. */
  readonly provider: string;
  /** Absent: no such user. The name as typed is not recorded: it may be a password typed into the wrong field. */
  readonly user?: { readonly id: string; readonly name: string } | undefined;
  /** Absent: success. */
  readonly error?: Error;
}

/** Writes sign-in attempts to the audit log. */
export class SignInLog {
  readonly #store: Pick<Store, "auditChanges">;

  constructor(store: Pick<Store, "auditChanges">) {
    this.#store = store;
  }

  /** Never rejects: sign-in works while the database is unavailable; the entry is written later. */
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
    await this.#store.auditChanges.end(undefined, entry);
  }
}

/** The password was correct, the two-factor code is missing. */
function detailOf(error: Error | undefined): object {
  return error instanceof XoError && error.data["otpRequired"] === true
    ? { otpRequired: true }
    : {};
}

function codeOf(error: Error): string {
  return error instanceof XoError ? error.code : "INTERNAL";
}
