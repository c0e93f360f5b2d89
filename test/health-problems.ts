import type { ControlledPools } from "./controlled-pools.js";

type Database = ControlledPools["pools"][number]["database"];

/** Gives the pool one problem of each kind. */
export function addProblems({ pools }: Pick<ControlledPools, "pools">) {
  const { database } = pools[0]!;
  const records = (name: string) => [...database.records(name)];
  const uuidOf = (name: string, ref: string) =>
    database.get(name, ref)["uuid"] as string;
  const [vdiRef, vdi] = records("VDI").find(
    ([, { VBDs, managed, type, is_a_snapshot }]) =>
      type === "user" &&
      managed === true &&
      is_a_snapshot === false &&
      (VBDs as string[]).length > 0,
  )!;
  const copy = (more: object) =>
    database.create("VDI", {
      name_label: "no VM",
      SR: vdi["SR"]!,
      type: "user",
      managed: true,
      virtual_size: "1024",
      ...more,
    });
  const orphan = copy({});
  const orphanSnapshot = copy({ is_a_snapshot: true });
  const missing = copy({ missing: true });

  const [one, other] = shareMac(database);

  const domain = records("VM").find(([, vm]) => vm["is_control_domain"])![0];
  database.create("VBD", {
    VM: domain,
    VDI: vdiRef,
    type: "Disk",
    currently_attached: true,
  });

  let parent = uuidOf("VDI", orphan);
  for (let i = 0; i < 15; i++) {
    const image = copy({
      managed: false,
      sm_config: { "vhd-parent": parent },
    });
    parent = uuidOf("VDI", image);
  }
  const long = copy({ sm_config: { "vhd-parent": parent } });

  const [pbd] = records("PBD").find(([, one]) => one["currently_attached"])!;
  database.update("PBD", pbd, { currently_attached: false });

  database.update("VM", one, { pending_guidances: ["restart_device_model"] });
  const [otherHost] = records("host")[1]!;
  database.update("host", otherHost, {
    pending_guidances: ["restart_toolstack"],
  });

  const [host] = records("host")[0]!;
  const version = database.get("host", host)["software_version"] as object;
  database.update("host", host, {
    software_version: { ...version, product_version: "1.2.3" },
    name_label: "last change",
  });
  const vdiOf = (ref: string) => uuidOf("VDI", ref);
  return {
    orphan: vdiOf(orphan),
    orphanSnapshot: vdiOf(orphanSnapshot),
    missing: vdiOf(missing),
    long: vdiOf(long),
    attached: vdiOf(vdiRef),
    sr: uuidOf("SR", database.get("PBD", pbd)["SR"] as string),
    vms: [uuidOf("VM", one), uuidOf("VM", other)],
    host: uuidOf("host", otherHost),
    pool: uuidOf("pool", records("pool")[0]![0]),
  };
}

/** Gives two VMs the same MAC address. @returns their references */
function shareMac(database: Database): readonly [string, string] {
  const guests = [...database.records("VM")].filter(
    ([, { is_control_domain, is_a_template, is_a_snapshot, VIFs }]) =>
      is_control_domain === false &&
      is_a_template === false &&
      is_a_snapshot === false &&
      (VIFs as string[]).length > 0,
  );
  const [one, other] = guests.map(([ref]) => ref);
  const vifOf = (vm: string) =>
    (database.get("VM", vm)["VIFs"] as string[])[0]!;
  database.update("VIF", vifOf(one!), { MAC: "02:00:00:00:00:01" });
  database.update("VIF", vifOf(other!), { MAC: "02:00:00:00:00:01" });
  return [one!, other!];
}
