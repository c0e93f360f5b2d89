import type { Job } from "@xo-server/store";
import t from "tap";
import { pausedReason } from "../src/jobs/paused-pools.js";

const POOL = "00000000-0000-0000-0000-00000000000a";
const VM = "00000000-0000-0000-0000-000000000001";
const OTHER = "00000000-0000-0000-0000-000000000002";

const objects = {
  find: (id: string) =>
    (id === VM || id === OTHER
      ? { object: { $pool: id === VM ? POOL : "another" } }
      : undefined) as never,
};

/** @param record of the rolling update of the pool */
function reasonFor(record: object | undefined, vm: string) {
  const settings = {
    *list(prefix = "") {
      if (record !== undefined) yield [`${prefix}${POOL}`, record] as const;
    },
  };
  const plan = async () => ({ calls: [{ params: { id: vm } }] });
  return pausedReason({} as Job, { settings, objects, plan });
}

t.test("jobs of a pool wait for its rolling update", async (t) => {
  const since = 1;
  t.match(await reasonFor({ since, kind: "update" }, VM), /rolling update/);
  t.match(await reasonFor({ since }, VM), /rolling reboot/);
  t.equal(await reasonFor({ since }, OTHER), undefined, "another pool");
  t.equal(await reasonFor({ since, stopped: "x" }, VM), undefined, "stopped");
  t.equal(await reasonFor(undefined, VM), undefined);
});
