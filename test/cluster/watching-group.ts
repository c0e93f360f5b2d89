import type { Test } from "tap";
import { StatusPage } from "../status-page.js";
import { until } from "./lease-owners.js";
import { startBalancer } from "./load-balancer.js";
import { PASSWORD, ServerGroup, type GroupMember } from "./server-group.js";

type GroupOptions = Parameters<typeof ServerGroup.open>[1];

/** Three servers that have loaded the pool. */
export async function startThree(t: Test, options: GroupOptions) {
  const group = await ServerGroup.open(t, options);
  const members: GroupMember[] = [];
  for (let i = 0; i < 3; i++) {
    const member = await group.start(i);
    const page = await StatusPage.open(t, member.url, PASSWORD);
    await page.until(({ pools }) => pools["p"]?.state === "watching");
    members.push(member);
  }
  return { group, members };
}

/** The same behind HAProxy, which answers at `url`. */
export async function startBalancedThree(t: Test, options: GroupOptions) {
  const { group, members } = await startThree(t, options);
  const ports = members.map(({ url }) => Number(new URL(url).port));
  const url = await startBalancer(t, ports);
  const isReady = async () => (await fetch(`${url}/health`)).status === 200;
  await until(() => isReady().catch(() => false));
  return { group, members, url };
}
