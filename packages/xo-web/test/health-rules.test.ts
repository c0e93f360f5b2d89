import t from "tap";
import {
  detailText,
  sortChecks,
  type HealthCheck,
} from "../src/health/health-report.js";
import { Formats } from "../src/locale/formats.js";
import { en } from "../src/locale/en/all.js";

const NOW = Date.parse("2026-11-23T00:00:00Z");
const localization = {
  texts: en.health,
  formats: new Formats("en", en),
  now: NOW,
};

function check(
  name: string,
  severity: HealthCheck["severity"],
  total: number,
): HealthCheck {
  return { name, severity, type: "VM", total, items: [] };
}

t.test("checks with problems are sorted by severity", (t) => {
  const { found, passed } = sortChecks({
    time: 0,
    checks: [
      check("a", "info", 1),
      check("b", "error", 0),
      check("c", "warning", 2),
      check("d", "error", 1),
    ],
  });
  t.same(
    found.map(({ name }) => name),
    ["d", "c", "a"],
  );
  t.same(
    passed.map(({ name }) => name),
    ["b"],
  );
  t.end();
});

t.test("details are shown as text", (t) => {
  const GIB = 2 ** 30;
  const cases: readonly [string, Record<string, unknown>, string][] = [
    ["orphanDisks", { size: 8 * GIB, usage: GIB }, "8 GiB, 1 GiB used"],
    ["orphanDisks", {}, ""],
    ["fullStorage", { size: 10 * GIB, usage: 9 * GIB }, "90% of 10 GiB used"],
    ["longChains", { length: 17 }, "17 images"],
    ["detachedStorage", { hosts: ["a"] }, "1 host"],
    [
      "duplicateMacs",
      { mac: "02:00:00:00:00:01", others: ["a", "b"] },
      "02:00:00:00:00:01 · also on 2 other VMs",
    ],
    [
      "hostVersions",
      { versions: { "8.3.0 a": ["x"], "8.2.1 b": ["y", "z"] } },
      "8.3.0 a: 1 host · 8.2.1 b: 2 hosts",
    ],
    ["clockOffsets", { offset: 60 }, "1 min ahead"],
    ["clockOffsets", { offset: -5 }, "5 s behind"],
    [
      "vmRestartRequired",
      { guidances: ["restart_device_model"] },
      "needs a new device model",
    ],
    [
      "vmRestartRequired",
      { guidances: ["restart_device_model", "restart_vm"] },
      "needs a reboot",
    ],
    ["anotherCheck", { size: 1 }, ""],
  ];
  for (const [name, details, texts] of cases)
    t.equal(
      detailText({ name }, { id: "i", details }, localization).replaceAll(
        /[\u00a0\u202f]/g,
        " ",
      ),
      texts,
      name,
    );
  const { duplicateMacs } = en.health.checks;
  t.ok(duplicateMacs.advice);
  t.end();
});
