import { addressUrl, type Address } from "./http/address.js";
import { memberAddresses } from "./members.js";
import type { XapiComponents } from "./components.js";

/** Asks for the members' addresses: they are where to look when the coordinator is gone. */
export async function discoverMembers(
  parts: XapiComponents,
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
    logger.debug(`${label}: members not learned: ${reason}`);
    return;
  }
  if (members.length > 0 && candidates.setDiscovered(members))
    onCandidates?.(candidates.list().map(addressUrl));
}
