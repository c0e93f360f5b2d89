import t from "tap";
import { allActions } from "../src/actions/all-actions.js";
import {
  bestOfPlaces,
  fitting,
  menuItems,
} from "../src/actions/action-menu.js";
import { nameOf } from "../src/actions/plan/action.js";
import { createPlan } from "../src/actions/plan/create-plan.js";
import {
  problemOf,
  type Field,
  type Values,
} from "../src/actions/plan/action-form.js";
import { en } from "../src/locale/en/all.js";
import { Formats } from "../src/locale/formats.js";
import type { ObjectRow } from "../src/api/object-row.js";

const action = (id: string) => allActions.find((one) => one.id === id)!;
const vm = (more: Record<string, unknown>): ObjectRow => ({
  id: "v",
  type: "VM",
  name_label: "web",
  ...more,
});

t.test("an impossible action has a reason", (t) => {
  const refusal = (id: string, more: Record<string, unknown>) =>
    action(id).refusal([vm(more)], en);
  t.equal(refusal("vm.start", { power_state: "Running" }), "The VM is running");
  t.equal(refusal("vm.start", { power_state: "Halted" }), undefined);
  t.equal(
    refusal("vm.cleanShutdown", { power_state: "Running", xenTools: false }),
    "Guest tools are not running",
  );
  t.equal(
    refusal("vm.delete", { blockedOperations: { destroy: "ask Ada" } }),
    "Blocked: ask Ada",
  );
  t.equal(
    refusal("vm.start", {
      power_state: "Halted",
      current_operations: { t1: "start" },
    }),
    "This operation is in progress",
  );
  t.equal(
    action("vm.delete").refusal(
      [{ id: "x", type: "VM-template", isDefaultTemplate: true }],
      en,
    ),
    "Built-in template",
  );
  t.equal(
    action("host.start").refusal(
      [{ id: "h", type: "host", powerOnMode: "" }],
      en,
    ),
    "No power-on mode is configured",
  );
  t.end();
});

t.test("absent columns of a row do not count as a miss", (t) => {
  const bare = [{ id: "v", type: "VM" }];
  for (const id of ["vm.start", "vm.cleanShutdown", "vm.migrate"])
    t.equal(action(id).refusal(bare, en), undefined, id);
  t.end();
});

t.test("an action is for those of many that can", (t) => {
  const states = ["Running", "Halted", "Halted", "Paused"];
  const vms = states.map((power_state, i) => vm({ id: `v${i}`, power_state }));
  const start = action("vm.start");
  t.equal(start.refusal(vms, en), undefined);
  t.same(
    start.possible(vms, en).map(({ id }) => id),
    ["v1", "v2"],
  );
  const running = vms.slice(0, 1);
  t.equal(start.refusal(running, en), "The VM is running");
  t.equal(start.refusal([...running, vms[3]!], en), en.actions.reasons.none);
  t.equal(action("vm.startOn").refusal(vms, en), "Only for a single object");
  t.end();
});

t.test("one button shuts a VM down in any state", (t) => {
  const shown = (power_state: string) => {
    const objects = [vm({ power_state })];
    const go = allActions.filter(({ slot }) => slot === "go");
    return bestOfPlaces(go, objects, en).map(({ id }) => id);
  };
  t.same(shown("Halted"), ["vm.start"]);
  t.same(shown("Suspended"), ["vm.resume"]);
  t.same(shown("Paused"), ["vm.unpause"]);
  t.same(shown("Running"), ["vm.start"]);
  t.end();
});

t.test("a menu has groups and reasons", (t) => {
  const objects = [vm({ power_state: "Halted" })];
  const all = allActions.filter(({ types }) => types.includes("VM"));
  const items = menuItems(all, objects, en);
  const ids = items.map(({ id }) => id);
  t.equal(new Set(ids).size, ids.length, "each once");
  t.equal(items.at(-1)?.id, "vm.delete", "what destroys comes last");
  t.equal(
    items.find(({ id }) => id === "vm.suspend")?.refusal,
    "The VM is halted",
  );
  t.equal(items.filter(({ isFirstOfGroup }) => isFirstOfGroup).length, 3);
  const many = fitting(all, [...objects, ...objects]).map(({ id }) => id);
  t.notOk(many.includes("object.rename"));
  t.ok(many.includes("object.addTag"));
  t.end();
});

t.test("a tag of several objects is removed from all of them", async (t) => {
  const vms = [
    vm({ id: "a", tags: ["prod", "db"] }),
    vm({ id: "b", tags: [] }),
  ];
  const remove = action("object.removeTag");
  t.equal(remove.refusal([vms[1]!], en), "No tags");
  const both = [vms[0]!, vm({ id: "c", tags: ["prod", "web"] })];
  const form = remove.formOf?.(both, {
    text: en,
    formats: new Formats("en", en),
  });
  t.match(form?.fields?.[0], {
    options: [{ id: "db" }, { id: "prod" }, { id: "web" }],
  });
  t.match(createPlan(remove, both, { tag: "prod" }).steps, [
    {
      operation: { method: "tag.remove", params: { tag: "prod" } },
      objects: [{ id: "a" }, { id: "c" }],
    },
  ]);
});

