import type { Store } from "@xo-server/store";
import { ExitCode } from "./exit-code.js";
import type { Said, StoreCommand } from "./store-command-kinds.js";

export function ok(lines: readonly string[]): Said {
  return { text: lines.map((line) => `${line}\n`).join(""), code: ExitCode.ok };
}

/** Who has the machine can do all this; that it was done is written down. */
export async function note(store: Store, command: StoreCommand): Promise<void> {
  const { verb, ...parameters } = command;
  await store.audit.append({
    address: "command line",
    operation: verb,
    parameters,
    outcome: "success",
  });
}
