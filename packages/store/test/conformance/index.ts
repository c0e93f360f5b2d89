import type { Test } from "tap";
import { testAlarms } from "./alarms.js";
import { testAudit } from "./audit.js";
import { testAuditChanges } from "./audit-changes.js";
import { testAuditForwards } from "./audit-forwards.js";
import { testBackups } from "./backups.js";
import { testBalancer } from "./balancer.js";
import { testBounds } from "./bounds.js";
import { testLeases, testServersOfCluster } from "./cluster.js";
import { testCommits } from "./commits.js";
import { testConfiguration } from "./configuration.js";
import type { StoreHarness } from "./harness.js";
import { testJobRuns } from "./job-runs.js";
import { testJobs } from "./jobs.js";
import { testKeys } from "./keys.js";
import { testOldNames } from "./old-names.js";
import { testOneTimeSecrets } from "./one-time-secrets.js";
import { testUsers } from "./users.js";
import { testPlacementRules } from "./placement-rules.js";
import { testPlugins } from "./plugins.js";
import { testRandomChanges } from "./random-changes.js";
import { testReservations } from "./reservations.js";
import { testResourceSets } from "./resource-sets.js";
import { testRights } from "./rights.js";
import { testServers } from "./servers.js";
import { testSettings } from "./settings.js";
import { testSignInAttempts } from "./sign-in-attempts.js";
import { testSharing } from "./sharing.js";
import { testTasks } from "./tasks.js";
import { testTokens } from "./tokens.js";

export { fixedPort, onFixedPorts } from "./fixed-port.js";
export { findPostgres, PostgresCluster } from "./postgres-cluster.js";
export {
  createBench,
  type StoreHarness,
  type TestDatabase,
} from "./harness.js";
export { writeEmptyDatabase } from "./empty-database.js";
export { createManualClock, type ManualClock } from "./manual-clock.js";

/** The contract of every engine. */
export async function testStore(t: Test, harness: StoreHarness): Promise<void> {
  await t.test("settings", (t) => testSettings(t, harness));
  await t.test("servers", (t) => testServers(t, harness));
  await t.test("users and groups", (t) => testUsers(t, harness));
  await t.test("tokens", (t) => testTokens(t, harness));
  await t.test("rights", (t) => testRights(t, harness));
  await t.test("jobs and schedules", (t) => testJobs(t, harness));
  await t.test("job runs", (t) => testJobRuns(t, harness));
  await t.test("tasks", (t) => testTasks(t, harness));
  await t.test("resource sets", (t) => testResourceSets(t, harness));
  await t.test("placement rules", (t) => testPlacementRules(t, harness));
  await t.test("load balancer", (t) => testBalancer(t, harness));
  await t.test("names of release 0.1", (t) => testOldNames(t, harness));
  await t.test("backups", (t) => testBackups(t, harness));
  await t.test("plugins", (t) => testPlugins(t, harness));
  await t.test("alarms", (t) => testAlarms(t, harness));
  await t.test("audit log", (t) => testAudit(t, harness));
  await t.test("changes in the audit log", (t) => testAuditChanges(t, harness));
  await t.test("forwarding of the audit log", (t) =>
    testAuditForwards(t, harness),
  );
  await t.test("commits", (t) => testCommits(t, harness));
  await t.test("one-time secrets", (t) => testOneTimeSecrets(t, harness));
  await t.test("sign-in attempts", (t) => testSignInAttempts(t, harness));
  await t.test("reservations", (t) => testReservations(t, harness));
  await t.test("several processes", (t) => testSharing(t, harness));
  await t.test("leases", (t) => testLeases(t, harness));
  await t.test("servers of a cluster", (t) => testServersOfCluster(t, harness));
  await t.test("limits", (t) => testBounds(t, harness));
  await t.test("random changes", (t) => testRandomChanges(t, harness));
  await t.test("keys", (t) => testKeys(t, harness));
  await t.test("configuration", (t) => testConfiguration(t, harness));
}
