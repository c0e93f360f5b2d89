import t from "tap";
import {
  ObjectListing,
  type ListingRequest,
} from "../src/objects/object-listing.js";
import { FakeCatalog, type Thing } from "./catalog-of.js";

const SEED = 20_261_121;

/** Numbers that look random and are the same in each run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    // The lower bits of these repeat soon.
    return state >>> 8;
  };
}

function randomThings(count: number): (Thing | undefined)[] {
  const random = seeded(SEED);
  const types = ["VM", "VM-template", "host", "SR"];
  return Array.from({ length: count }, (_, i) =>
    random() % 10 === 0
      ? undefined
      : {
          id: `id-"${i}`,
          type: types[random() % 4]!,
          tags: random() % 2 === 0 ? ["a", "b"] : ["b"],
          memory: { size: random() % 1000 },
          name_label: `é ${"x".repeat(random() % 600)}`,
        },
  );
}

const things = randomThings(6000);
const all = things.filter((thing) => thing !== undefined);
const readable = () => undefined;

async function list(
  request: Partial<ListingRequest>,
  fake = new FakeCatalog(things),
) {
  const listing = new ObjectListing(fake.catalog, fake.inventory, fake.queries);
  const parts: Buffer[] = [];
  for await (const part of listing.list({
    readable,
    format: "members",
    ...request,
  }))
    parts.push(part);
  return { fake, parts, text: Buffer.concat(parts).toString() };
}

/** What the plainest way of answering gives. */
function naive(fits: (thing: Thing) => boolean): object {
  return Object.fromEntries(all.filter(fits).map((one) => [one.id, one]));
}

t.test("the answer is all objects by id", async (t) => {
  t.comment(`seed ${SEED}`);
  const { text, parts } = await list({});
  t.same(
    JSON.parse(text),
    naive(() => true),
  );
  t.ok(parts.length > 5, "in parts");
  t.ok(parts.every(({ length }) => length < 400_000));
  t.equal(
    parts[0]!.toString(),
    "{",
    "the first leaves before any object is read",
  );
});

t.test("no subscribers: an empty object", async (t) => {
  t.equal((await list({}, new FakeCatalog([]))).text, "{}");
});

t.test(
  "objects of a pool that has just been listed are included",
  async (t) => {
    const fake = new FakeCatalog([]);
    fake.addWhenLoaded({ id: "sr", type: "SR" });
    t.same(JSON.parse((await list({}, fake)).text), {
      sr: { id: "sr", type: "SR" },
    });
  },
);

t.test("a type in the filter opens its list directly", async (t) => {
  const { text, fake } = await list({ filter: { type: "VM" } });
  t.same(
    JSON.parse(text),
    naive(({ type }) => type === "VM"),
  );
  t.same(fake.followed, ["VM"]);
  const none = await list({ filter: { type: "Unicorn" } });
  t.equal(none.text, "{}");
  t.same(none.fake.followed, []);
});

t.test("an id in the filter is looked up, not searched", async (t) => {
  const { id, type } = all[4000]!;
  const { text, fake } = await list({ filter: { id } });
  t.same(
    JSON.parse(text),
    naive((thing) => thing.id === id),
  );
  t.equal(fake.followed.length, 1, "only the list of its class is opened");
  t.equal(fake.compared, 1);
  const other = await list({ filter: { id, name_label: "of another VM" } });
  t.equal(other.text, "{}", "the rest of the filter applies too");
  const typed = await list({ filter: { id, type } });
  t.same(JSON.parse(typed.text), JSON.parse(text));
  const wrongType = type === "host" ? "SR" : "host";
  t.equal((await list({ filter: { id, type: wrongType } })).text, "{}");
  t.equal((await list({ filter: { id: "unknown" } })).text, "{}");
  t.equal((await list({ filter: { id: "unknown", type: "VM" } })).text, "{}");
});

