import t from "tap";
import { byDay, byVm, diskKey, type Archive } from "../src/backup/archive.js";
import { summaryOf } from "../src/backup/coverage.js";
import {
  inputErrorsOf,
  missingSpace,
  newEntries,
  toCall,
  defaultNetworks,
} from "../src/backup/restore/restore-entries.js";

const archive = (more: Partial<Archive> = {}): Archive => ({
  id: "r/b",
  backupRepository: "r",
  timestamp: 1_000,
  mode: "full",
  vm: { id: "v", name_label: "web" },
  pool: { uuid: "p", name: "P" },
  disks: [
    { id: "r/b/one", uuid: "1", name: "root", size: 10 },
    { id: "r/b/two", uuid: "2", name: "data", size: 100 },
  ],
  size: 110,
  verification: "none",
  ...more,
});

t.test("backups of VMs, also of those that were renamed", async (t) => {
  const vms = byVm([
    archive({
      id: "s/c",
      backupRepository: "s",
      timestamp: 2_000,
      vm: { id: "v", name_label: "www" },
      verification: "damaged",
    }),
    archive(),
    archive({ vm: { id: "w", name_label: "a" } }),
    { ...archive(), vm: undefined as never },
  ]);
  t.match(vms, [
    { id: "w", name: "a", count: 1 },
    {
      id: "v",
      name: "www",
      count: 2,
      newest: 2_000,
      oldest: 1_000,
      damaged: 1,
      repositories: ["s", "r"],
    },
  ]);
  t.equal(vms.length, 2);
});

t.test(
  "the newest backup is the first one, also if a clock was set back",
  async (t) => {
    const late = archive({
      timestamp: 1_000,
      vm: { id: "v", name_label: "new" },
    });
    t.match(byVm([late, archive({ timestamp: 2_000 })]), [
      { name: "new", newest: 1_000, oldest: 2_000 },
    ]);
  },
);

t.test("backups whose repository cannot be read are counted", async (t) => {
  const all = [
    archive({ verification: "verified" }),
    archive({ backupRepository: "s", verification: "verified" }),
  ];
  t.match(byVm(all), [{ unreadable: 0, verified: 2 }]);
  t.match(byVm(all, new Set(["s"])), [{ unreadable: 1, verified: 1 }]);
});

t.test("a time line has a group for each day, newest first", async (t) => {
  const at = (timestamp: number) => archive({ timestamp });
  const days = byDay([at(25), at(12), at(11)], (time) =>
    String(Math.floor(time / 10)),
  );
  t.match(days, [
    { day: "2", archives: [{ timestamp: 25 }] },
    { day: "1", archives: [{ timestamp: 12 }, { timestamp: 11 }] },
  ]);
});

t.test("a restore as a new VM", async (t) => {
  t.equal(diskKey(archive().disks[0]!), "one");
  const entries = newEntries(archive(), true);
  t.match(inputErrorsOf({ ...entries, name: " " }, "web"), {
    sr: "sr",
    name: "required",
  });
  const chosen = { ...entries, sr: "s" };
  t.same(inputErrorsOf(chosen, "web"), {});
  t.same(toCall(chosen, archive()), {
    method: "backup.restore",
    params: { id: "r/b", sr: "s", name: "web", newMacs: true, start: false },
  });
  const some = {
    ...chosen,
    disks: ["two"],
    srs: { one: "x", two: "y" },
    macs: "same",
    differential: true,
  } as const;
  t.match(toCall(some, archive()).params, {
    disks: ["two"],
    srs: { two: "y" },
    newMacs: false,
    differential: true,
  });
  t.equal(newEntries(archive(), false).macs, "same", "the VM is deleted");
});

t.test("a VM is overwritten only after its name was typed", async (t) => {
  const entries = { ...newEntries(archive(), true), kind: "over" } as const;
  t.same(inputErrorsOf(entries, "web"), { typed: "typed" });
  t.same(inputErrorsOf({ ...entries, typed: "web " }, "web"), {});
  t.same(inputErrorsOf({ ...entries, typed: "" }, undefined), {
    typed: "typed",
  });
  t.same(toCall({ ...entries, typed: "web" }, archive()), {
    method: "backup.restoreOver",
    params: { id: "r/b", vm: "v" },
  });
});

t.test("a single disk", async (t) => {
  const entries = {
    ...newEntries(archive(), true),
    disk: "two",
    sr: "s",
    name: "",
    kind: "disk",
  } as const;
  t.same(inputErrorsOf(entries, undefined), {});
  t.same(toCall(entries, archive()), {
    method: "backup.restoreDisk",
    params: { id: "r/b", disk: "two", sr: "s" },
  });
});

t.test("a restore test", async (t) => {
  const entries = {
    ...newEntries(archive(), true),
    kind: "test",
    sr: "s",
    name: "",
    disks: [],
  } as const;
  t.same(inputErrorsOf(entries, undefined), {});
  t.same(toCall(entries, archive()), {
    method: "backupNg.checkBackup",
    params: { id: "r/b", sr: "s" },
  });
  const missing = missingSpace(entries, archive(), () => 50);
  t.same([...missing], [["s", 60]], "all disks are restored");
});

t.test("SRs whose space may not suffice", async (t) => {
  const free = (sr: string) => (sr === "s" ? 50 : undefined);
  const entries = { ...newEntries(archive(), true), sr: "s" };
  const missing = (more: object) =>
    Object.fromEntries(missingSpace({ ...entries, ...more }, archive(), free));
  t.same(missing({}), { s: 60 });
  t.same(missing({ disks: ["one"] }), {});
  t.same(missing({ srs: { two: "other" } }), {}, "its space is not known");
  t.same(missing({ kind: "disk", disk: "one" }), {});
  t.same(missing({ kind: "over" }), {});
});

t.test("which VMs are protected", async (t) => {
  const vm = (name: string, more = {}) => ({ vm: name, name, ...more });
  const summary = summaryOf({
    protected: [vm("a", { lastBackup: 1 }), vm("b")],
    notProtected: [vm("c"), vm("d", { lastBackup: 1 })],
    excluded: [vm("e", { excluded: "it has the tag x" })],
  });
  t.match(summary, {
    total: 4,
    covered: 1,
    share: 0.25,
    others: [
      { name: "c", why: "no-job" },
      { name: "d", why: "no-job" },
      { name: "b", why: "no-backup" },
      { name: "e", why: "excluded" },
    ],
  });
  const none = { protected: [], notProtected: [], excluded: [] };
  t.equal(summaryOf(none).share, 1);
});

t.test("interfaces keep their network, or get one of the same name", (t) => {
  const attached = (device: string, uuid: string, name: string) => ({
    device,
    mac: "",
    network: { uuid, name },
  });
  const networks = [
    { id: "n1", name_label: "LAN" },
    { id: "n2", name_label: "DMZ" },
    { id: "n3", name_label: "DMZ" },
  ];
  const interfaces = [
    attached("0", "n1", "old name"),
    attached("1", "gone", "LAN"),
    attached("2", "gone", "DMZ"),
    attached("3", "gone", ""),
  ];
  const usual = defaultNetworks(interfaces, networks);
  t.same(usual, { 0: "n1", 1: "n1", 2: "", 3: "" });
  const entries = { ...newEntries(archive(), false), sr: "s" };
  t.notOk("networks" in toCall(entries, archive()).params);
  const chosen = { ...entries, networks: { ...usual, 2: "n3" } };
  t.match(toCall(chosen, archive()).params, {
    networks: { 0: "n1", 1: "n1", 2: "n3", 3: null },
    newMacs: false,
  });
  t.end();
});