t.test("objects with the same requested values are one step", (t) => {
  const vms = [vm({ id: "a" }), vm({ id: "b" })];
  const plan = createPlan(action("vm.hardShutdown"), vms, {});
  t.same(
    plan.steps.map(({ operation: order, objects }) => [order, objects.length]),
    [[{ method: "vm.stop", params: { force: true } }, 2]],
  );
  const rename = createPlan(action("object.rename"), [vms[0]!], {
    name_label: "x",
  });
  t.same(rename.steps[0]?.operation.params, {
    name_label: "x",
    name_description: "",
  });
  t.end();
});

t.test("stopping several VMs is confirmed with their number", (t) => {
  const localization = { text: en, formats: new Formats("en", en) };
  const many = (n: number) =>
    Array.from({ length: n }, (_, i) => vm({ id: `v${i}` }));
  const asked = (id: string, n: number) =>
    action(id).formOf?.(many(n), localization);
  for (const { id, types, isForOne } of allActions) {
    const isStopping =
      types.includes("VM") && /hutdown|eboot|uspend$|pause$|Pause$/.test(id);
    if (!isStopping || id === "vm.unpause" || isForOne === true) continue;
    t.match(asked(id, 2), { lead: String, typed: undefined }, id);
    t.equal(asked(id, 10)?.typed, undefined, id);
    t.equal(asked(id, 11)?.typed, "11", id);
  }
  t.match(asked("vm.cleanShutdown", 1), { lead: String });
  t.equal(asked("vm.suspend", 1), undefined, "it can be undone");
  t.equal(asked("vm.start", 50), undefined);
  t.equal(asked("host.stop", 3)?.typed, "3");
  t.equal(asked("host.stop", 1)?.typed, "web");
  t.equal(asked("vdi.delete", 2)?.typed, "2");
  t.ok(asked("message.delete", 2), "asked for several");
  t.end();
});

t.test("a VM gets one vTPM, and loses it when its name is typed", (t) => {
  const localization = { text: en, formats: new Formats("en", en) };
  const [create, destroy] = [action("vm.createVtpm"), action("vm.destroyVtpm")];
  const without = vm({ power_state: "Halted", VTPMs: [] });
  const having = vm({ power_state: "Halted", VTPMs: ["t1"] });
  const running = vm({ power_state: "Running", VTPMs: ["t1"] });
  t.equal(create.refusal([without], en), undefined);
  t.equal(create.refusal([having], en), "The VM has a vTPM already");
  t.equal(create.refusal([running], en), "The VM is running");
  t.equal(
    create.refusal([vm({ blockedOperations: { create_vtpm: "Ada" } })], en),
    "Blocked: Ada",
  );
  t.equal(destroy.refusal([without], en), "The VM has no vTPM");
  t.equal(destroy.refusal([running], en), "The VM is running");
  t.equal(destroy.formOf?.([having], localization)?.typed, "web");
  t.same(createPlan(destroy, [having], {}).steps[0]?.operation, {
    method: "vtpm.destroy",
    idParameter: "",
    params: { id: "t1" },
  });
  t.end();
});

t.test("how hosts are reached is changed when a name is typed", (t) => {
  const localization = { text: en, formats: new Formats("en", en) };
  const pool: ObjectRow = { id: "p", type: "pool", name_label: "Paris" };
  const host: ObjectRow = { id: "h", type: "host", name_label: "h1" };
  t.equal(
    action("pool.management").refusal([{ ...pool, HA_enabled: true }], en),
    "HA is enabled",
  );
  for (const id of ["host.management", "host.certificate"])
    t.equal(
      action(id).refusal([{ ...host, power_state: "Halted" }], en),
      "The host is down",
    );
  const asked = (id: string, object: ObjectRow) =>
    action(id).formOf?.([object], localization);
  t.equal(asked("pool.management", pool)?.typed, "Paris");
  t.equal(asked("pool.addHost", pool)?.typed, "Paris");
  const form = asked("host.management", host);
  t.equal(form?.typed, "h1");
  const [field] = form?.fields ?? [];
  const row = { id: "i", type: "PIF", device: "eth1", vlan: 7, ip: "10.0.0.7" };
  t.equal(
    field?.kind === "object" && field.more?.({ ...row, mode: "DHCP" }),
    "eth1.7 · 10.0.0.7 · DHCP",
  );
  const requested = (id: string, object: ObjectRow, values: object) =>
    createPlan(action(id), [object], { ...values }).steps[0]?.operation;
  t.same(requested("host.management", host, { pif: "i" }), {
    method: "host.managementReconfigure",
    params: { pif: "i" },
  });
  t.same(requested("pool.addHost", pool, { host: "h" })?.params, {
    host: "h",
    force: false,
  });
  t.end();
});

