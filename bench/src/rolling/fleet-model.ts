import type { HostModel, PoolModel, VmModel } from "@xo-server/placement";
import { startPool, type PoolOptions } from "@xo-server/xapi-sim";

type Fields = Readonly<Record<string, unknown>>;

/** The planner's model of a simulated pool, of VMs that can be migrated. */
export async function fleetModel(
  profile: NonNullable<PoolOptions["profile"]>,
): Promise<PoolModel & { readonly first: string }> {
  const pool = await startPool({ profile, prepare: [] });
  try {
    const { database } = pool;
    const record = (className: string, ref: unknown): Fields | undefined =>
      database.find(className, String(ref));
    const [[, own]] = [...database.records("pool")] as [[string, Fields]];
    const hosts = [...database.records("host")].map(([ref, host]) =>
      toHost(ref, host, record),
    );
    const shared = new Set(
      [...database.records("SR")]
        .filter(([, sr]) => sr["shared"] === true)
        .map(([ref]) => ref),
    );
    const vms = [...database.records("VM")]
      .filter(([, vm]) => vm["power_state"] === "Running")
      .filter(([, vm]) => vm["is_control_domain"] === false)
      .filter(([, vm]) => isMovable(vm, shared, record))
      .map(([ref, vm]) => toVm(ref, vm));
    return { hosts, vms, first: String(own["master"]) };
  } finally {
    await pool.stop();
  }
}

type Find = (className: string, ref: unknown) => Fields | undefined;

function toHost(ref: string, host: Fields, record: Find): HostModel {
  const metrics = record("host_metrics", host["metrics"]);
  const domain = record("VM", host["control_domain"]);
  const total = Number(metrics?.["memory_total"]);
  const kept =
    Number(host["memory_overhead"]) + Number(domain?.["memory_target"] ?? 0);
  return {
    id: ref,
    state: "up",
    memory: total - kept,
    cores: 64,
    networks: [],
    srs: [],
  };
}

function toVm(ref: string, vm: Fields): VmModel {
  const memory = Number(vm["memory_dynamic_max"]);
  return {
    id: ref,
    host: String(vm["resident_on"]),
    memory: memory + Number(vm["memory_overhead"]),
    vcpus: Number(vm["VCPUs_at_startup"]),
    srs: [],
    networks: [],
  };
}

/** All disks are on shared storage, and XAPI allows the migration. */
function isMovable(
  vm: Fields,
  shared: ReadonlySet<string>,
  record: Find,
): boolean {
  const allowed = vm["allowed_operations"] as readonly string[];
  if (!allowed.includes("pool_migrate")) return false;
  return (vm["VBDs"] as readonly string[]).every((vbd) => {
    const vdi = record("VDI", record("VBD", vbd)?.["VDI"]);
    return vdi === undefined || shared.has(String(vdi["SR"]));
  });
}
