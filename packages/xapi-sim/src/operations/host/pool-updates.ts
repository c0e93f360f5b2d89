import type { CallContext, OperationTable } from "../../operation.js";
import { int, refs, text, textParam } from "../../records/fields.js";
import { XapiFailure } from "../../xapi-failure.js";
import { durations } from "../effects/durations.js";

/** The description of an update is at the start of its disk. */
const UPDATE_XML_BYTES = 64 * 1024;

/** Updates and supplemental packs that a client has uploaded to a VDI: XenServer 7 and later [xapi_pool_update.ml, from memory]. */
export const poolUpdateOperations: OperationTable = {
  "pool_update.introduce": introduce,
  "pool_update.precheck": ({ db }, params) => {
    const [update, host] = [textParam(params, 0), textParam(params, 1)];
    db.get("host", host);
    assertNotApplied(db, update, host);
    return "ok";
  },
  "pool_update.apply": async (context, params) => {
    const [update, host] = [textParam(params, 0), textParam(params, 1)];
    assertNotApplied(context.db, update, host);
    await apply(context, update, host);
  },
  "pool_update.pool_apply": async (context, params) => {
    const { db } = context;
    const update = textParam(params, 0);
    const uuid = text(db.get("pool_update", update), "uuid");
    const hosts = [...db.records("host")]
      .map(([ref]) => ref)
      .filter((ref) => !refs(db.get("host", ref), "updates").includes(update));
    if (hosts.length === 0)
      throw new XapiFailure("UPDATE_ALREADY_APPLIED_IN_POOL", [uuid]);
    for (const host of hosts) await apply(context, update, host);
  },
  "pool_update.pool_clean": ({ db }, params) => {
    db.get("pool_update", textParam(params, 0));
  },
  "pool_update.destroy": ({ db }, params) => {
    const update = textParam(params, 0);
    const record = db.get("pool_update", update);
    if (refs(record, "hosts").length > 0)
      throw new XapiFailure("UPDATE_IS_APPLIED");
    db.destroy("pool_update", update);
  },
};

/** The contents of the disk are read as text: `<update name-label="..." .../>`. */
function introduce(
  { db, state }: CallContext,
  params: Parameters<OperationTable[string]>[1],
): string {
  const vdi = textParam(params, 0);
  const bytes = Buffer.alloc(UPDATE_XML_BYTES);
  state.disks.read(text(db.get("VDI", vdi), "uuid"), 0, bytes);
  const [element] = /<update [^>]*>/.exec(bytes.toString("latin1")) ?? [];
  if (element === undefined)
    throw new XapiFailure("INVALID_UPDATE", ["update.xml is missing"]);
  const of = (name: string) =>
    new RegExp(`${name}="([^"]*)"`).exec(element)?.[1] ?? "";
  const uuid = of("uuid");
  for (const [, other] of db.records("pool_update"))
    if (other["uuid"] === uuid)
      throw new XapiFailure("UPDATE_ALREADY_EXISTS", [uuid]);
  const guidance = of("after-apply-guidance");
  return db.create("pool_update", {
    ...(uuid === "" ? {} : { uuid }),
    name_label: of("name-label"),
    name_description: of("name-description"),
    version: of("version"),
    installation_size: Number(of("installation-size") || 0),
    after_apply_guidance: guidance === "" ? [] : [guidance],
    vdi,
    hosts: [],
  });
}

function assertNotApplied(
  db: CallContext["db"],
  update: string,
  host: string,
): void {
  const uuid = text(db.get("pool_update", update), "uuid");
  if (refs(db.get("host", host), "updates").includes(update))
    throw new XapiFailure("UPDATE_ALREADY_APPLIED", [uuid]);
}

async function apply(
  context: CallContext,
  update: string,
  host: string,
): Promise<void> {
  const { db } = context;
  const record = db.get("pool_update", update);
  await context.delay(
    durations.updateInstallation + int(record, "installation_size") / 2 ** 20,
  );
  const before = db.get("host", host);
  const reboots = refs(record, "after_apply_guidance").includes("restartHost");
  db.update("host", host, {
    updates: [...refs(before, "updates"), update],
    updates_requiring_reboot: [
      ...refs(before, "updates_requiring_reboot"),
      ...(reboots ? [update] : []),
    ],
  });
}
