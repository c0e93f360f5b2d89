import { isDeepStrictEqual } from "node:util";
import t from "tap";
import {
  canonicalJson,
  createCatalog,
  digestToText,
  type Catalog,
  type Frame,
  type Inventory,
  type PoolHandle,
} from "@xo-server/inventory";
import { createRandom, History, type Random } from "./catalog-history.js";
import { flushed } from "./catalog-pool.js";
import { CatalogReader, objectsOf } from "./catalog-reader.js";
import type { FakeClock } from "./fake-clock.js";
import { createTestInventory } from "./mirror-pool.js";
import { seeds } from "./seeds.js";
import { createTestViews } from "./test-views.js";
import { until } from "./until.js";

const HISTORIES = 50;
const ROUNDS = 14;
const names = ["one", "two", "three"];
const { views } = createTestViews();
const types = views.flatMap((view) => view.types);

/** Some pools, their inventory and its catalog, and readers that read at different times. */
class World {
  readonly histories = new Map<string, History>();
  readonly inventory: Inventory;
  readonly clock: FakeClock;
  readonly catalog: Catalog;
  readonly readers: CatalogReader[];
  /** Takes every frame as it comes, and complains. */
  readonly verifier: FrameVerifier;
  readonly #random: Random;
  readonly #isWatched: boolean;
  /** Subscribers of the feed come and go; otherwise there is always one. */
  readonly #isFeedIdle: boolean;
  #unsubscribe: (() => void) | undefined;
  readonly #handles = new Map<string, PoolHandle>();

  /** @param isWatched readers read at any time; otherwise only when nothing is pending */
  constructor(random: Random, isWatched: boolean, isFeedIdle = false) {
    this.#random = random;
    this.#isWatched = isWatched;
    this.#isFeedIdle = isFeedIdle;
    // A clock that moves with each look: slices are short, and reads fall between them.
    let looks = 0;
    const test = createTestInventory({ sliceMs: 4, sliceNow: () => ++looks });
    this.inventory = test.inventory;
    this.clock = test.clock;
    this.catalog = createCatalog(test.inventory, {
      views,
      clock: test.clock,
      random: () => random(1000) / 1000,
      // Small ones: what is evicted is half of it.
      viewCacheBytes: 1 << (10 + random(9)),
      feedBytes: 1 << (13 + random(8)),
    });
    this.readers = [0, 1, 2].map(() => new CatalogReader(this.catalog));
    this.verifier = new FrameVerifier(this.catalog, !isWatched);
    for (const name of names)
      this.histories.set(name, new History(name, random));
  }

  async live(): Promise<void> {
    const random = this.#random;
    for (const history of this.histories.values()) history.steps(40);
    this.#addPool("one");
    if (random(2) === 0) await this.#turns(random(20));
    await Promise.all(
      views.map(({ className }) => this.catalog.follow(className)),
    );
    if (!this.#isFeedIdle) this.verifier.begin();
    for (let round = 0; round < ROUNDS; round++) await this.#round();
    await this.#calm();
  }

  async #round(): Promise<void> {
    const random = this.#random;
    if (this.#isFeedIdle && random(4) === 0) this.#toggleSubscriber();
    for (const [name, history] of this.histories) {
      history.steps(12);
      if (!this.#handles.has(name)) {
        if (random(2) === 0) this.#addPool(name);
      } else if (random(12) === 0) await this.#removePool(name);
      else if (random(4) === 0) history.pool.lose(this.#accident());
      else history.pool.poll();
    }
    await this.#turns(random(30));
    this.clock.advance(random(60));
    await this.#turns(random(30));
    if (!this.#isWatched) return;
    // The first reader reads often, the last one rarely.
    this.readers.forEach((reader, slowness) => {
      if (random(1 + 4 * slowness) === 0) reader.catchUp();
    });
  }

  #toggleSubscriber(): void {
    const unsubscribe = this.#unsubscribe;
    this.#unsubscribe =
      unsubscribe === undefined
        ? this.catalog.feed.subscribe(() => undefined)
        : undefined;
    unsubscribe?.();
  }

  #accident() {
    return this.#random(2) === 0 ? "events-lost" : new Error("cut off");
  }

  #addPool(name: string): void {
    const { pool } = this.histories.get(name)!;
    this.#handles.set(name, this.inventory.addPool(name, pool));
  }

  async #removePool(name: string): Promise<void> {
    await this.inventory.removePool(name);
    this.#handles.delete(name);
  }

  async #turns(count: number): Promise<void> {
    for (let i = 0; i < count; i++)
      await new Promise((resolve) => setImmediate(resolve));
  }

  /** Waits until all changes are published. */
  async #calm(): Promise<void> {
    for (const [name, handle] of this.#handles) {
      const { pool } = this.histories.get(name)!;
      for (let i = 0; i < 2; i++) {
        await until(() => {
          if (handle.status().state === "backing-off")
            this.clock.advance(60_000);
          return handle.status().state === "watching";
        });
        const { polls } = pool;
        pool.poll();
        await until(
          () => pool.polls > polls || handle.status().state !== "watching",
        );
        this.clock.advance(6_000);
      }
    }
    for (let i = 0; i < 4; i++) await flushed(this.inventory, this.clock);
    for (const reader of this.readers) reader.catchUp();
  }

  async stop(): Promise<void> {
    this.catalog.stop();
    await this.inventory.stop();
  }

  /** What each object may look like: in a pool of its own. */
  async truth(): Promise<Map<string, unknown[]>> {
    const truth = new Map<string, unknown[]>();
    for (const name of this.#handles.keys()) {
      const { inventory, clock } = createTestInventory();
      const { pool } = this.histories.get(name)!;
      const handle = inventory.addPool(name, pool);
      await until(() => handle.status().state === "watching");
      const catalog = createCatalog(inventory, { views, clock });
      for (const { className } of views)
        for (const [key, one] of objectsOf(await catalog.follow(className))) {
          const id = identityOf(catalog, key);
          truth.set(id, [...(truth.get(id) ?? []), one]);
        }
      catalog.stop();
      await inventory.stop();
    }
    return truth;
  }
}

