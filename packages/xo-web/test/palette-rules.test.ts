import t from "tap";
import { isObject, type Json } from "@xo-server/kit";
import { readObjects, searchObjects } from "../src/palette/object-search.js";
import { allActions } from "../src/actions/all-actions.js";
import { de } from "../src/locale/de/all.js";
import { en } from "../src/locale/en/all.js";
import {
  actionEntries,
  fitting,
  pageEntries,
} from "../src/palette/palette-entries.js";
import { fitOf, rank } from "../src/palette/ranking.js";
import { objectOfPath } from "../src/palette/route-object.js";

t.test("exact names, then beginnings, texts, parts, the rest", async (t) => {
  const names = ["a db", "xdb", "DB", "db-10", "db-2", "other"];
  const ranked = rank(
    names.map((name) => ({ name, typeRank: 0 })),
    "db",
  );
  t.same(
    ranked.map(({ name }) => name),
    ["DB", "db-2", "db-10", "a db", "xdb", "other"],
  );
  t.equal(fitOf("web server of Paris", "paris web"), 2, "words in any order");
  const [first] = rank(
    [
      { name: "db", typeRank: 2 },
      { name: "db", typeRank: 1 },
    ],
    "db",
  );
  t.equal(first!.typeRank, 1, "of the same name by type");
  const [exact] = rank(
    [
      { name: "db-1", typeRank: 0 },
      { name: "db", typeRank: 5 },
    ],
    "db",
  );
  t.equal(exact!.name, "db", "the name itself before any type");
});

t.test("unsuitable properties are left out", async (t) => {
  const pages = ["VMs", "Networks", "Storage map"];
  t.same(
    fitting(pages, "net", (page) => page),
    ["Networks"],
  );
  t.same(
    fitting(pages, "map", (page) => page),
    ["Storage map"],
  );
  t.same(
    fitting(pages, " ", (page) => page),
    pages,
  );
});

const answerOf =
  (asked: Json[], rows: (params: Readonly<Record<string, Json>>) => Json[]) =>
  async (_method: string, params: Json = null): Promise<Json> => {
    asked.push(params);
    const found = isObject(params) ? rows(params) : [];
    return { rows: found, total: 10 * found.length };
  };

t.test("objects of all types are searched by name and texts", async (t) => {
  const asked: Json[] = [];
  const call = answerOf(asked, ({ type, search }) => {
    if (type === "SR") throw new Error("may not be read");
    if (type !== "VM") return [];
    const named = { id: "1", type: "VM", name_label: "web.1" };
    const tagged = { id: "2", type: "VM", name_label: "db" };
    return search === undefined ? [named] : [tagged];
  });
  const found = await searchObjects(call, "  web. ", ["SR", "VM", "host"]);
  t.same(
    found.map(({ id }) => id),
    ["1", "2"],
  );
  t.match(asked[0], { type: "SR", search: "web." });
  t.match(asked.at(-1), { type: "VM", filter: "name_label:/^web\\./i" });
  t.equal(asked.length, 4, "names are asked for where more fit");
  t.same(await searchObjects(call, " ", ["VM"]), []);
});

t.test("a VM is found by a MAC address, or a part of it", async (t) => {
  const asked: Json[] = [];
  const call = answerOf(asked, ({ type, ids }) => {
    if (type === "VIF") return [{ id: "i", type: "VIF", $VM: "v" }];
    return ids === undefined
      ? []
      : [{ id: "v", type: "VM", name_label: "web" }];
  });
  for (const typed of ["82:78:56:b5:b2:fb", "82-78-56"]) {
    const found = await searchObjects(call, typed, ["VM"]);
    t.same(
      found.map(({ id }) => id),
      ["v"],
      typed,
    );
  }
  const vifFilters = () =>
    asked.flatMap((params) =>
      isObject(params) && params["type"] === "VIF" ? [params["filter"]] : [],
    );
  t.same(vifFilters(), ['MAC:"82:78:56:b5:b2:fb"', 'MAC:"82:78:56"']);
  asked.length = 0;
  t.same(await searchObjects(call, "82:78", ["VM"]), []);
  t.same(vifFilters(), [], "too short");
});

