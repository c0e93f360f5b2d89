import type { Test } from "tap";
import { ApiSession, startOver, type Thing } from "./api-session.js";

const GiB = 2 ** 30;

/** Two simulated pools behind a server, and VMs that tests create there. */
export async function startVmBench(t: Test) {
  const small = ["--hosts", "2", "--vms", "6"];
  const { url } = await startOver(t, small, [...small, "--seed", "7"]);
  const api = await ApiSession.open(t, url);
  const any = () => true;
  const one = async (filter: object, test: (thing: Thing) => boolean = any) =>
    (await api.all(filter)).find(test)!;
  const pools = await api.all({ type: "pool" });
  const [$pool, elsewhere] = pools.map(({ id }) => id) as [string, string];
  const template = await one({
    type: "VM-template",
    $pool,
    name_label: "Debian Bookworm 12",
  });
  const shared = { type: "SR", shared: true, content_type: "user" };
  const sr = await one({ ...shared, $pool });
  const network = await one({ type: "network", $pool });
  const hosts = await api.all({ type: "host", $pool });
  const make = async (name_label: string, more: object = {}) =>
    (await api.request("vm.create", {
      name_label,
      template: template.id,
      VDIs: [{ SR: sr.id, size: GiB, name_label: `disk of ${name_label}` }],
      VIFs: [{ network: network.id }],
      ...more,
    })) as string;
  const disksOf = (VM: string) =>
    api.all({ type: "VBD", VM, is_cd_drive: false });
  const runs = { bootAfterCreate: true };
  return {
    make,
    api,
    hosts,
    sr,
    template,
    runs,
    $pool,
    one,
    network,
    disksOf,
    shared,
    elsewhere,
  };
}

export type VmBench = Awaited<ReturnType<typeof startVmBench>>;
