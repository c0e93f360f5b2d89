import type { Formats } from "../../locale/formats.js";
import { fill, type Messages } from "../../locale/messages.js";
import type { RollingState } from "./rolling-plan.js";

/** The rolling update of a pool in one sentence; undefined: not known. */
export function rollingText(
  state: RollingState | undefined,
  { text, formats }: { readonly text: Messages; readonly formats: Formats },
): string {
  if (state === undefined) return "–";
  const { current, last } = state;
  if (current !== null)
    return fill(text.updates[messageKeyOf(current)], {
      done: current.completed.length,
      hosts: current.hosts.length,
      reason: current.stopped ?? "",
      time: formats.moment(
        new Date(current.suspension?.until ?? 0).toISOString(),
      ),
    });
  if (last === null) return text.updates.never;
  return fill(text.updates.last, {
    ago: formats.ago(Date.now() - last.endedAt),
    done: last.completed,
    hosts: last.hosts,
    length: formats.duration(last.endedAt - last.since),
  });
}

function messageKeyOf({
  stopped,
  suspension,
  isSuspendRequested,
}: NonNullable<RollingState["current"]>) {
  if (stopped !== undefined) return "stopped";
  if (suspension === undefined)
    return isSuspendRequested ? "suspending" : "running";
  return suspension.until === undefined ? "suspended" : "waiting";
}
