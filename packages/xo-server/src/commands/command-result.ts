import type { Store } from "@xo-server/store";
import { ExitCode } from "../lifecycle/exit-code.js";
import type { CommandResult, StoreCommand } from "./store-command-types.js";

/** Output of a command that succeeded. @param lines without line ends */
export function ok(lines: readonly string[]): CommandResult {
  return { text: lines.map((line) => `${line}\n`).join(""), code: ExitCode.ok };
}

/** Writes the command to the audit log. */
export async function writeAuditEntry(
  store: Store,
  command: StoreCommand,
): Promise<void> {
  const { verb, ...parameters } = command;
  await store.audit.append({
    address: "command line",
    operation: verb,
    parameters,
    outcome: "success",
  });
}
