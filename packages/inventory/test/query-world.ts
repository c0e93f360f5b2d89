import {
  metricNames,
  type LiveRequest,
  type MetricsTable,
  type Selection,
} from "@xo-server/inventory";
import { FakeViewTable, type FakeObject } from "./fake-view-table.js";
import type { Random } from "./seeded-random.js";

/** Properties in which a search looks. */
export const searched = ["name_label", "tags"];

export const FILTERS = [
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
export const SEARCHES = ["", "vm", "a", "1 v", "é"];
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
export const GROUPS = [
  "power_state",
  "tags",
  "memory.size",
  "os_version",
  "absent",
];

/** Random objects, changes of them, and requests for them. */
export class World {
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
