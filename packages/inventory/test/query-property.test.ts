import {
  createQueries,
  metricNames,
  type LiveQuery,
  type LiveRequest,
  type MetricsTable,
  type Selection,
} from "@xo-server/inventory";
import t from "tap";
import { FakeClock } from "./fake-clock.js";
import {
  canonical,
  createFakeCatalog,
  FakeViewTable,
  type FakeObject,
} from "./fake-view-table.js";
import { LiveCopy } from "./live-copy.js";
import { groups, project, select } from "./naive-query.js";
import { Random } from "./seeded-random.js";

const seed = Number(process.env["SEED"] ?? 1 + Math.floor(Math.random() * 1e9));
const searched = ["name_label", "tags"];
const searchedOf = () => searched;

const FILTERS = [
  "",
  "power_state:running",
  "power_state:|(halted paused) !name_label:3",
  "tags:(a b)",
  "memory:size:>=4",
  "name_label:vm",
  "name_label:/^vm.*[02468]$/i",
  "os_version?",
  "!os_version?",
  "b",
  "tags:length:>1",
  "now:cpu:>0.5",
  "!now:cpu:<0.3 now:memory?",
  "|(now:disk:<=-3 now:(cpu:<0.1 network:>=0))",
];
const SEARCHES = ["", "vm", "a", "1 v", "é"];
const SORTS = [
  [{ by: "name_label" }],
  [{ by: "name_label", descending: true }],
  [{ by: "power_state" }, { by: "memory.size", descending: true }],
  [{ by: "memory.size" }],
  [{ by: "tags" }],
  [{ by: "nothing.at.all" }],
  [],
  [{ by: "now.cpu", descending: true }],
  [{ by: "now.disk" }],
  [{ by: "power_state" }, { by: "now.memory", descending: true }],
];
const FIELDS = [
  undefined,
  ["name_label"],
  ["id", "power_state", "memory"],
  [],
  ["now.cpu"],
  ["id", "now", "tags"],
  ["memory", "now.disk", "now.cpu"],
];
const GROUPS = ["power_state", "tags", "memory.size", "os_version", "absent"];

class World {
  readonly random: Random;
  readonly table = new FakeViewTable();
  /** What is measured, by id, as it was set last. */
  readonly #measured = new Map<string, Record<string, number>>();
  now: MetricsTable | undefined;
  readonly #where = (value: unknown) =>
    (value as FakeObject)["power_state"] !== "Paused";
  #last = 0;

  constructor(random: Random) {
    this.random = random;
  }

  fill(count: number): void {
    for (let i = 0; i < count; i++) this.add();
    this.table.flush();
  }

