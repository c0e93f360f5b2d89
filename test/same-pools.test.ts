import t from "tap";
import { PASSWORD } from "./api-session.js";
import { StatusPage } from "./status-page.js";
import { startControlled } from "./controlled-pools.js";

// Real pools on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 120_000 };
t.comment("timeout=120000");

t.test(
  "two pools with the same UUIDs: each has a warning",
  LIMIT,
  async (t) => {
    const size = { hosts: 1, vms: 1, seed: 5 };
    const { url } = await startControlled(t, size, size, { ...size, seed: 6 });
    const page = await StatusPage.open(t, url, PASSWORD);
    const { pools } = await page.until(
      ({ pools }) =>
        pools["p0"]?.warnings !== undefined &&
        pools["p1"]?.warnings !== undefined,
    );
    t.match(pools["p0"]?.warnings, [
      { code: "SAME_POOL", data: { pool: "P1" } },
    ]);
    t.match(pools["p1"]?.warnings, [
      { code: "SAME_POOL", data: { pool: "P0" } },
    ]);
    t.equal(pools["p2"]?.warnings, undefined);
  },
);
