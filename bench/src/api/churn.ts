import type { PoolAddress } from "../harness/simulator.js";

/** Sets the number of changes per second of each simulated pool. */
export async function setChurn(
  pools: readonly PoolAddress[],
  perSecond: number,
): Promise<void> {
  for (const { url } of pools) {
    const body = JSON.stringify({ perSecond });
    const answer = await fetch(`${url}/sim/churn`, { method: "POST", body });
    if (!answer.ok) throw new Error(`churn: ${await answer.text()}`);
  }
}
