import type { HostModel, VmModel } from "@xo-server/placement";

export const GIB = 2 ** 30;

/** A host that is up, with a network "n" and an SR "s". */
export function up(
  id: string,
  gib: number,
  more: Partial<HostModel> = {},
): HostModel {
  return {
    id,
    state: "up",
    memory: gib * GIB,
    cores: 8,
    networks: ["n"],
    srs: ["s"],
    ...more,
  };
}

/** A VM that must restart, on network "n" and SR "s". */
export function ha(
  id: string,
  gib: number,
  host?: string,
  more: Partial<VmModel> = {},
): VmModel {
  return {
    id,
    memory: gib * GIB,
    vcpus: 2,
    networks: ["n"],
    srs: ["s"],
    ...(host !== undefined && { host }),
    restart: { priority: "restart", order: 0, delay: 0 },
    ...more,
  };
}

export const bestEffort = {
  restart: { priority: "best-effort", order: 0, delay: 0 },
} as const;

/** An unprotected VM of 1 GiB. */
export function plain(id: string, host: string): VmModel {
  const on = { networks: ["n"], srs: ["s"] };
  return { id, host, memory: GIB, vcpus: 1, ...on };
}
