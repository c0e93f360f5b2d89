import type { Vault } from "./vault.js";

/** Encrypts what clients hold for the servers of a database, with the key of the store: each of them can open it. */
export class Seals {
  readonly #vault: Vault;

  constructor(vault: Vault) {
    this.#vault = vault;
  }

  /** @param purpose separates texts of different uses */
  seal(text: string, purpose: string): string {
    return this.#vault.seal(text, contextOf(purpose));
  }

  /** @returns undefined: not sealed for this purpose with a key of the store */
  open(sealed: string, purpose: string): string | undefined {
    try {
      return this.#vault.open(sealed, contextOf(purpose));
    } catch {
      // Clients send it, and get no details about what is invalid.
      return undefined;
    }
  }
}

function contextOf(purpose: string): string {
  return `held by clients/${purpose}`;
}
