import type { CatalogEntry } from "@xo-server/inventory";
import type { Services } from "../src/methods/definition/services.js";
import { PoolObjects } from "../src/objects/pool-objects.js";
import { createDispatcher } from "../src/operations/dispatcher.js";
import type { DispatcherOptions } from "../src/operations/dispatcher-options.js";
import type { Dispatcher, Operation } from "../src/operations/operation.js";

export interface TestDispatcherOptions extends Partial<
  Omit<DispatcherOptions<unknown>, "services">
> {
  /** Those that the operations under test work with. */
  readonly services?: Partial<Services>;
  /** In place of `objects`, where no pool is called. Default: there are no objects. */
  readonly findObject?: (id: string) => CatalogEntry | undefined;
}

const silent = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** A dispatcher of some operations, with fake services. */
export function createTestDispatcher<S>(
  operations: readonly Operation<S>[],
  {
    services = {},
    findObject = () => undefined,
    ...options
  }: TestDispatcherOptions = {},
): Dispatcher {
  return createDispatcher(operations, {
    objects: new PoolObjects(
      {
        get: findObject,
        poolOf: (id) => findObject(id)?.pool,
        classOf: (type) => type,
      },
      {
        xapi: () => {
          throw new Error("this test has no pool");
        },
      },
    ),
    logger: silent,
    ...options,
    services: services as S,
  });
}
