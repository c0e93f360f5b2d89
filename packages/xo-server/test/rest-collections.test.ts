import t from "tap";
import { FakeObjects, type FakeObject } from "./fake-objects.js";
import { as, startRestServer } from "./rest-server.js";

const POOL = "a0000000-0000-4000-8000-000000000001";

function uuid(n: number): string {
  return `10000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
}

function vm(n: number, more: object = {}): FakeObject {
  return {
    $pool: POOL,
    _xapiRef: `OpaqueRef:${n}`,
    id: uuid(n),
    name_label: `vm ${n} | ü`,
    power_state: n % 2 === 0 ? "Running" : "Halted",
    type: "VM",
    uuid: uuid(n),
    ...more,
  };
}

const vms = Array.from({ length: 700 }, (_, n) => vm(n));
const href = (n: number) => `/rest/v0/vms/${uuid(n)}`;

t.test("a list has hrefs, of five parts with the id last", async (t) => {
  const { json } = await startRestServer(t, { objects: new FakeObjects(vms) });
  const hrefs = (await json("/vms")) as string[];
  t.same(
    hrefs,
    vms.map((_, n) => href(n)),
    "all, over the pages",
  );
  t.same(await json("/vms/?limit=1"), [href(0)], "also with a slash");
  t.same(await json("/hosts"), []);
  t.equal(hrefs[0]!.split("/").length, 5);
});

t.test(
  "half a character in the UUID of one object leaves lists as they are",
  async (t) => {
    const broken = vm(1, { id: "\ud8000-1", uuid: "\ud8000-1" });
    const objects = new FakeObjects([vm(0), broken]);
    const { json } = await startRestServer(t, { objects });
    t.same(await json("/vms"), [href(0), "/rest/v0/vms/%EF%BF%BD0-1"]);
  },
);

t.test("fields are the requested ones that exist, and the href", async (t) => {
  const { json } = await startRestServer(t, { objects: new FakeObjects(vms) });
  t.same(await json("/vms?limit=1&fields=name_label,absent,href"), [
    { name_label: "vm 0 | ü", href: href(0) },
  ]);
  t.same(await json("/vms?limit=1&fields="), [{ href: href(0) }]);
  const whole = (await json("/vms?fields=*")) as object[];
  t.same(
    whole,
    vms.map((one, n) => ({ ...one, href: href(n) })),
  );
});

t.test("filter and limit choose, in this order", async (t) => {
  const { json } = await startRestServer(t, { objects: new FakeObjects(vms) });
  t.same(await json("/vms?limit=2&filter=power_state:halted"), [
    href(1),
    href(3),
  ]);
  t.same(await json("/vms?limit=0"), []);
  t.equal(((await json("/vms?limit=300")) as []).length, 300);
});

t.test("an invalid filter is reported with its text", async (t) => {
  const { json } = await startRestServer(t);
  t.match(await json("/vms?filter=(", undefined, 400), {
    error: /^parse error: expected .* at position 1/,
    data: { stringToParse: "(" },
  });
});

t.test("booleans and numbers are read literally", async (t) => {
  const { json } = await startRestServer(t);
  t.same(await json("/vms?limit=x", undefined, 422), {
    error: { limit: { message: "invalid float number", value: "x" } },
    data: {},
  });
  for (const query of [
    "ndjson=1",
    "markdown=",
    "ndjson=yes",
    "limit=-1",
    "limit=1.5",
    "limit=1&limit=2",
    "ndjson=true&markdown=true",
  ])
    await json(`/vms?${query}`, undefined, 422);
});

t.test("ndjson has one element per line", async (t) => {
  const { get } = await startRestServer(t, { objects: new FakeObjects(vms) });
  const hrefs = await get("/vms?ndjson=true");
  t.equal(hrefs.headers.get("content-type"), "application/x-ndjson");
  const lines = (await hrefs.text()).split("\n");
  t.equal(lines.length, 701);
  t.equal(JSON.parse(lines[699]!), href(699));
  const objects = await (await get("/vms?ndjson=true&fields=id")).text();
  t.same(JSON.parse(objects.split("\n")[65]!), {
    id: uuid(65),
    href: href(65),
  });
  t.equal(await (await get("/hosts?ndjson=true")).text(), "");
});

t.test("markdown is a table of the first object's keys", async (t) => {
  const odd = vm(0, { name_label: "a|b\nc", tags: ["x|y"], o: { k: 1 } });
  const objects = new FakeObjects([odd, vm(1, { name_label: undefined })]);
  const { get } = await startRestServer(t, { objects });
  const answer = await get(
    "/vms?markdown=true&fields=name_label,tags,o,absent",
  );
  t.equal(answer.headers.get("content-type"), "text/markdown; charset=utf-8");
  t.equal(
    await answer.text(),
    `| name_label | tags | o |\n| --- | --- | --- |\n| a\\|b c | ["x\\|y"] | {"k":1} |\n|  |  |  |\n`,
  );
  t.equal(
    await (await get("/vms?markdown=true")).text(),
    `${href(0)}\n${href(1)}\n`,
  );
  t.equal(
    await (await get("/hosts?markdown=true&fields=*")).text(),
    "No results.",
  );
});

t.test("names cannot become markup in markdown", async (t) => {
  const names = [
    String.raw`a\|b`,
    "<img src=x onerror=alert(1)>",
    "![x](http://e.example/x)",
    "[x](javascript:alert(1))",
  ];
  const objects = new FakeObjects(
    names.map((name_label, n) => vm(n, { name_label })),
  );
  const { get } = await startRestServer(t, { objects });
  const answer = await get("/vms?markdown=true&fields=name_label");
  t.same((await answer.text()).split("\n").slice(2, -1), [
    String.raw`| a\\\|b |`,
    "| &lt;img src=x onerror=alert(1)> |",
    String.raw`| ![x]\(http://e.example/x) |`,
    String.raw`| [x]\(javascript:alert(1)) |`,
  ]);
});