t.test("updates and logs of one host", (t) => {
  const host = { id: "h", type: "host", power_state: "Running" };
  const callOf = (id: string) => action(id).operation!(host, {});
  t.match(callOf("host.installUpdates"), {
    method: "pool.installPatches",
    idParameter: "",
    params: { hosts: ["h"] },
  });
  t.match(callOf("host.logs"), { method: "host.getLogs" });
  t.match(callOf("host.auditLog"), { method: "host.getAuditLog" });
  for (const id of ["host.installUpdates", "host.logs", "host.auditLog"]) {
    t.equal(action(id).refusal([host], en), undefined);
    t.equal(
      action(id).refusal([{ ...host, power_state: "Halted" }], en),
      en.actions.reasons.hostDown,
    );
    t.equal(action(id).refusal([host, host], en), en.actions.reasons.oneOnly);
  }
  t.end();
});

t.test("a halted VM starts from its CD drive", (t) => {
  const start = action("vm.recoveryStart");
  const vm = { id: "v", type: "VM", power_state: "Halted" };
  t.match(start.operation!(vm, {}), { method: "vm.recoveryStart" });
  t.equal(start.refusal([vm], en), undefined);
  t.equal(
    start.refusal([{ ...vm, power_state: "Running" }], en),
    en.actions.reasons.state.Running,
  );
  t.end();
});

t.test("a name cannot change the direction of text", (t) => {
  t.equal(nameOf(vm({ name_label: "\u202elive\u202c" })), "live");
  t.end();
});

t.test("selected objects that are left out are counted by reason", (t) => {
  const states = [
    "Running",
    "Halted",
    "Paused",
    "Running",
    "Running",
    "Running",
  ];
  const vms = states.map((power_state, i) =>
    vm({ id: `v${i}`, name_label: `web-${i}`, power_state }),
  );
  t.same(
    action("vm.start").skipped(vms, en),
    [
      {
        reason: "The VM is running",
        count: 4,
        names: ["web-0", "web-3", "web-4"],
      },
      { reason: "The VM is paused", count: 1, names: ["web-2"] },
    ],
    "with the names of the first ones",
  );
  t.end();
});

t.test("only reversible actions offer undo", (t) => {
  const before = [vm({ name_label: "old", name_description: "d" })];
  const back = (id: string, results?: string[]) =>
    action(id)
      .undo?.(before, results)
      ?.map(({ operation: order }) => order);
  t.same(back("vm.suspend"), [{ method: "vm.resume", params: {} }]);
  t.same(back("object.rename"), [
    {
      method: "vm.set",
      params: { name_label: "old", name_description: "d" },
    },
  ]);
  t.same(back("vm.snapshot", ["s1"]), [{ method: "vm.delete" }]);
  t.equal(back("vm.snapshot"), undefined, "of many it is not known which");
  for (const id of ["vm.start", "vm.cleanShutdown", "vm.delete"])
    t.equal(action(id).undo, undefined, id);
  t.end();
});

t.test("a network with a VLAN needs an interface, and the reverse", (t) => {
  const create = action("pool.createNetwork");
  const localization = { text: en, formats: new Formats("en", en) };
  const { fields = [] } = create.formOf!(
    [{ id: "p", type: "pool" }],
    localization,
  )!;
  const problems = (values: Values) =>
    fields
      .filter((field) => problemOf(field, values[field.id] ?? null, values))
      .map(({ id }) => id);
  t.same(problems({ name: "n" }), []);
  t.same(problems({ name: "n", vlan: 77 }), ["pif"]);
  t.same(problems({ name: "n", pif: "x" }), ["vlan"]);
  t.same(problems({ name: "n", pif: "x", vlan: 77 }), []);
  t.end();
});

t.test("a fast clone is offered for halted VMs only", (t) => {
  const kinds = (...states: string[]) => {
    const form = action("vm.copy").formOf!(
      states.map((power_state) => vm({ power_state })),
      { text: en, formats: new Formats("en", en) },
    )!;
    const field = form.fields!.find(({ id }) => id === "kind") as Field & {
      kind: "choice";
    };
    return [field.initial, ...field.options.map(({ id }) => id)];
  };
  t.same(kinds("Halted"), ["fast", "fast", "full", "elsewhere"]);
  t.same(kinds("Halted", "Running"), ["full", "full", "elsewhere"]);
  t.end();
});
