import t from "tap";
import { allActions } from "../src/actions/all-actions.js";
import { initialValues } from "../src/actions/plan/action-form.js";
import { editFields, toVmSettings } from "../src/actions/kinds/vm-fields.js";
import { en } from "../src/locale/en/all.js";

const unchanged = initialValues(editFields(en));

t.test("what is not filled in is not changed", async (t) => {
  t.same(toVmSettings(unchanged), {});
  const changed = {
    ...unchanged,
    CPUs: 4,
    high_availability: "none",
    auto_poweron: "false",
  };
  t.same(toVmSettings(changed), {
    CPUs: 4,
    high_availability: "",
    auto_poweron: false,
  });
  t.same(toVmSettings({ ...unchanged, high_availability: "best-effort" }), {
    high_availability: "best-effort",
  });
});

t.test("a bond has the interfaces that were chosen", async (t) => {
  const action = allActions.find(({ id }) => id === "pool.createBond");
  const pool = { id: "p", type: "pool" };
  const values = { name: "b", bondMode: "lacp", pif1: "1", pif2: "2" };
  t.same(action?.operation?.(pool, values), {
    method: "network.createBonded",
    idParameter: "pool",
    params: { name: "b", bondMode: "lacp", pifs: ["1", "2"] },
  });
});
