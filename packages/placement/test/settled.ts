import type { HostModel, Plan, PoolModel } from "@xo-server/placement";
import { afterPlan } from "./reference/index.js";

/** The pool after a plan, with the same loads of VMs and of everything else. */
export function settled(model: PoolModel, plan: Plan): PoolModel {
  const { homes } = afterPlan(model, plan);
  const vms = model.vms.map((vm) => {
    const host = homes.get(vm.id) ?? vm.host;
    return host === undefined ? vm : { ...vm, host };
  });
  const loadOn = (list: typeof vms, id: string) =>
    list
      .filter(({ host }) => host === id)
      .reduce((sum, { load = 0 }) => sum + load, 0);
  const hosts = model.hosts.map((host): HostModel => {
    if (host.load === undefined) return host;
    const own = Math.max(0, host.load - loadOn([...model.vms], host.id));
    return { ...host, load: own + loadOn(vms, host.id) };
  });
  return { ...model, hosts, vms };
}
