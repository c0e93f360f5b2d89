import t from "tap";
import { searchRows, toRawRows } from "../src/details/raw-rows.js";
import { bootSteps, movedStep, toOrder } from "../src/details/vm/boot-order.js";
import { coverOf, toProtectionJobs } from "../src/details/vm/protection.js";
import {
  addressesByDevice,
  customFieldsOf,
  toolsOf,
} from "../src/details/vm/vm-properties.js";
import { keyCombinations, pressAll } from "../src/consoles/key-combinations.js";

t.test("a boot order is read, moved and written", async (t) => {
  const steps = bootSteps("dc?c");
  t.same(steps, [
    { device: "d", isOn: true },
    { device: "c", isOn: true },
    { device: "n", isOn: false },
  ]);
  t.equal(toOrder(steps), "dc");
  t.equal(toOrder(movedStep(steps, 1, -1)), "cd");
  t.equal(toOrder(movedStep(steps, 0, -1)), "dc", "the first stays the first");
  t.same(
    bootSteps(undefined).map(({ isOn }) => isOn),
    [false, false, false],
  );
});

t.test(
  "jobs that take snapshots or backups, with enabled schedules",
  async (t) => {
    const [job, ...others] = toProtectionJobs(
      [
        { id: "j", type: "snapshot", name: "nightly", filter: "tags:prod" },
        { id: "k", type: "call", name: "restart" },
      ],
      [
        { jobId: "j", cron: "0 1 * * *", enabled: true, timezone: "UTC" },
        { jobId: "j", cron: "0 2 * * *", enabled: false },
        { jobId: "k", cron: "0 3 * * *", enabled: true },
      ],
    );
    t.same(others, []);
    t.same(job?.schedules, [{ cron: "0 1 * * *", timezone: "UTC" }]);
    t.equal(coverOf(job!, { id: "v" }), "filter");
    t.equal(coverOf({ ...job!, vms: ["v"] }, { id: "v" }), "yes");
    t.equal(coverOf({ ...job!, filter: undefined }, { id: "v" }), "no");
    const tags = ["xo:no-bak"];
    t.equal(coverOf({ ...job!, vms: ["v"] }, { id: "v", tags }), "no");

    const [ofAll, ofFilter] = toProtectionJobs(
      [
        { id: "b", type: "backup", name: "all" },
        { id: "f", type: "backup", name: "prod", filter: "tags:prod" },
        { id: "m", type: "mirrorBackup", name: "mirror" },
      ],
      [],
    );
    t.equal(ofAll!.isBackup, true);
    t.equal(coverOf(ofAll!, { id: "v" }), "yes", "a backup job of all VMs");
    t.equal(coverOf(ofAll!, { id: "v", tags }), "no");
    t.equal(coverOf(ofFilter!, { id: "v" }), "filter");
  },
);

t.test("tools: the state that a running guest reports", async (t) => {
  const vm = { id: "v", type: "VM", power_state: "Running" };
  t.equal(toolsOf({ ...vm, power_state: "Halted" }), undefined);
  t.same(toolsOf(vm), { messageKey: "none" });
  t.same(toolsOf({ ...vm, managementAgentDetected: true }), {
    messageKey: "agentOnly",
  });
  const tools = { pvDriversDetected: true, pvDriversVersion: "8.2" };
  t.same(toolsOf({ ...vm, ...tools }), {
    messageKey: "installed",
    version: "8.2",
  });
  t.same(toolsOf({ ...vm, ...tools, pvDriversUpToDate: false }), {
    messageKey: "outdated",
    version: "8.2",
  });
});

t.test("custom fields, by name", async (t) => {
  const other = {
    "XenCenter.CustomFields.owner": "ada",
    auto_poweron: "true",
    "XenCenter.CustomFields.cost": "7",
  };
  t.same(customFieldsOf({ id: "v", type: "VM", other }), [
    { name: "cost", value: "7" },
    { name: "owner", value: "ada" },
  ]);
  t.same(customFieldsOf({ id: "v", type: "VM" }), []);
});

t.test("addresses by interface", async (t) => {
  const addresses = { "10/ipv4/0": "c", "0/ipv4/0": "a", "0/ipv6/0": "b" };
  t.same(addressesByDevice({ addresses }), [
    { device: "0", addresses: ["a", "b"] },
    { device: "10", addresses: ["c"] },
  ]);
});

t.test("a record in lines, members indented below their parent", async (t) => {
  const rows = toRawRows({
    other_config: { b: "x", deep: { c: 1 } },
    VBDs: ["r1"],
    empty: {},
    is_a: false,
  });
  t.same(
    rows.map(({ path, depth, value }) => [path, depth, value]),
    [
      ["VBDs", 0, undefined],
      ["VBDs.0", 1, "r1"],
      ["empty", 0, "{}"],
      ["is_a", 0, "false"],
      ["other_config", 0, undefined],
      ["other_config.b", 1, "x"],
      ["other_config.deep", 1, undefined],
      ["other_config.deep.c", 2, "1"],
    ],
  );
  t.same(
    searchRows(rows, " R1").map(({ path }) => path),
    ["VBDs", "VBDs.0"],
  );
  t.same(
    searchRows(rows, "deep.c").map(({ path }) => path),
    ["other_config", "other_config.deep", "other_config.deep.c"],
  );
  t.same(searchRows(rows, "nothing at all"), []);
});

t.test("keys go down in their order, and up in the other", async (t) => {
  const pressed: string[] = [];
  const { keys } = keyCombinations.find(({ id }) => id === "ctrlShiftEsc")!;
  pressAll(keys, (keysym, code, down) => {
    pressed.push(`${code} ${keysym.toString(16)} ${down ? "down" : "up"}`);
  });
  t.same(pressed, [
    "ControlLeft ffe3 down",
    "ShiftLeft ffe1 down",
    "Escape ff1b down",
    "Escape ff1b up",
    "ShiftLeft ffe1 up",
    "ControlLeft ffe3 up",
  ]);
});
