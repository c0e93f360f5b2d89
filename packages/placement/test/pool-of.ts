import type { HostModel, VmModel } from "@xo-server/placement";

export const GIB = 2 ** 30;

/** A host that accepts any VM, with 4 cores. */
export function host(id: string, gib = 4): HostModel {
  return {
    id,
    state: "up",
    cores: 4,
    networks: [],
    srs: [],
    memory: gib * GIB,
  };
}

/** A VM that is eligible for any host, with 1 VCPU. */
export function vm(id: string, gib: number, on?: string, load = 0): VmModel {
  return {
    id,
    vcpus: 1,
    load,
    networks: [],
    srs: [],
    memory: gib * GIB,
    ...(on !== undefined && { host: on }),
  };
}