t.test("a list in the filter is contained in the object's", async (t) => {
  const { text } = await list({ filter: { type: "host", tags: ["b", "a"] } });
  t.same(
    JSON.parse(text),
    naive(
      ({ type, tags }) => type === "host" && (tags as string[]).includes("a"),
    ),
  );
});

t.test("a filter may be a text", async (t) => {
  const { text } = await list({ filter: "type:VM memory:size:>500" });
  t.same(
    JSON.parse(text),
    naive(
      ({ type, memory }) =>
        type.startsWith("VM") && (memory as { size: number }).size > 500,
    ),
  );
  t.same(
    JSON.parse((await list({ filter: " " })).text),
    naive(() => true),
  );
});

t.test("only lists with types that a text allows are opened", async (t) => {
  const vms = (await list({ filter: "type:vm memory:size:>500" })).fake;
  t.same(vms.followed, ["VM"]);
  const other = await list({ filter: "!type:VM type:|(vm host)" });
  t.same(other.fake.followed, ["host"]);
  t.same(
    JSON.parse(other.text),
    naive(({ type }) => type === "host"),
  );
  const either = await list({ filter: "|(type:SR name_label:x)" });
  t.same(either.fake.followed, ["VM", "host", "SR"]);
});

t.test(
  "a filter of few types tests only objects that a query finds",
  async (t) => {
    const tagged = ({ tags }: Thing) => (tags as string[]).includes("a");
    const found = naive((one) => one.type === "SR" && tagged(one));
    const count = Object.keys(found).length;
    for (const filter of [{ type: "SR", tags: ["a"] }, "type:SR tags:a"]) {
      const { text, fake } = await list({ filter });
      t.same(JSON.parse(text), found);
      t.equal(fake.compared, count);
    }
    const metrics = await list({ filter: "type:VM now.cpu:>0" });
    t.equal(metrics.text, "{}", "no object has metrics");
  },
);

t.test("an invalid filter is reported immediately", async (t) => {
  const { catalog, inventory, queries } = new FakeCatalog();
  const listing = new ObjectListing(catalog, inventory, queries);
  t.throws(() => listing.list({ filter: "a:(", readable, format: "members" }), {
    code: "FILTER_INVALID",
  });
});

t.test("a limit counts printed rows", async (t) => {
  for (const limit of [0, 1, 7]) {
    const { text } = await list({ filter: { type: "SR" }, limit });
    t.equal(Object.keys(JSON.parse(text) as object).length, limit);
  }
});

t.test("unreadable objects do not exist for the user", async (t) => {
  const { text } = await list({
    readable: (type) =>
      type === "VM"
        ? (value) => (value as Thing).id.endsWith("1")
        : () => false,
  });
  t.same(
    JSON.parse(text),
    naive(({ type, id }) => type === "VM" && id.endsWith("1")),
  );
});

t.test("lines have an object each", async (t) => {
  const { text } = await list({ format: "lines", filter: { type: "VM" } });
  const lines = text.trimEnd().split("\n");
  const listed = lines.map((line) => JSON.parse(line) as Thing);
  t.same(
    listed,
    all.filter(({ type }) => type === "VM"),
  );
});

t.test("bytes that have been sent are used again", async (t) => {
  const fake = new FakeCatalog(things);
  const listing = new ObjectListing(fake.catalog, fake.inventory, fake.queries);
  const read = async (isGivenBack: boolean) => {
    const buffers = new Set<ArrayBufferLike>();
    let text = "";
    for await (const part of listing.list({ readable, format: "members" })) {
      text += part.toString();
      if (part.length > 1) buffers.add(part.buffer);
      if (isGivenBack) listing.recycle(part);
    }
    t.same(
      JSON.parse(text),
      naive(() => true),
    );
    return buffers.size;
  };
  t.ok((await read(false)) > 5, "nothing reports that they have been sent");
  t.equal(await read(true), 1);
  listing.recycle(Buffer.from("of another user"));
  await read(true);
});
