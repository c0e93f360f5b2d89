import t from "tap";
import { parseFilter } from "@xo-server/filter";
import { Formats } from "../src/locale/formats.js";
import { de } from "../src/locale/de/all.js";
import { en } from "../src/locale/en/all.js";
import { cellText, shareOf } from "../src/lists/grid/cell-text.js";
import { activeChip, chipsOf, toggleChip } from "../src/lists/chips.js";
import {
  readChoice,
  shownColumns,
  trackList,
} from "../src/lists/columns/column-choice.js";
import type { Json } from "@xo-server/kit";
import { VmsOfVbds } from "../src/objects/vms-of-vbds.js";
import type { Column } from "../src/lists/columns/column.js";
import { columnsOf, fieldsOf } from "../src/lists/columns/columns.js";
import { mentioned, mentionedVbds, toCsv } from "../src/lists/selection/csv.js";
import {
  groupPathsOf,
  groupTerm,
  listedGroups,
} from "../src/lists/rows/group-term.js";
import {
  readQuery,
  sortOn,
  writeQuery,
  type ListQuery,
} from "../src/lists/views/list-query.js";
import { shortSystemName } from "../src/objects/system-name.js";
import {
  builtInViewsOf,
  readViews,
  writeViews,
} from "../src/lists/views/views.js";

const types = [
  "VM",
  "VM-template",
  "VM-snapshot",
  "host",
  "pool",
  "SR",
  "VDI",
  "network",
  "PIF",
  "message",
];
const texts = { text: en, formats: new Formats("en", en), nowMs: 1_000_000 };
const columnOf = (type: string, id: string): Column =>
  columnsOf(type).find((column) => column.id === id)!;

t.test("every type has columns that differ, a name and texts in them", (t) => {
  for (const type of types) {
    const columns = columnsOf(type);
    const ids = columns.map(({ id }) => id);
    t.equal(new Set(ids).size, ids.length, type);
    t.ok(
      columns.some(({ isShown }) => isShown),
      type,
    );
    for (const { id } of columns)
      t.type(en.lists.columns[id], "string", `${type} ${id}`);
    for (const path of groupPathsOf(type))
      t.type(en.lists.group.properties[path], "string", path);
  }
  t.end();
});

t.test("the default columns fit into the usual windows", (t) => {
  // In rem, beside the navigation in windows of 1440 and 1600 pixels.
  const windows = [
    { isWide: false, place: 72 },
    { isWide: true, place: 82 },
  ];
  const checkBoxes = 2.25;
  for (const type of types)
    for (const { isWide, place } of windows)
      for (const ofSeveral of [false, true]) {
        const widths = shownColumns(columnsOf(type), undefined, {
          ofSeveral,
          isWide,
        }).map(({ width }) => width);
        const sum = widths.reduce((all, one) => all + one, checkBoxes);
        t.ok(
          sum <= place,
          `${type}: ${sum} of ${place}, several pools: ${ofSeveral}`,
        );
      }
  t.end();
});

t.test("only fields of visible columns are requested", (t) => {
  const name = columnOf("VM", "name_label");
  const fields = fieldsOf("VM", [name]);
  t.notOk(fields.some((field) => field.startsWith("now")));
  t.ok(fields.includes("power_state"), "of the state, which actions need");
  const cpu = fieldsOf("VM", [name, columnOf("VM", "cpu")]);
  t.same(cpu, [...fields, "now.cpu"].sort());
  t.end();
});

t.test("cells show the server's values", (t) => {
  const row = {
    id: "1",
    type: "VM",
    now: { cpu: 0.42, memory: 1.5 * 2 ** 30, disk: 12_000_000 },
    memory: { size: 4 * 2 ** 30 },
    os_version: { name: "Windows 11|C:\\Windows|\\Device" },
    startTime: 400,
    $container: "p",
    $pool: "p",
  };
  const say = (id: string) => {
    const column = columnOf("VM", id);
    return cellText(column, column.value(row), texts);
  };
  t.equal(say("cpu"), "42%");
  t.equal(say("memory"), "1.5 / 4 GiB");
  const memory = (used: number, size: number) =>
    cellText(columnOf("VM", "memory"), { used, size }, texts);
  t.equal(memory(700 * 2 ** 20, 2 ** 32), "0.7 / 4 GiB", "one unit is enough");
  t.equal(memory(2 ** 30, 989 * 2 ** 20), "1,020 / 989 MiB");
  t.equal(say("disk"), "12 MB/s");
  t.equal(say("os"), "Windows 11");
  t.equal(say("startTime"), "10 minutes ago");
  t.equal(say("$container"), "", "a pool is not a host");
  t.equal(say("mainIpAddress"), "", "absent values are not shown");
  t.equal(shareOf(columnOf("VM", "memory").value(row)), 0.375);
  t.end();
});

