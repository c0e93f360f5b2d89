import t from "tap";
import { FailedHosts } from "../../src/balancer/failed-hosts.js";
import {
  measuredAtOf,
  pauseReasonOf,
  RECOVERY_MS,
  type PoolObservation,
  type ObservedHost,
} from "../../src/balancer/pool-observation.js";

const NOW = 1_000_000_000;
const host = (id: string, more: Partial<ObservedHost> = {}): ObservedHost => ({
  id,
  isUp: true,
  isEnabled: true,
  operations: [],
  vms: 3,
  measuredAt: NOW,
  ...more,
});
const observationOf = (...hosts: ObservedHost[]): PoolObservation => ({
  isConnected: true,
  hosts,
  moving: [],
  staying: [],
});
const nobody = new Map<string, number>();
const reasonOf = (observation: PoolObservation, failedAt = nobody) =>
  pauseReasonOf(observation, failedAt, NOW);

t.test("a pool in order is not skipped", async (t) => {
  const maintained = host("b", { isEnabled: false, vms: 0 });
  const off = host("c", { isUp: false, measuredAt: -Infinity, vms: 0 });
  t.equal(reasonOf(observationOf(host("a"), maintained, off)), undefined);
});

t.test("a pool is skipped while others change it", async (t) => {
  const well = observationOf(host("a"));
  const reasons: [PoolObservation, object][] = [
    [{ ...well, isConnected: false }, { code: "not-connected" }],
    [
      { ...well, rollingSince: 7 },
      { code: "rolling-reboot", since: 7 },
    ],
    [
      { ...well, moving: ["v"] },
      { code: "other-migrations", vms: ["v"] },
    ],
    [
      observationOf(host("a"), host("b", { operations: ["evacuate"] })),
      { code: "host-maintenance", hosts: ["b"] },
    ],
    [
      observationOf(host("a"), host("b", { isEnabled: false })),
      { code: "host-maintenance", hosts: ["b"] },
    ],
    [
      observationOf(host("a"), host("b", { measuredAt: NOW - 60_001 })),
      { code: "no-statistics", hosts: ["b"] },
    ],
    [
      observationOf(host("a", { measuredAt: -Infinity })),
      { code: "no-statistics", hosts: ["a"] },
    ],
  ];
  for (const [observation, reason] of reasons)
    t.same(reasonOf(observation), reason);
  const starting = observationOf(host("a", { operations: ["vm_start"] }));
  t.equal(reasonOf(starting), undefined, "of no concern");
});

t.test("VMs of a failed host have time to start", async (t) => {
  const failed = new FailedHosts();
  const down = observationOf(host("a"), host("b", { isUp: false }));
  failed.update(observationOf(host("a"), host("b")), NOW - 2);
  failed.update(down, NOW - 1);
  failed.update(down, NOW);
  const until = NOW - 1 + RECOVERY_MS;
  const reason = { code: "host-failed", hosts: ["b"], until };
  t.same(reasonOf(down, new Map(failed.failedAt)), reason);
  const back = observationOf(host("a"), host("b"));
  failed.update(back, NOW);
  t.same(reasonOf(back, new Map(failed.failedAt)), reason, "although it is up");
  failed.update(back, until);
  t.equal(failed.failedAt.size, 0);
  failed.update(down, until);
  failed.update(down, until + RECOVERY_MS);
  const later = pauseReasonOf(
    observationOf(
      host("a", { measuredAt: Infinity }),
      host("b", { isUp: false }),
    ),
    failed.failedAt,
    until + RECOVERY_MS,
  );
  t.equal(later, undefined, "a host that stays down is none that fails");
});

t.test("figures are as old as those of the slowest host", async (t) => {
  const slow = host("b", { measuredAt: NOW - 5 });
  const down = host("c", { isUp: false, measuredAt: 0 });
  t.equal(measuredAtOf(observationOf(host("a"), slow, down)), NOW - 5);
});