t.test("one object has no href, and is found by id or reference", async (t) => {
  const { json } = await startRestServer(t, { objects: new FakeObjects(vms) });
  t.same(await json(`/vms/${uuid(7)}`), vms[7]);
  t.same(await json("/vms/OpaqueRef:7?fields=id&markdown=true"), vms[7]);
  t.same(await json("/vms/absent", undefined, 404), {
    error: "no such VM absent",
    data: { id: "absent", type: "VM" },
  });
  t.match(await json(`/hosts/${uuid(7)}`, undefined, 404), {
    error: `no such host ${uuid(7)}`,
  });
});

t.test(
  "a default template is found by its own uuid if there is only one",
  async (t) => {
    const template = (n: number, own: number) => ({
      ...vm(own, { type: "VM-template" }),
      id: `${uuid(900 + n)}-${uuid(own)}`,
    });
    const twice = [template(1, 1), template(2, 1)];
    const objects = new FakeObjects([...twice, template(1, 2)]);
    const { json } = await startRestServer(t, { objects });
    t.match(await json(`/vm-templates/${uuid(2)}`), { uuid: uuid(2) });
    await json(`/vm-templates/${uuid(1)}`, undefined, 404);
  },
);

const messages = [
  {
    type: "message",
    id: uuid(801),
    $object: uuid(500),
    name: "VM_STARTED",
    body: "",
    time: 5,
  },
  {
    type: "message",
    id: uuid(802),
    $object: uuid(500),
    name: "ALARM",
    body: 'value: 0.95\nconfig:\n<variable>\n<name value="cpu_usage"/>\n</variable>',
    time: 1_700_000_000,
  },
  {
    type: "message",
    id: uuid(803),
    $object: uuid(501),
    name: "BOND_STATUS_CHANGED",
    body: "up",
    time: 6,
  },
];