  add(): void {
    const number = String(this.#last++).padStart(5, "0");
    // Ids in no order, some with a long start in common.
    const start = this.random.pick(["", "0000000-0000-", "é"]);
    this.put(`${start}${this.random.below(1e6).toString(16)}-${number}`);
  }

  put(id: string): void {
    const { random } = this;
    const size = random.below(9);
    const name = `${random.pick(["vm", "VM", "Vm é", "b", "10.0.0."])}${random.below(40)}`;
    const object: FakeObject = {
      id,
      type: random.below(8) === 0 ? "VM-template" : "VM",
      power_state: random.pick(["Running", "Halted", "Paused", "Running"]),
      memory: size === 0 ? {} : { size, usage: random.below(1_000) },
      ...(random.below(5) === 0 ? {} : { name_label: name }),
      ...random.pick([
        {},
        { os_version: null },
        { os_version: { name: "debian" } },
      ]),
      tags: ["a", "b", "c"].filter(() => random.below(2) === 0),
    };
    this.table.put(object);
  }

  /** All objects, with what is measured of them. */
  get all(): readonly FakeObject[] {
    return this.table.all.map((object) => {
      const now = this.#measured.get(object.id);
      return now === undefined ? object : { ...object, now };
    });
  }

  /** Equal numbers, those of either sign, those that are equal in single precision, none. */
  measure(): void {
    const { random, table } = this;
    const id = random.pick(table.ids);
    const metric = random.below(metricNames.length);
    const value = random.pick([
      random.below(1e6) / 1e6,
      random.below(9) - 4,
      1e12 + random.below(1e6) / 128,
      -random.below(1e6) * 1e-300,
      0,
      NaN,
    ]);
    this.now?.set(id, metric, value);
    const now = { ...this.#measured.get(id) };
    delete now[metricNames[metric]!];
    if (!Number.isNaN(value)) now[metricNames[metric]!] = value + 0;
    if (Object.keys(now).length === 0) this.#measured.delete(id);
    else this.#measured.set(id, now);
  }

  change(): void {
    const { random, table } = this;
    const { ids } = table;
    if (ids.length > 0 && random.below(3) === 0) this.measure();
    switch (random.below(ids.length > 60 ? 7 : 5)) {
      case 0:
      case 1:
        this.add();
        break;
      case 2:
      case 3:
      case 4:
        if (ids.length > 0) this.put(random.pick(ids));
        break;
      default: {
        const id = random.pick(ids);
        table.remove(id);
        this.#measured.delete(id);
        if (random.below(2) === 0) table.freeAtOnce();
      }
    }
  }

  selection(): Selection {
    const { random } = this;
    const sort = random.pick(SORTS);
    return {
      type: random.below(6) === 0 ? "VM-template" : "VM",
      filter: random.pick(FILTERS),
      search: random.pick(SEARCHES),
      sort,
      ...(random.below(8) === 0 ? { where: this.#where } : {}),
    };
  }

  request(): LiveRequest {
    const fields = this.random.pick(FIELDS);
    return {
      ...this.selection(),
      offset: this.random.below(3) === 0 ? this.random.below(30) : 0,
      limit: this.random.below(40),
      ...(fields === undefined ? {} : { fields }),
    };
  }
}

t.test(
  `live rows, pages, counts and groups equal a naive reference (SEED=${seed})`,
  async (t) => {
    const random = new Random(seed);
    for (let round = 0; round < 12; round++) {
      const world = new World(random);
      const { table } = world;
      // The second half of the rounds is large enough for the sorting of many.
      world.fill(round < 6 ? random.below(80) : 1_500);
      const changesAtOnce = round % 3 === 2 ? 700 : 12;
      table.stepsPerTurn = 1 + random.below(12);
      const queries = createQueries(createFakeCatalog(table), {
        clock: new FakeClock(),
        searchedOf,
        columnBytes: random.pick([0, 1 << 30]),
        logger: {
          debug: () => undefined,
          info: () => undefined,
          warn: () => undefined,
          error: (message, about) => {
            t.fail(message, { about, seed });
          },
        },
      });
      world.now = queries.metrics("VM");
      let isQuiet = false;
      table.betweenTurns = () => {
        if (isQuiet || random.below(4) > 0) return;
        world.change();
        if (random.below(3) === 0) table.flush();
        if (random.below(3) === 0) world.now?.commit();
      };
      const readers: {
        live: LiveQuery;
        copy: LiveCopy;
        request: LiveRequest;
      }[] = [];
      for (let turn = 0; turn < 12; turn++) {
        isQuiet = false;
        if (readers.length < 12) {
          const request = world.request();
          const copy = new LiveCopy();
          const live = await queries.live(request, copy.listener);
          readers.push({ live, copy, request });
        }
        for (let i = random.below(changesAtOnce); i > 0; i--) world.change();
        if (random.below(3) === 0)
          for (let i = random.below(2 * changesAtOnce); i > 0; i--)
            world.measure();
        table.flush();
        for (const reader of readers) {
          if (random.below(4) > 0) continue;
          // Two at once: the first is abandoned.
          const first =
            random.below(2) === 0 ? { filter: random.pick(FILTERS) } : {};
          const { fields = undefined, ...next } = {
            ...world.request(),
            ...first,
          };
          const abandoned = reader.live.change({
            search: random.pick(SEARCHES),
          });
          reader.request = {
            ...next,
            ...(fields === undefined ? {} : { fields }),
          };
          await Promise.all([
            abandoned,
            // What is left out of a change stays: it is taken back by name.
            reader.live.change({ ...UNSET, ...reader.request } as LiveRequest),
          ]);
        }
        isQuiet = true;
        table.flush();
        world.now.commit();
        await settle(table);
        for (const { copy, request } of readers) {
          const naive = select(world.all, request, searched);
          const seen = naive.slice(
            request.offset,
            request.offset + request.limit,
          );
          const about = `round ${round} turn ${turn} ${JSON.stringify(request)}`;
          same(
            copy.ids,
            seen.map(({ id }) => id),
            `ids of ${about}`,
          );
          same(
            copy.objects,
            seen.map((one) => project(one, request.fields)),
            about,
          );
          same(
            [copy.total, copy.offset],
            [naive.length, request.offset],
            about,
          );
          same(copy.digest, copy.last.digest, `digest of ${about}`);
        }
        const selection = world.selection();
        const naive = select(world.all, selection, searched);
        const about = `round ${round} turn ${turn} ${JSON.stringify(selection)}`;
        same(await queries.count(selection), naive.length, `count of ${about}`);
        same(
          [...(await queries.ids(selection))].sort(),
          naive.map(({ id }) => id).sort(),
          `all ids of ${about}`,
        );
        const by = random.pick(GROUPS);
        const found = await queries.group(selection, by);
        same(
          sorted(found),
          sorted(groups(naive, by)),
          `groups by ${by} of ${about}`,
        );
        same(
          await allPages(selection),
          naive.map(({ id }) => id),
          `pages of ${about}`,
        );
      }
      for (const { live } of readers) live.close();
      queries.stop();
      same(table.observers, 0, "there are no observers left");
      t.pass(`round ${round}`);

      async function allPages(selection: Selection): Promise<string[]> {
        const ids: string[] = [];
        const limit = 1 + random.below(400);
        for (let after: string | undefined; ;) {
          const page = await queries.page({
            ...selection,
            limit,
            ...(after === undefined ? {} : { after }),
          });
          ids.push(...page.ids);
          same(
            page.rows.map(
              (row) => (JSON.parse(row.toString()) as FakeObject).id,
            ),
            page.ids,
            "rows are the ids'",
          );
          if (page.next === undefined) return ids;
          after = page.next;
        }
      }
    }

    function same(found: unknown, requested: unknown, about: string): void {
      if (canonical(found) === canonical(requested)) return;
      t.same(found, requested, about);
      throw new Error(`${about} (SEED=${seed})`);
    }
  },
);

const UNSET = { where: undefined, fields: undefined };

function sorted(groups: readonly { key: unknown; count: number }[]) {
  return groups
    .map(({ key, count }) => `${count} ${canonical(key) ?? "none"}`)
    .sort();
}

/** Until all that is under way has been done. */
async function settle(table: FakeViewTable): Promise<void> {
  for (let i = 0; i < 3; i++)
    await table.run(
      (function* () {
        yield;
      })(),
    );
}