t.test("the address contains the state of the list, and restores it", (t) => {
  const usual: ListQuery = {
    filter: "!content_type:iso",
    sort: [{ by: "name_label" }],
  };
  const asked: ListQuery[] = [
    usual,
    { ...usual, filter: "" },
    { ...usual, filter: 'name_label:"a b"', group: "$pool" },
    { ...usual, sort: [{ by: "now.cpu", descending: true }, { by: "$pool" }] },
    { ...usual, columns: ["name_label", "size"] },
  ];
  for (const query of asked) {
    const read = readQuery(writeQuery(query, usual), usual);
    t.same({ group: undefined, ...read }, { group: undefined, ...query });
  }
  t.same(writeQuery(usual, usual), {}, "what is usual is left out");
  t.same(readQuery({ sort: "-now.cpu,';x" }, usual).sort, [
    { by: "now.cpu", descending: true },
  ]);
  const grouped = { ...usual, group: "$pool" };
  t.equal(readQuery(writeQuery(usual, grouped), grouped).group, undefined);
  t.end();
});

t.test(
  "clicks on a column header sort, reverse, and restore the default order",
  (t) => {
    const cpu = { isAdded: false, highestFirst: true };
    const first = sortOn([{ by: "name_label" }], "now.cpu", cpu);
    t.same(first, [{ by: "now.cpu", descending: true }]);
    const second = sortOn(first, "now.cpu", cpu);
    t.same(second, [{ by: "now.cpu" }]);
    t.same(sortOn(second, "now.cpu", cpu), []);
    const added = sortOn(first, "name_label", {
      isAdded: true,
      highestFirst: false,
    });
    t.same(added, [...first, { by: "name_label" }]);
    t.same(
      sortOn(added, "name_label", { isAdded: true, highestFirst: false }),
      [...first, { by: "name_label", descending: true }],
    );
    t.end();
  },
);

t.test("a chip replaces the term of another chip", (t) => {
  const chips = chipsOf("VM");
  const [running, halted] = [chips[0]!, chips[1]!];
  t.equal(toggleChip("tags:db", running, chips), "tags:db power_state:Running");
  t.equal(
    toggleChip("power_state:Running tags:db", halted, chips),
    "tags:db power_state:Halted",
  );
  t.equal(toggleChip("power_state:Running", running, chips), "");
  t.equal(activeChip("x (power_state:Running)", chips), running);
  t.equal(activeChip("|(power_state:Running a)", chips), undefined);
  t.equal(
    activeChip("tags:(", chips),
    undefined,
    "what cannot be read has none",
  );
  for (const type of types)
    for (const { term } of chipsOf(type)) t.ok(parseFilter(term), term);
  t.end();
});

t.test("the term of a group means exactly the group", (t) => {
  t.equal(
    groupTerm("$pool", "3f1b31d5-fdd9-4fde-a379-b244edc58d7e"),
    "$pool:3f1b31d5-fdd9-4fde-a379-b244edc58d7e",
  );
  t.equal(groupTerm("tags", "db"), "tags:/^db$/");
  t.equal(groupTerm("memory.unit", "a (b)"), "memory:unit:/^a \\(b\\)$/");
  t.equal(groupTerm("shared", true), "shared?");
  t.equal(groupTerm("shared", false), "!shared?");
  t.equal(groupTerm("tags", undefined), "!tags:/./");
  t.equal(
    groupTerm("os_version.name", "Windows 11 Pro"),
    "os_version:name:/^Windows 11 Pro(\\||$)/",
    "whatever directory Windows appends",
  );
  t.end();
});

t.test("guest systems of the same name are one group", async (t) => {
  const groups = [
    { key: "Windows 11|C:\\Windows|\\Device\\Partition3", count: 3 },
    { count: 2 },
    { key: "Debian 13", count: 2 },
    { key: "Windows 11|C:\\Windows|\\Device\\Partition4", count: 1 },
  ];
  t.same(listedGroups("os_version.name", groups), [
    { key: "Windows 11", count: 4 },
    { count: 2 },
    { key: "Debian 13", count: 2 },
  ]);
  t.same(listedGroups("tags", groups), groups);
});

t.test(
  "views are restored from the preferences; invalid ones are left out",
  (t) => {
    const query: ListQuery = {
      filter: "tags:db",
      sort: [{ by: "now.cpu", descending: true }],
      group: "$pool",
      columns: ["name_label"],
    };
    const before = { host: [{ id: "h" }] };
    const kept = writeViews(before, "VM", [
      { id: "1", name: "Databases", query },
    ]);
    t.same(readViews(kept, "VM"), [{ id: "1", name: "Databases", query }]);
    t.same((kept as typeof before).host, before.host);
    t.same(readViews(kept, "host"), []);
    t.same(readViews({ VM: [{ id: "1", name: 3 }, null] }, "VM"), []);
    t.same(readViews(undefined, "VM"), []);
    for (const type of types)
      for (const { query } of builtInViewsOf(type))
        t.ok(parseFilter(query.filter));
    t.end();
  },
);