/** A copy built from frames only, which checks that their order is valid. */
class FrameVerifier {
  readonly problems: string[] = [];
  readonly #catalog: Catalog;
  readonly #isStrict: boolean;
  readonly #copy = new Map<string, string>();
  #revision = 0;

  /** @param isStrict no reads between changes: then every published change must be a real one */
  constructor(catalog: Catalog, isStrict: boolean) {
    this.#catalog = catalog;
    this.#isStrict = isStrict;
  }

  begin(): void {
    for (const table of this.#catalog.tables.values())
      for (let row = 0; row < table.rows; row++)
        if (table.isLive(row))
          this.#copy.set(`${table.type(row)} ${table.id(row)}`, "?");
    this.#revision = this.#catalog.feed.revision;
    this.#catalog.feed.subscribe((frame) => {
      this.#take(frame);
    });
  }

  #take({ first, last, changes }: Frame): void {
    if (first !== this.#revision + 1) this.problems.push("a frame is missing");
    this.#revision = last;
    for (const { type, id, kind, json } of changes) {
      const key = `${type} ${id}`;
      const known = this.#copy.get(key);
      const text = json?.toString() ?? "";
      if ((known === undefined) !== (kind === "add"))
        this.problems.push(`${kind} of ${key}`);
      if (this.#isStrict && kind === "update" && known === text)
        this.problems.push(`${key} did not change`);
      if (kind === "remove") this.#copy.delete(key);
      else this.#copy.set(key, text);
    }
  }
}

/** Class and id of an object: in another pool the same id may have another type. */
function identityOf(catalog: Catalog, key: string): string {
  const [type, id] = key.split(" ");
  return `${catalog.classOf(type!)} ${id}`;
}

/** Patched copies have no prototypes, so objects are compared as texts. */
function textOf(object: unknown): string | undefined {
  return object === undefined ? undefined : canonicalJson(object);
}

/** What is wrong with the world's catalog and readers, when all is calm. */
async function problemsOf(world: World): Promise<string[]> {
  const { catalog, readers, verifier } = world;
  const problems = [...verifier.problems];
  const objects = new Map<string, unknown>();
  for (const table of catalog.tables.values())
    for (const [key, object] of objectsOf(table)) objects.set(key, object);
  await world.stop();
  const truth = await world.truth();
  const shown = new Set<string>();
  for (const [key, object] of objects) {
    const id = identityOf(catalog, key);
    shown.add(id);
    if (!(truth.get(id) ?? []).some((one) => isDeepStrictEqual(one, object)))
      problems.push(
        `${key} is not as it should be: ${JSON.stringify([object, truth.get(id)])}`,
      );
  }
  for (const id of truth.keys())
    if (!shown.has(id)) problems.push(`${id} is not shown`);
  readers.forEach((reader, number) => {
    problems.push(...reader.problems);
    for (const key of new Set([...objects.keys(), ...reader.copy.keys()]))
      if (textOf(reader.copy.get(key)) !== textOf(objects.get(key)))
        problems.push(
          `reader ${number}: ${key}: ${JSON.stringify([reader.copy.get(key), objects.get(key)])}`,
        );
    for (const type of types) {
      const table = catalog.tables.get(catalog.classOf(type)!)!;
      if (reader.digest(type) !== digestToText(table.summary(type).digest))
        problems.push(`reader ${number} has another digest of ${type}`);
    }
  });
  return problems;
}

t.test("whatever happens, all copies end up as the pools are", async (t) => {
  let resyncs = 0;
  let patches = 0;
  let histories = 0;
  for (const seed of seeds(HISTORIES)) {
    histories++;
    const world = new World(createRandom(seed), seed % 2 === 0);
    await world.live();
    const problems = await problemsOf(world);
    if (problems.length > 0)
      t.fail(`seed ${seed}: ${problems.slice(0, 5).join("\n")}`);
    for (const reader of world.readers) {
      resyncs += reader.resyncs;
      patches += reader.patches;
    }
  }
  // A few histories may have fewer than all of them have in the mean.
  const least = histories === HISTORIES ? 3.5 : 1.5;
  t.ok(resyncs > least * histories, `${resyncs} times a reader was too slow`);
  t.ok(patches > 2 * histories, `${patches} patches were applied`);
});

t.test("so they do when subscribers of the feed come and go", async (t) => {
  let built = 0;
  let refreshed = 0;
  for (const seed of seeds(HISTORIES)) {
    const world = new World(createRandom(seed), seed % 2 === 0, true);
    await world.live();
    built += world.catalog.stats.built;
    refreshed += world.catalog.stats.refreshed;
    const problems = await problemsOf(world);
    if (problems.length > 0)
      t.fail(`seed ${seed}: ${problems.slice(0, 5).join("\n")}`);
  }
  t.ok(built > 100, `${built} were built for a subscriber`);
  t.ok(refreshed > 100, `${refreshed} were only refreshed`);
});
