import t from "tap";
import type { Json } from "@xo-server/kit";
import { permitted } from "../src/actions/permitted.js";
import { allActions } from "../src/actions/all-actions.js";
import { en } from "../src/locale/en/all.js";
import { AllowedOperations } from "../src/rights/allowed-operations.js";

const settle = () => new Promise(setImmediate);

t.test("requests of a turn are one call; answers are cached", async (t) => {
  const calls: Json[] = [];
  let answered = 0;
  const allowed = new AllowedOperations(
    (_, params = null) => {
      calls.push(params);
      return Promise.resolve({ a: ["vm.start"], b: [] });
    },
    () => answered++,
  );
  const request = () =>
    ["a", "b"].map((id) => [
      allowed.get({ method: "vm.start" }, id),
      allowed.get({ method: "vm.copy", idParameter: "vm" }, id),
    ]);
  request();
  await settle();
  t.same(calls, [
    {
      ids: ["a", "b"],
      operations: [
        { method: "vm.start", idParameter: "id" },
        { method: "vm.copy", idParameter: "vm" },
      ],
    },
  ]);
  t.equal(answered, 1);
  t.same(request(), [
    [true, false],
    [false, false],
  ]);
  t.equal(calls.length, 1);
  allowed.clear();
  t.equal(allowed.get({ method: "vm.start" }, "a"), undefined, "another user");
});

t.test(
  "a server without this information lets the operation decide",
  async (t) => {
    const allowed = new AllowedOperations(
      () => Promise.reject(new Error("unknown method")),
      () => undefined,
    );
    allowed.get({ method: "vm.start" }, "a");
    await settle();
    t.equal(allowed.get({ method: "vm.start" }, "a"), true);
  },
);

t.test("only permitted actions are offered", (t) => {
  const vms = ["mine", "seen"].map((id) => ({ id, type: "VM" }));
  const may = ({ method }: { method: string }, id: string) =>
    id === "mine" && method === "vm.start";
  const actions = allActions.filter(({ types }) => types.includes("VM"));
  const of = (objects: typeof vms) => permitted(actions, objects, { may });
  t.same(
    of([vms[1]!]).map(({ id }) => id),
    ["vm.where"],
  );
  t.ok(of([vms[0]!]).some(({ id }) => id === "vm.start"));
  const start = of(vms).find(({ id }) => id === "vm.start")!;
  t.same(
    start.possible(vms, en).map(({ id }) => id),
    ["mine"],
  );
  t.same(start.skipped(vms, en), [
    { reason: en.actions.reasons.forbidden, count: 1, names: ["seen"] },
  ]);
  const all = permitted(actions, vms, { may: () => true });
  t.same(all, actions, "the same actions for an administrator");
  t.end();
});
