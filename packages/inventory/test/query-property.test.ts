import {
  createQueries,
  type LiveQuery,
  type LiveRequest,
  type Selection,
} from "@xo-server/inventory";
import t, { type Test } from "tap";
import { FakeClock } from "./fake-clock.js";
import {
  canonical,
  createFakeCatalog,
  type FakeObject,
  type FakeViewTable,
} from "./fake-view-table.js";
import { LiveCopy } from "./live-copy.js";
import { groups, project, select } from "./naive-query.js";
import { FILTERS, GROUPS, searched, SEARCHES, World } from "./query-world.js";
import { Random } from "./seeded-random.js";

const seed = Number(process.env["SEED"] ?? 1 + Math.floor(Math.random() * 1e9));

interface Reader {
  readonly live: LiveQuery;
  readonly copy: LiveCopy;
  request: LiveRequest;
}

/** A world, queries of its objects, and readers of live queries. */
class Round {
  readonly world: World;
  readonly queries;
  readonly #number: number;
  readonly #random: Random;
  readonly #readers: Reader[] = [];
  readonly #changesAtOnce: number;
  #isQuiet = false;

  constructor(t: Test, number: number, random: Random) {
    this.#number = number;
    this.#random = random;
    this.world = new World(random);
    const { table } = this.world;
    // The second half of the rounds is large enough for the sorting of many.
    this.world.fill(number < 6 ? random.below(80) : 1_500);
    this.#changesAtOnce = number % 3 === 2 ? 700 : 12;
    table.stepsPerTurn = 1 + random.below(12);
    this.queries = createQueries(createFakeCatalog(table), {
      clock: new FakeClock(),
      searchedOf: () => searched,
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
    this.world.now = this.queries.metrics("VM");
    table.betweenTurns = () => {
      if (this.#isQuiet || random.below(4) > 0) return;
      this.world.change();
      if (random.below(3) === 0) table.flush();
      if (random.below(3) === 0) this.world.now?.commit();
    };
  }

  /** A reader more, changes of objects, and of what readers request. */
  async change(): Promise<void> {
    const { world } = this;
    const random = this.#random;
    this.#isQuiet = false;
    if (this.#readers.length < 12) {
      const request = world.request();
      const copy = new LiveCopy();
      const live = await this.queries.live(request, copy.listener);
      this.#readers.push({ live, copy, request });
    }
    for (let i = random.below(this.#changesAtOnce); i > 0; i--) world.change();
    if (random.below(3) === 0)
      for (let i = random.below(2 * this.#changesAtOnce); i > 0; i--)
        world.measure();
    world.table.flush();
    for (const reader of this.#readers)
      if (random.below(4) === 0) await this.#changeRequest(reader);
  }

  /** Two at once: the first is abandoned. */
  async #changeRequest(reader: Reader): Promise<void> {
    const random = this.#random;
    const first = random.below(2) === 0 ? { filter: random.pick(FILTERS) } : {};
    const { fields = undefined, ...next } = {
      ...this.world.request(),
      ...first,
    };
    const abandoned = reader.live.change({ search: random.pick(SEARCHES) });
    reader.request = { ...next, ...(fields === undefined ? {} : { fields }) };
    await Promise.all([
      abandoned,
      // What is left out of a change stays: it is taken back by name.
      reader.live.change({ ...UNSET, ...reader.request } as LiveRequest),
    ]);
  }

  /** What was sent, counted, grouped and listed equals the naive reference. */
  async check(turn: number): Promise<void> {
    this.#isQuiet = true;
    this.world.table.flush();
    this.world.now?.commit();
    await settle(this.world.table);
    const about = `round ${this.#number} turn ${turn}`;
    for (const reader of this.#readers) this.#checkReader(reader, about);
    await this.#checkSelection(this.world.selection(), about);
  }

  #checkReader({ copy, request }: Reader, turn: string): void {
    const naive = select(this.world.all, request, searched);
    const seen = naive.slice(request.offset, request.offset + request.limit);
    const about = `${turn} ${JSON.stringify(request)}`;
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
    same([copy.total, copy.offset], [naive.length, request.offset], about);
    same(copy.digest, copy.last.digest, `digest of ${about}`);
  }

  async #checkSelection(selection: Selection, turn: string): Promise<void> {
    const { queries } = this;
    const naive = select(this.world.all, selection, searched);
    const about = `${turn} ${JSON.stringify(selection)}`;
    same(await queries.count(selection), naive.length, `count of ${about}`);
    same(
      [...(await queries.ids(selection))].sort(),
      naive.map(({ id }) => id).sort(),
      `all ids of ${about}`,
    );
    const by = this.#random.pick(GROUPS);
    const found = await queries.group(selection, by);
    same(
      sorted(found),
      sorted(groups(naive, by)),
      `groups by ${by} of ${about}`,
    );
    same(
      await this.#allPages(selection),
      naive.map(({ id }) => id),
      `pages of ${about}`,
    );
  }

  async #allPages(selection: Selection): Promise<string[]> {
    const ids: string[] = [];
    const limit = 1 + this.#random.below(400);
    for (let after: string | undefined; ;) {
      const page = await this.queries.page({
        ...selection,
        limit,
        ...(after === undefined ? {} : { after }),
      });
      ids.push(...page.ids);
      same(
        page.rows.map((row) => (JSON.parse(row.toString()) as FakeObject).id),
        page.ids,
        "rows are the ids'",
      );
      if (page.next === undefined) return ids;
      after = page.next;
    }
  }

  end(): void {
    for (const { live } of this.#readers) live.close();
    this.queries.stop();
    same(this.world.table.observers, 0, "there are no observers left");
  }
}

t.test(
  `live rows, pages, counts and groups equal a naive reference (SEED=${seed})`,
  async (t) => {
    const random = new Random(seed);
    for (let number = 0; number < 12; number++) {
      const round = new Round(t, number, random);
      for (let turn = 0; turn < 12; turn++) {
        await round.change();
        await round.check(turn);
      }
      round.end();
      t.pass(`round ${number}`);
    }
  },
);

function same(found: unknown, requested: unknown, about: string): void {
  if (canonical(found) === canonical(requested)) return;
  t.same(found, requested, about);
  throw new Error(`${about} (SEED=${seed})`);
}

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
