import {
  createQueries,
  type QueriesOptions,
  type SortKey,
} from "@xo-server/inventory";
import { FakeClock } from "./fake-clock.js";
import {
  createFakeCatalog,
  FakeViewTable,
  type FakeObject,
} from "./fake-view-table.js";

export const vm = (id: string, more: object = {}): FakeObject => ({
  id,
  type: "VM",
  name_label: id,
  power_state: "Running",
  ...more,
});

export function create(names: readonly string[], options: QueriesOptions = {}) {
  const table = new FakeViewTable();
  for (const name of names) table.put(vm(name));
  table.flush();
  const clock = new FakeClock();
  const errors: string[] = [];
  const queries = createQueries(createFakeCatalog(table), {
    clock,
    searchedOf: () => ["name_label"],
    logger: {
      debug: () => undefined,
      info: () => undefined,
      warn: () => undefined,
      error: (message) => errors.push(message),
    },
    ...options,
  });
  const sorted = async (...sort: SortKey[]) =>
    (await queries.page({ type: "VM", sort })).ids;
  /** The end of a window, and all that it brings. */
  const flush = async () => {
    table.flush();
    await table.run(oneStep());
  };
  return { table, queries, clock, errors, sorted, flush };
}

function* oneStep() {
  yield;
}

export const window = { type: "VM", offset: 0, limit: 10 };