t.test(
  "alarms are messages with their objects, percent as text and milliseconds",
  async (t) => {
    const objects = new FakeObjects([...messages, vm(500)]);
    const { json } = await startRestServer(t, { objects });
    t.same(await json("/messages"), [`/rest/v0/messages/${uuid(801)}`]);
    t.same(await json("/alarms?fields=*&filter=body:value:95"), [
      {
        type: "message",
        id: uuid(802),
        name: "ALARM",
        body: { value: "95.0", name: "cpu_usage" },
        object: { type: "VM", uuid: uuid(500), href: href(500) },
        time: 1_700_000_000_000,
        href: `/rest/v0/alarms/${uuid(802)}`,
      },
    ]);
    t.match(await json("/alarms?fields=object&limit=1&filter=name:bond"), [
      { object: { type: "unknown", uuid: uuid(501) } },
    ]);
    t.match(await json(`/alarms/${uuid(802)}`), { time: 1_700_000_000_000 });
    await json(`/messages/${uuid(802)}`, undefined, 404);
    await json(`/alarms/${uuid(801)}`, undefined, 404);
  },
);

t.test(
  "dependent objects are below an object, with links of their own",
  async (t) => {
    const disk = (id: string, type: string) => ({ id, type, size: 1 });
    const objects = new FakeObjects([
      ...messages,
      vm(500, { $VBDs: ["b1", "b2", "b3"] }),
      { id: "b1", type: "VBD", VDI: "d1" },
      { id: "b2", type: "VBD" },
      { id: "b3", type: "VBD", VDI: "d2" },
      disk("d1", "VDI"),
      disk("d2", "VDI-snapshot"),
    ]);
    const { json } = await startRestServer(t, { objects });
    t.same(await json(`/vms/${uuid(500)}/vdis`), [
      "/rest/v0/vdis/d1",
      "/rest/v0/vdi-snapshots/d2",
    ]);
    t.same(await json(`/vms/${uuid(500)}/messages?fields=name`), [
      { name: "VM_STARTED", href: `/rest/v0/messages/${uuid(801)}` },
    ]);
    t.same(await json(`/vms/${uuid(500)}/alarms`), [
      `/rest/v0/alarms/${uuid(802)}`,
    ]);
    await json("/vms/absent/alarms", undefined, 404);
  },
);

t.test("users see no objects without a right", async (t) => {
  const read = (selector: string) =>
    [{ effect: "allow", resource: "VM", action: "read", selector }] as const;
  const objects = new FakeObjects([
    ...vms.slice(0, 4),
    vm(500, { $VBDs: ["b1"], power_state: "Running" }),
    { id: "b1", type: "VBD", VDI: "d1" },
    { id: "d1", type: "VDI" },
    ...messages,
  ]);
  const { json } = await startRestServer(t, {
    objects,
    users: { some: read("power_state:running"), none: [] },
  });
  t.same(await json("/vms", as("none")), []);
  t.same(await json("/alarms?fields=*", as("none")), []);
  t.same(await json("/vms?limit=2", as("some")), [href(0), href(2)]);
  t.same(await json("/vms?filter=power_state:halted", as("some")), []);
  const hidden = await json(`/vms/${uuid(1)}`, as("some"), 404);
  const missing = await json(`/vms/${uuid(9)}`, as("some"), 404);
  t.same(
    JSON.stringify(hidden).replaceAll(uuid(1), uuid(9)),
    JSON.stringify(missing),
    "a hidden object is answered like one that does not exist",
  );
  t.same(
    await json(`/vms/${uuid(500)}/vdis`, as("some")),
    [],
    "disks are another right",
  );
  t.same(await json(`/vms/${uuid(500)}/messages`, as("some")), []);
  await json(`/vms/${uuid(1)}/vdis`, as("some"), 404);
  t.equal(((await json("/vms", as("admin"))) as []).length, 5);
});

t.test("a client reads a list at its own pace", async (t) => {
  const big = { text: "x".repeat(20_000) };
  const objects = new FakeObjects(
    Array.from({ length: 3000 }, (_, n) => vm(n, big)),
  );
  const { get } = await startRestServer(t, { objects });
  const answer = await get("/vms?fields=*");
  const reader = answer.body!.getReader();
  await reader.read();
  // Nothing more is asked for than what fits on the way; the turns are for a server that would go on.
  for (let i = 0; i < 50; i++) await new Promise(setImmediate);
  t.ok(objects.asked.length < 8, `${objects.asked.length} of 13 pages`);
  await reader.cancel();
});
