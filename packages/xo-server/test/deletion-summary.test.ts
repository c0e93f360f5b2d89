import t from "tap";
import { summarizeDeletion } from "../src/vms/deletion-summary.js";
import { MiniCatalog } from "./mini-catalog.js";
import { slices } from "./placement/slices.js";

const GiB = 2 ** 30;

/** VMs with a disk each; the disk of the first is also that of the last. */
function fleet(vms: number): MiniCatalog {
  const objects = new MiniCatalog("VM", "VBD", "VDI");
  for (let i = 0; i < vms; i++)
    objects.put(
      {
        id: `vm${i}`,
        type: "VM",
        power_state: i === 0 ? "Running" : "Halted",
        $VBDs: [`vbd${i}`, ...(i === vms - 1 ? ["again"] : [])],
        snapshots: i === 1 ? ["snap"] : [],
      },
      { id: `vbd${i}`, type: "VBD", VM: `vm${i}`, VDI: `disk${i}` },
      {
        id: `disk${i}`,
        type: "VDI",
        name_label: `disk ${i}`,
        size: 2 * GiB,
        usage: GiB,
        $VBDs: [`vbd${i}`, ...(i === 0 ? ["again"] : [])],
      },
    );
  objects.put(
    { id: "again", type: "VBD", VM: `vm${vms - 1}`, VDI: "disk0" },
    { id: "cd", type: "VBD", VM: "vm1", VDI: "iso", is_cd_drive: true },
    { id: "snap", type: "VM-snapshot", $VBDs: ["vbdS"] },
    { id: "vbdS", type: "VBD", VM: "snap", VDI: "diskS" },
    { id: "diskS", type: "VDI-snapshot", usage: GiB, $VBDs: ["vbdS"] },
  );
  return objects;
}

const summarize = (
  objects: MiniCatalog,
  ids: readonly string[],
  mayRead = () => true,
) => {
  const inventory = slices();
  return {
    inventory,
    summary: summarizeDeletion(
      ids,
      { catalog: objects.catalog, inventory },
      mayRead,
    ),
  };
};

t.test("all disks of many VMs are counted, in slices", async (t) => {
  const ids = Array.from({ length: 3_000 }, (_, i) => `vm${i}`);
  const { summary, inventory } = summarize(fleet(3_000), ids);
  const { firstDisks, firstKept, ...counts } = await summary;
  t.same(counts, {
    vms: 3_000,
    running: 1,
    snapshots: 1,
    disks: 3_001,
    bytes: 3_001 * GiB,
    keptDisks: 0,
  });
  t.equal(firstDisks.length, 100);
  t.same(firstDisks[0], { id: "disk0", name: "disk 0", size: 2 * GiB });
  t.same(firstKept, []);
  t.ok(inventory.steps > 6_000, "a step per object");
});

t.test("a disk that another VM uses is kept", async (t) => {
  const { summary } = summarize(fleet(5), ["vm0", "vm2", "gone"]);
  t.match(await summary, {
    vms: 2,
    disks: 1,
    keptDisks: 1,
    firstKept: [{ id: "disk0" }],
  });
});

t.test("unreadable objects are not counted", async (t) => {
  const { summary } = summarize(fleet(5), ["vm0"], () => false);
  t.match(await summary, { vms: 0, disks: 0, bytes: 0 });
});
