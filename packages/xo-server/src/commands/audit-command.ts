import { XoError } from "@xo-server/model";
import type { AuditRecord, AuditVerdict, Store } from "@xo-server/store";
import { ExitCode } from "../lifecycle/exit-code.js";
import type { AuditCommand, CommandResult } from "./store-command-types.js";
import { writeAuditEntry, ok } from "./command-result.js";

/** Runs `xo-server audit ...`. */
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
    case "audit accept":
      return accept(store, command);
  }
}

async function verify({ audit }: Store): Promise<CommandResult> {
  const verdict = await audit.verify();
  if (!verdict.intact) return broken(verdict);
  const { checked, pruned } = verdict;
  const before =
    pruned === undefined ? "" : `, ${pruned} earlier entries pruned`;
  const summary = `audit log intact: ${checked} entries${before}`;
  return ok(
    checked > 0 || pruned !== undefined
      ? [summary]
      : [
          summary,
          "warning: an empty audit log proves nothing; check --config and --data",
        ],
  );
}

async function accept(
  store: Store,
  command: AuditCommand & { verb: "audit accept" },
): Promise<CommandResult> {
  await store.audit.resetMark();
  await writeAuditEntry(store, command);
  return ok([
    "the audit mark is set to the last entry of the audit log; entries that were lost before it are no longer reported",
  ]);
}

/** Rows per page. */
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
      reason: "the date is in the future",
    });
  const pruned = await store.audit.prune(command.before);
  if (pruned.deleted > 0) await writeAuditEntry(store, command);
  const summary = `${pruned.deleted} entries deleted; the hash chain continues from the last deleted entry`;
  if (pruned.intact)
    return ok([pruned.deleted > 0 ? summary : "no entries to delete"]);
  const { text, code } = broken(pruned);
  return { text: `${text}${pruned.deleted} earlier entries deleted\n`, code };
}

function broken({
  broken: { seq, reason },
  checked,
}: AuditVerdict & { intact: false }): CommandResult {
  const text = `audit log not intact: entry ${seq}: ${reason}; the ${checked} entries before are intact\n`;
  return { text, code: ExitCode.failed };
}

/** Escapes control characters, because input of clients must not control the terminal. */
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