t.test("columns are those selected, without unknown ones", (t) => {
  const all = columnsOf("VM");
  const usual = (ofSeveral: boolean, isWide: boolean) =>
    shownColumns(all, undefined, { ofSeveral, isWide });
  const has = (id: string, ofSeveral: boolean, isWide = false) =>
    usual(ofSeveral, isWide).some((column) => column.id === id);
  t.same([has("$pool", false), has("$pool", true)], [false, true]);
  t.same([has("os", false), has("os", true)], [true, false]);
  t.ok(has("os", true, true), "a wide window has place for all");
  for (const [ofSeveral, isWide, place] of [
    [false, false, 69.75],
    [true, false, 69.75],
    [true, true, 80],
  ] as const) {
    const sum = usual(ofSeveral, isWide).reduce(
      (all, one) => all + one.width,
      0,
    );
    t.ok(sum <= place, `${sum} rem: they fit without horizontal scrolling`);
  }
  t.same(
    shownColumns(all, ["cpu", "gone", "name_label", "cpu"]).map(({ id }) => id),
    ["cpu", "name_label"],
  );
  t.ok(shownColumns(all, ["gone"]).length > 1, "none at all: the usual ones");
  t.same(readChoice("{"), { widths: {} });
  t.same(readChoice('{"shown":["cpu"],"widths":{"cpu":1000}}'), {
    shown: ["cpu"],
    widths: { cpu: 60 },
  });
  t.match(
    trackList(shownColumns(all, ["cpu"]), () => 5),
    "5rem minmax(0, 1fr)",
  );
  t.end();
});

t.test("operating systems have short names in lists", (t) => {
  for (const [long, short] of [
    ["Debian GNU/Linux 13 (trixie)", "Debian 13"],
    ["Red Hat Enterprise Linux 9.6 (Plow)", "RHEL 9.6"],
    ["SUSE Linux Enterprise Server 15 SP6", "SLES 15 SP6"],
    ["Ubuntu 22.04.5 LTS", "Ubuntu 22.04.5 LTS"],
    [
      "Microsoft Windows Server 2022 Standard|C:\\Windows",
      "Windows Server 2022 Standard",
    ],
  ] as const)
    t.equal(shortSystemName(long), short);
  t.end();
});

t.test("XAPI messages are sentences, unknown ones their names", (t) => {
  const column = columnOf("message", "name");
  const shown = (name: string) => cellText(column, name, texts);
  t.equal(shown("VM_STARTED"), "VM started");
  t.equal(
    shown("HOST_SERVER_CERTIFICATE_EXPIRING_07"),
    "Certificate of the host expires soon",
  );
  t.equal(shown("SOMETHING_NEW"), "SOMETHING_NEW");
  t.equal(
    cellText(column, "VM_STARTED", { ...texts, text: de }),
    "VM gestartet",
  );
  t.end();
});

t.test("CSV has plain values and no formulas", (t) => {
  const columns = ["name_label", "memory", "tags", "startTime"].map((id) =>
    columnOf("VM", id),
  );
  const row = {
    id: "1",
    type: "VM",
    name_label: '=HYPERLINK("x")',
    tags: ["a", "b"],
    startTime: 0,
    now: { memory: 7 },
    memory: {},
  };
  t.equal(
    toCsv(columns, ["Name", "Memory", "Tags", "Since"], [row]),
    'Name,Memory (bytes),Tags,Since\r\n"\'=HYPERLINK(""x"")",7,a b,1970-01-01T00:00:00.000Z\r\n',
  );
  t.end();
});

t.test("a file names objects and rounds figures", (t) => {
  const columns = ["cpu", "$container"].map((id) => columnOf("VM", id));
  const row = {
    id: "v",
    type: "VM",
    $pool: "p",
    $container: "h",
    now: { cpu: 0.8817375898361206 },
  };
  t.same([...mentioned(columns, [row])], [["host", new Set(["h"])]]);
  t.equal(
    toCsv(columns, ["CPU", "Host"], [row], (id) => `host ${id}`),
    "CPU (%),Host\r\n88.2,host h\r\n",
  );
  t.end();
});

t.test("a list and a file of disks name their VMs", async (t) => {
  const users = columnOf("VDI", "users");
  t.ok(users.isShown);
  const rows = [
    { id: "d", type: "VDI", $VBDs: ["b1", "b2"] },
    { id: "e", type: "VDI", $VBDs: [] },
  ];
  t.same(mentionedVbds([users], rows), ["b1", "b2"]);
  t.equal(
    toCsv([users], ["VM"], rows, (id) => ({ b1: "web" })[id]),
    'VM\r\n"web, b2"\r\n\r\n',
  );

  const asked: Json[] = [];
  const vms = new VmsOfVbds((_method, params = {}) => {
    asked.push((params as { ids: string[] }).ids);
    return Promise.resolve({ rows: [{ id: "b1", VM: "v" }] });
  });
  vms.request(["b1"]);
  vms.request(["b2"]);
  t.equal(vms.vmOf("b1"), undefined);
  await new Promise((resolve) => setTimeout(resolve));
  await Promise.resolve();
  t.same(asked, [["b1", "b2"]], "one request for all rows");
  t.equal(vms.vmOf("b1"), "v");
  t.equal(vms.vmOf("b2"), undefined, "not visible to this user");
  vms.request(["b1"]);
  await new Promise((resolve) => setTimeout(resolve));
  t.equal(asked.length, 1, "what is known is not requested again");
});
