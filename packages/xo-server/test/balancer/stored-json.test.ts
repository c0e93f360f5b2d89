import t from "tap";
import { defaultPolicy } from "../../src/balancer/policy.js";
import { toPolicy } from "../../src/balancer/stored-json.js";

t.test("a stored policy gets defaults for missing members", async (t) => {
  t.same(toPolicy(undefined), defaultPolicy);
  t.same(toPolicy({ mode: "automatic", maxMigrationsPerRun: 7 }), {
    ...defaultPolicy,
    mode: "automatic",
    maxMigrationsPerRun: 7,
  });
});
