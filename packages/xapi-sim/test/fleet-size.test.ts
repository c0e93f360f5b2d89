import { mirroredClasses } from "@xo-server/model";
import t from "tap";
import { generateFleet } from "../src/fleet/generate-fleet.js";
import { profiles } from "../src/fleet/profiles.js";

t.test("profile A has the size of the benchmarks", async (t) => {
  const { hosts, vms } = profiles.A;
  const counts = new Map<string, number>();
  let bytes = 0;
  let objects = 0;
  for (const { className, record } of generateFleet({
    hosts,
    vms,
    seed: 1,
    profile: profiles.A,
  })) {
    objects++;
    counts.set(className, (counts.get(className) ?? 0) + 1);
    bytes += JSON.stringify(record).length + 49;
  }
  t.ok(objects > 108_000 && objects < 120_000, `${objects} objects`);
  t.ok(bytes > 120e6 && bytes < 140e6, `${Math.round(bytes / 1e6)} MB`);
  t.equal(counts.get("host"), 64);
  const missing = mirroredClasses().filter((name) => !counts.has(name));
  t.comment(`classes without an object: ${missing.join(", ")}`);
  t.ok(counts.size >= 40, `${counts.size} classes`);
});
