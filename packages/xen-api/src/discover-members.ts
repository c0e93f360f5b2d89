import { addressUrl, type Address } from "./http/address.js";
import { memberAddresses } from "./members.js";
import type { Logger } from "@xo-server/kit";
import type { CallExecutor } from "./calls/call-executor.js";
import type { Candidates } from "./session/candidates.js";
import type { XapiSession } from "./session/xapi-session.js";

interface MemberDiscovery {
  readonly executor: CallExecutor;
  readonly candidates: Candidates;
  readonly settings: { readonly callTimeoutMs: number };
  readonly session: XapiSession;
  readonly logger: Logger;
  readonly label: string;
}

/** Requests the addresses of all pool members: the candidates when the coordinator fails. */
export async function discoverMembers(
  parts: MemberDiscovery,
  onCandidates: ((hosts: readonly string[]) => void) | undefined,
): Promise<void> {
  const { executor, candidates, settings, session, logger, label } = parts;
  if (session.state.name !== "connected") return;
  const members: Address[] = [];
  try {
    const { address } = await session.ready();
    await executor.request({
      method: "host.get_all_records",
      className: "host",
      params: [],
      shape: "records",
      priority: "event",
      timeoutMs: settings.callTimeoutMs,
      onBatch: (batch) => members.push(...memberAddresses(batch, address)),
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : "";
    logger.debug(`${label}: pool members not discovered: ${reason}`);
    return;
  }
  if (members.length > 0 && candidates.setDiscovered(members))
    onCandidates?.(candidates.list().map(addressUrl));
}
