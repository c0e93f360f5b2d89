import { hostname } from "node:os";
import { monotonicClock } from "@xo-server/kit";
import type { Store } from "@xo-server/store";
import { requestLeave, type HandOver } from "../cluster/request-leave.js";
import type { Config } from "../config/config.js";
import { ok, writeAuditEntry } from "./command-result.js";
import type { CommandResult, LeaveCommand } from "./store-command-types.js";

/**
 * Runs `xo-server leave`: writes the request to the database, where the running
 * server finds it.
 */
export async function runLeaveCommand(
  store: Store,
  command: LeaveCommand,
  { server }: Pick<Config, "server">,
): Promise<CommandResult> {
  const name = server.name || hostname();
  const clock = monotonicClock;
  const result = await requestLeave(name, command.isForced, { store, clock });
  await writeAuditEntry(store, command);
  return ok(toLines(name, result));
}

function toLines(
  name: string,
  { moved, free, remaining }: HandOver,
): readonly string[] {
  return [
    `${name} hands over its leases: it acquires no others until its next start, and still serves its clients`,
    ...moved.map(({ subject, to }) => `  ${subject}: now ${to}`),
    ...free.map((subject) => `  ${subject}: no server has taken it`),
    ...remaining.map(
      (subject) =>
        `  ${subject}: still ${name}; moves when its work ends, at the latest when ${name} is stopped`,
    ),
    ...(moved.length + free.length + remaining.length === 0
      ? ["  it had no leases but that on its own tasks"]
      : []),
  ];
}
