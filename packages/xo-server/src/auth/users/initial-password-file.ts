import { readFile, rm } from "node:fs/promises";
import type { WallClock } from "@xo-server/kit";
import type { Store } from "@xo-server/store";
import type { Logger } from "../../log/logger.js";
import { ADMIN } from "./initial-accounts.js";

/** Time after the start of the first check, in ms: it takes 0.3 s of CPU time, which clients of a start would wait for. */
const FIRST_CHECK_MS = 60_000;

interface InitialPasswordFileOptions {
  readonly store: Pick<Store, "users" | "onChange">;
  readonly clock: Pick<WallClock, "setTimeout" | "clearTimeout">;
  readonly logger: Pick<Logger, "info" | "warn">;
}

/**
 * The file with the generated password of the first administrator. It is deleted as soon as this password is no longer
 * right: it was changed, or the users were replaced by those of a restored configuration or database.
 */
export class InitialPasswordFile {
  readonly #path: string;
  readonly #options: InitialPasswordFileOptions;
  readonly #stopListening: () => void;
  /** Of the password that was right at the last check. */
  #tag: string | undefined;
  #checks = Promise.resolve();
  readonly #firstCheck: unknown;

  /** Checks a minute later, too: passwords may have changed while the server did not run. */
  constructor(path: string, options: InitialPasswordFileOptions) {
    this.#path = path;
    this.#options = options;
    const check = () => {
      this.#checks = this.#checks.then(this.#check);
    };
    this.#firstCheck = options.clock.setTimeout(check, FIRST_CHECK_MS);
    this.#stopListening = options.store.onChange((table) => {
      if (table === "users") check();
    });
  }

  async stop(): Promise<void> {
    this.#options.clock.clearTimeout(this.#firstCheck);
    this.#stopListening();
    await this.#checks;
  }

  /** Never rejects. A check of a password takes 0.3 s, so only another one is checked. */
  readonly #check = async (): Promise<void> => {
    const { users } = this.#options.store;
    try {
      const { id = "" } = users.findByName(ADMIN) ?? {};
      const tag = users.passwordTag(id);
      if (tag !== undefined && tag === this.#tag) return;
      const password = await this.#read();
      if (password === undefined) return this.#stopListening();
      if ((await users.verifyPassword(ADMIN, password)) !== undefined) {
        this.#tag = tag;
        return;
      }
      await rm(this.#path, { force: true });
      this.#options.logger.info(
        `${this.#path} deleted: user "${ADMIN}" has another password`,
      );
      this.#stopListening();
    } catch (error) {
      this.#options.logger.warn(`${this.#path} could not be checked`, {
        error,
      });
    }
  };

  /** @returns undefined: there is no file */
  async #read(): Promise<string | undefined> {
    try {
      return (await readFile(this.#path, "utf8")).trim();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
  }
}
