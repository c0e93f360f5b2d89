import t from "tap";
import {
  disksOf,
  guestOf,
  placesOf,
  startSide,
  type Side,
} from "./support/two-pools.js";
import { twoPools, type Token, mapped } from "./migrated-pools.js";

/** Number of disks, without those that only others are based on. */
function managed({ db }: Side): number {
  return [...db.records("VDI")].filter(([, vdi]) => vdi["managed"]).length;
}

t.test("all snapshots come along, also a checkpoint", async (t) => {
  const { here, there, places, token } = await twoPools(t);
  const vm = guestOf(here, "Running");
  const disks = managed(here);
  const own = disksOf(here.db, here.db.get("VM", vm)).length;
  await here.client.call("VM.checkpoint", vm, "a");
  await here.client.call("VM.snapshot", vm, "b", []);
  const arrived = (await here.client.call(
    "VM.migrate_send",
    ...mapped(here, vm, { ...places, token }),
  )) as string;
  const { snapshots } = there.db.get("VM", arrived);
  const moved = (snapshots as string[]).map((ref) => there.db.get("VM", ref));
  t.same(moved.map(({ name_label }) => name_label).sort(), ["a", "b"]);
  t.equal(managed(here), disks - own, "nothing is left here");
});

t.test(
  "tracked changes of a disk are refused before all else, those of a snapshot last",
  async (t) => {
    const { here, places, token } = await twoPools(t);
    const vm = guestOf(here, "Running");
    const call = (method: string, without?: "VIFs") => {
      const params = [...mapped(here, vm, { ...places, token })];
      if (without !== undefined) params[4] = {};
      return here.client.call(method, ...params);
    };
    const [disk] = disksOf(here.db, here.db.get("VM", vm));
    await here.client.call("VDI.enable_cbt", disk);
    const refused = { message: `VDI_CBT_ENABLED ${disk}` };
    await t.rejects(call("VM.assert_can_migrate", "VIFs"), refused);
    await t.rejects(call("VM.migrate_send", "VIFs"), refused);
    const snapshot = (await here.client.call(
      "VM.snapshot",
      vm,
      "s",
      [],
    )) as string;
    await here.client.call("VDI.disable_cbt", disk);
    await call("VM.assert_can_migrate");
    const other = { message: /^VIF_NOT_IN_MAP / };
    await t.rejects(call("VM.migrate_send", "VIFs"), other);
    const tracked = disksOf(here.db, here.db.get("VM", snapshot)).find(
      (ref) => here.db.get("VDI", ref)["snapshot_of"] === disk,
    );
    const last = { message: `VDI_CBT_ENABLED ${tracked}` };
    await t.rejects(call("VM.migrate_send"), last);
    await here.client.call("VM.destroy", snapshot);
    await here.client.call("VDI.data_destroy", tracked);
    await call("VM.migrate_send");
    t.equal(
      here.db.get("VDI", tracked!)["type"],
      "cbt_metadata",
      "what no VM has stays behind",
    );
  },
);

t.test(
  "within a pool snapshots move with their disks, unless they are tracked",
  async (t) => {
    const here = await startSide(t, { seed: 1 });
    const vm = guestOf(here, "Halted");
    const { sr, network, host } = placesOf(here);
    const [disk] = disksOf(here.db, here.db.get("VM", vm));
    const home = here.db.get("VDI", disk!)["SR"] as string;
    const [target] = [...here.db.records("SR")].find(
      ([ref, { content_type, type }]) =>
        ref !== home && content_type !== "iso" && type !== "udev",
    )!;
    const token = (await here.client.call(
      "host.migrate_receive",
      host,
      network,
      {},
    )) as Token;
    const send = () => {
      const params = [...mapped(here, vm, { sr, network, token })];
      const disks = disksOf(here.db, here.db.get("VM", vm));
      params[3] = Object.fromEntries(disks.map((vdi) => [vdi, target]));
      params[4] = {};
      return here.client.call("VM.migrate_send", ...params);
    };
    await here.client.call("VDI.enable_cbt", disk);
    const tracked = (await here.client.call(
      "VM.snapshot",
      vm,
      "tracked",
      [],
    )) as string;
    await here.client.call("VDI.disable_cbt", disk);
    await t.rejects(send(), { message: /^VDI_CBT_ENABLED / });
    await t.rejects(here.client.call("VDI.pool_migrate", disk, target, {}), {
      message: /^VDI_CBT_ENABLED /,
    });
    await here.client.call("VM.destroy", tracked);
    const snapshot = (await here.client.call(
      "VM.snapshot",
      vm,
      "s",
      [],
    )) as string;
    const disks = managed(here);
    await send();
    const [moved] = disksOf(here.db, here.db.get("VM", vm));
    const [beside] = disksOf(here.db, here.db.get("VM", snapshot));
    t.match(here.db.get("VDI", moved!), { SR: target, is_a_snapshot: false });
    t.match(here.db.get("VDI", beside!), {
      SR: target,
      is_a_snapshot: true,
      snapshot_of: moved,
    });
    t.equal(managed(here), disks, "nothing is left in the first SR");
  },
);
