import { request } from "node:http";
import type { PoolAddress } from "../harness/simulator.js";

/** Sets the change rate of the simulated pools, all together. */
export async function setChurn(
  pools: readonly PoolAddress[],
  changesPerSecond: number,
): Promise<void> {
  const perSecond = changesPerSecond / pools.length;
  await Promise.all(
    pools.map(({ url }) => post(`${url}/sim/churn`, { perSecond })),
  );
}

function post(url: string, message: object): Promise<void> {
  const body = JSON.stringify(message);
  return new Promise((resolve, reject) => {
    const call = request(url, { method: "POST", agent: false }, (answer) => {
      answer.resume();
      if (answer.statusCode === 200) answer.on("end", resolve);
      else reject(new Error(`${url}: HTTP ${answer.statusCode}`));
    });
    call.on("error", reject);
    call.setHeader("content-length", Buffer.byteLength(body));
    call.end(body);
  });
}
