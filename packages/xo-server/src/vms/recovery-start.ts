import type { PoolObject } from "../objects/pool-objects.js";
import { readRecord } from "./xapi-records.js";

/** Boot order: only the CD. */
const FROM_CD = { order: "d" };

/**
 * Starts a halted VM from its CD, once; a paravirtual VM is started in HVM mode.
 * Its settings are restored afterwards.
 */
export async function recoveryStart({
  xapi,
  ref,
}: Pick<PoolObject, "xapi" | "ref">): Promise<void> {
  const before = await readRecord(xapi, "VM", ref);
  const { HVM_boot_params, HVM_boot_policy, domain_type } = before;
  const isPv = HVM_boot_policy === "" || domain_type === "pv";
  const boot = { ...HVM_boot_params, ...FROM_CD };
  await xapi.call("VM.set_HVM_boot_params", [ref, boot]);
  try {
    if (isPv) await setKind(true);
    await xapi.callAsync("VM.start", [ref, false, false]);
  } finally {
    if (isPv) await setKind(false);
    await xapi.call("VM.set_HVM_boot_params", [ref, HVM_boot_params]);
  }

  /** Pools before version 7.5 only know the policy, later ones the domain type. */
  async function setKind(isHvm: boolean): Promise<void> {
    if (domain_type === undefined) {
      const policy = isHvm ? "BIOS order" : HVM_boot_policy;
      await xapi.call("VM.set_HVM_boot_policy", [ref, policy]);
    } else {
      const type = isHvm ? "hvm" : domain_type;
      await xapi.call("VM.set_domain_type", [ref, type]);
    }
  }
}
