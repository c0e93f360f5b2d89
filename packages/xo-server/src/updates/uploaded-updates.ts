import { XoError } from "@xo-server/model";
import type { PoolObject } from "../objects/pool-objects.js";
import {
  advisoriesIn,
  byName,
  type AfterInstallation,
  type MissingPatch,
} from "./missing-patch.js";
import type { UpdateSystem } from "./update-system.js";

/** The fields of XAPI's `pool_update` that are read. */
interface PoolUpdate {
  readonly uuid: string;
  readonly name_label: string;
  readonly name_description: string;
  readonly version: string;
  readonly installation_size: number | string;
  readonly after_apply_guidance: readonly string[];
  readonly hosts: readonly string[];
}

/**
 * Updates of XenServer before version 8, which an administrator uploads to the
 * pool: lists the uploaded updates that a host lacks. The pool does not know which
 * other updates the manufacturer has published.
 */
export const uploadedUpdates: UpdateSystem = {
  name: "uploaded",
  async list(host) {
    const all = await missingOn(host);
    return all.map(([, update]) => toPatch(update)).sort(byName);
  },
  async install(host, { patches }) {
    const { xapi, ref } = host;
    const all = await missingOn(host);
    const requested =
      patches === undefined
        ? all
        : patches.map((id) => {
            const found = all.find(
              ([, { uuid, name_label }]) => uuid === id || name_label === id,
            );
            if (found !== undefined) return found;
            throw new XoError("NO_SUCH_OBJECT", { type: "update", id });
          });
    for (const [update] of requested) {
      await xapi.callAsync("pool_update.precheck", [update, ref]);
      await xapi.callAsync("pool_update.apply", [update, ref]);
    }
  },
};

async function missingOn({
  xapi,
  ref,
}: PoolObject): Promise<(readonly [ref: string, update: PoolUpdate])[]> {
  const all = await xapi.call("pool_update.get_all_records");
  const applied = (await xapi.call("host.get_updates", [ref])) as string[];
  return Object.entries(all as Readonly<Record<string, PoolUpdate>>).filter(
    ([update]) => !applied.includes(update),
  );
}

const guidances: readonly (readonly [string, AfterInstallation])[] = [
  ["restartHost", "reboot-host"],
  ["restartHVM", "reboot-vm"],
  ["restartPV", "reboot-vm"],
  ["restartXAPI", "restart-toolstack"],
];

function toPatch(update: PoolUpdate): MissingPatch {
  const { name_label, name_description, after_apply_guidance } = update;
  const after = guidances.find(([name]) => after_apply_guidance.includes(name));
  const advisories = advisoriesIn(name_label, name_description);
  return {
    id: update.uuid,
    name: name_label,
    description: name_description,
    version: update.version,
    size: Number(update.installation_size),
    after: after?.[1] ?? "nothing",
    isSecurity: advisories.length > 0,
    advisories,
  };
}
