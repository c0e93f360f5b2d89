import type { FilterPlan } from "../filter/analyse-filter.js";
import type { Column, ColumnTest } from "./column.js";
import type { Columns } from "./columns.js";
import { pathKey, type ValuePath } from "./value-path.js";

type Test = (row: number) => boolean;

/** The paths that a filter plan reads. */
export function pathsOf(plan: FilterPlan): ValuePath[] {
  switch (plan.kind) {
    case "and":
    case "or":
      return plan.parts.flatMap(pathsOf);
    case "not":
      return pathsOf(plan.part);
    case "path":
      return [plan.path];
    case "object":
      return [];
  }
}

/**
 * A filter plan compiled for the rows of a table; predicates are evaluated once
 * per distinct value.
 */
export class RowTest {
  /** The test reads whole objects, not only columns. */
  readonly readsObjects: boolean;
  readonly #columns: Columns;
  readonly #byPath: ReadonlyMap<string, Column>;
  readonly #pathTests: ColumnTest[] = [];
  readonly #test: Test;

  /** @param own columns of all paths that the plan reads */
  constructor(plan: FilterPlan, columns: Columns, own: readonly Column[]) {
    this.#columns = columns;
    this.#byPath = new Map(own.map((column) => [column.key, column]));
    this.readsObjects = readsObjects(plan);
    this.#test = this.#compile(plan);
  }

  /** Whether the object of a row matches the plan. @param row must have an object */
  holds(row: number): boolean {
    return this.#test(row);
  }

  /** See ColumnTest.finishFirstPass. */
  finishFirstPass(): void {
    for (const test of this.#pathTests) test.finishFirstPass();
  }

  close(): void {
    for (const test of this.#pathTests) test.close();
  }

  #compile(plan: FilterPlan): Test {
    switch (plan.kind) {
      case "and":
        return every(
          inOrderOfCost(plan.parts).map((one) => this.#compile(one)),
        );
      case "or":
        return some(inOrderOfCost(plan.parts).map((one) => this.#compile(one)));
      case "not": {
        const test = this.#compile(plan.part);
        return (row) => !test(row);
      }
      case "path":
        return this.#compilePath(plan);
      case "object": {
        const { table } = this.#columns;
        if (plan.isLasting === true)
          return (row) => table.passes(row, plan.test);
        return (row) => table.matches(row, plan.test);
      }
    }
  }

  #compilePath({ path, test }: FilterPlan & { kind: "path" }): Test {
    const column = this.#byPath.get(pathKey(path))!;
    const pathTest = column.openTest(test);
    this.#pathTests.push(pathTest);
    return (row) => pathTest.holds(row);
  }
}

function readsObjects(plan: FilterPlan): boolean {
  switch (plan.kind) {
    case "and":
    case "or":
      return plan.parts.some(readsObjects);
    case "not":
      return readsObjects(plan.part);
    case "path":
      return false;
    case "object":
      return true;
  }
}

/** Tests of whole objects last: they are expensive. */
function inOrderOfCost(parts: readonly FilterPlan[]): readonly FilterPlan[] {
  return [
    ...parts.filter((part) => !readsObjects(part)),
    ...parts.filter(readsObjects),
  ];
}

function every(tests: readonly Test[]): Test {
  return (row) => {
    for (const test of tests) if (!test(row)) return false;
    return true;
  };
}

function some(tests: readonly Test[]): Test {
  return (row) => {
    for (const test of tests) if (test(row)) return true;
    return false;
  };
}