t.test(
  "recently visited objects are shown with present values, in their order",
  async (t) => {
    const call = answerOf([], ({ type }) =>
      type === "VM" ? [{ id: "b", type: "VM" }] : [{ id: "a", type: "host" }],
    );
    const names = [
      { type: "host", id: "a" },
      { type: "VM", id: "gone" },
      { type: "VM", id: "b" },
    ];
    const found = await readObjects(call, names);
    t.same(
      found.map(({ id }) => id),
      ["a", "b"],
    );
  },
);

t.test("a path identifies the object of its page", async (t) => {
  t.same(objectOfPath("/vms/1234/disks"), { type: "VM", id: "1234" });
  t.same(objectOfPath("/srs/5"), { type: "SR", id: "5" });
  t.equal(objectOfPath("/vms"), undefined);
  t.equal(objectOfPath("/settings/users"), undefined);
  t.equal(objectOfPath("/"), undefined);
});

t.test("standard terms find a page, in both languages", async (t) => {
  const path = (typed: string, text = en as typeof de) =>
    pageEntries(typed, text).map((entry) => entry.path);
  for (const [typed, page] of [
    ["detach disk", "/vdis"],
    ["evacuate", "/hosts"],
    ["affinity", "/placement/rules"],
    ["disable HA", "/pools"],
    ["acknowledge", "/"],
    ["revoke token", "/settings/tokens"],
    ["maintenance mode", "/hosts"],
    ["live migrate", "/vms"],
    ["snapshot", "/snapshots"],
    ["clone", "/vms"],
    ["template", "/templates"],
    ["console", "/vms"],
    ["resize disk", "/vdis"],
    ["emergency", "/hosts"],
    ["certificate", "/hosts"],
    ["2FA", "/settings/account"],
    ["OTP", "/settings/account"],
    ["LDAP group", "/settings/sign-in"],
    ["syslog", "/settings/audit"],
    ["webhook", "/settings/alarms"],
    ["retention", "/backup"],
    ["cron", "/settings/jobs"],
    ["CPU topology", "/vms"],
    ["passthrough", "/hosts"],
    ["VLAN", "/networks"],
    ["bond", "/networks"],
    ["MTU", "/networks"],
    ["NTP", "/health-report"],
    ["patch", "/updates"],
    ["rolling reboot", "/pools"],
  ] as const)
    t.ok(path(typed).includes(page), typed);
  for (const [typed, page] of [
    ["evakuieren", "/hosts"],
    ["Anti-Affinität", "/placement/rules"],
    ["Token widerrufen", "/settings/tokens"],
    ["Wartungsmodus", "/hosts"],
    ["Live-Migration", "/vms"],
    ["Konsole", "/vms"],
    ["Notabschaltung", "/hosts"],
    ["Zertifikat", "/hosts"],
    ["2FA", "/settings/account"],
    ["LDAP-Gruppe", "/settings/sign-in"],
    ["CPU-Topologie", "/vms"],
    ["NTP", "/health-report"],
    ["rollierender Neustart", "/updates"],
  ] as const)
    t.ok(path(typed, de).includes(page), typed);
  t.notOk(path("").includes("/settings/tokens"), "only when it is searched");
});

t.test("an action is found by a synonym, after those by name", async (t) => {
  const of = (type: string) =>
    allActions.filter(({ types }) => types.includes(type));
  const ids = (type: string, typed: string) =>
    actionEntries(
      of(type),
      { id: "1", type, power_state: "Running", enabled: true },
      { typed, text: en },
    ).flatMap((entry) => (entry.kind === "action" ? [entry.action.id] : []));
  t.ok(ids("VM", "power off").includes("vm.hardShutdown"));
  t.ok(ids("VM", "clone").includes("vm.copy"));
  t.ok(ids("VM", "quiesce").includes("vm.snapshot"));
  t.ok(ids("VM", "live migrate").includes("vm.migrate"));
  t.ok(ids("VM", "CPU topology").includes("vm.edit"));
  t.equal(ids("host", "evacuate")[0], "host.evacuate");
  t.ok(ids("host", "evacuate").includes("host.maintenance"));
  t.ok(ids("pool", "high availability").includes("pool.disableHa"));
});
