import { XoError } from "@xo-server/model";
import type { AuditRecord, AuditVerdict, Store } from "@xo-server/store";
import { ExitCode } from "../lifecycle/exit-code.js";
import type { AuditCommand, CommandResult } from "./store-command-types.js";
import { writeAuditEntry, ok } from "./command-result.js";

/** `xo-server audit ...` */
export function runAuditCommand(
  store: Store,
  command: AuditCommand,
): Promise<CommandResult> {
  switch (command.verb) {
    case "audit verify":
      return verify(store);
    case "audit list":
      return list(store, command);
    case "audit prune":
      return prune(store, command);
  }
}

async function verify({ audit }: Store): Promise<CommandResult> {
  const verdict = await audit.verify();
  if (!verdict.intact) return broken(verdict);
  const { checked, pruned } = verdict;
  const before =
    pruned === undefined ? "" : `, after ${pruned} that were pruned`;
  return ok([`the audit log is intact: ${checked} entries${before}`]);
}

/** Rows that are read at a time. */
const PAGE = 1_000;

async function list(
  { audit, users }: Store,
  command: AuditCommand & { verb: "audit list" },
): Promise<CommandResult> {
  const { user, operation, objectId, limit, json } = command;
  const userId = user && (users.findByName(user)?.id ?? user);
  const records: AuditRecord[] = [];
  while (records.length < limit) {
    const before = records.at(-1)?.seq;
    const page = await audit.list({
      limit: Math.min(PAGE, limit - records.length),
      ...(before === undefined ? {} : { before }),
      ...(userId === undefined ? {} : { userId }),
      ...(operation === undefined ? {} : { operation }),
      ...(objectId === undefined ? {} : { objectId }),
    });
    records.push(...page);
    if (page.length === 0) break;
  }
  return ok(
    records.map((record) => (json ? JSON.stringify(record) : toLine(record))),
  );
}

async function prune(
  store: Store,
  command: AuditCommand & { verb: "audit prune" },
): Promise<CommandResult> {
  if (command.before > Date.now())
    throw new XoError("INVALID_PARAMETERS", {
      reason: "the date has not come yet",
    });
  const pruned = await store.audit.prune(command.before);
  if (pruned.gone > 0) await writeAuditEntry(store, command);
  const told = `${pruned.gone} entries are gone; the chain goes on from the last of them`;
  if (pruned.intact) return ok([pruned.gone > 0 ? told : "nothing to prune"]);
  const { text, code } = broken(pruned);
  return { text: `${text}${pruned.gone} entries before it are gone\n`, code };
}

function broken({
  broken: { seq, reason },
  checked,
}: AuditVerdict & { intact: false }): CommandResult {
  const text = `the audit log is broken at entry ${seq}: ${reason}; ${checked} before it are intact\n`;
  return { text, code: ExitCode.failed };
}

/** What clients said may have anything in it: nothing of it steers a terminal. */
function toLine(record: AuditRecord): string {
  const { seq, time, userName, address, operation, objectId, outcome } = record;
  return [
    String(seq),
    new Date(time).toISOString(),
    userName ?? "-",
    address ?? "-",
    operation,
    objectId ?? "-",
    record.errorCode ?? outcome,
  ]
    .join("  ")
    .replace(/\p{Cc}/gu, "\ufffd");
}
