import {
  unionOfFields,
  type Catalog,
  type Predicate,
  type Steps,
  type ViewObject,
  type ViewTable,
} from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import { toSelection } from "../objects/object-selection.js";
import { fieldsOfPattern, matchesPattern } from "../auth/matches-pattern.js";
import type { AuthenticatedUser } from "../auth/users/authenticated-user.js";
import { MAX_CALLS } from "./params-vector.js";

/** Rows per step of a slice. */
const STEP = 32;

interface ObjectCriteria {
  /** A complex-matcher pattern in the format of Xen Orchestra's jobs, see matchesPattern. */
  readonly pattern?: object;
  /** In the filter language. */
  readonly filter?: string;
  readonly type?: string;
}

/**
 * The objects that match and that the user may read now. Runs in slices of the
 * event loop.
 * @throws XoError FILTER_INVALID, INVALID_PARAMETERS: too many objects
 */
export async function fetchObjects(
  catalog: Catalog,
  user: AuthenticatedUser,
  { pattern, filter, type = typeOf(pattern) }: ObjectCriteria,
): Promise<ViewObject[]> {
  const fits = toPredicate(pattern, filter);
  const types = type === undefined ? catalog.types : [type];
  const classes = new Set(types.map((one) => catalog.classOf(one)));
  const found: ViewObject[] = [];
  for (const className of classes) {
    if (className === undefined) continue;
    const table = await catalog.follow(className);
    await table.run(
      collect(table, (row) => {
        if (type !== undefined && table.type(row) !== type) return;
        if (!isReadable(table, row, user)) return;
        if (table.matches(row, fits)) add(found, table.object(row));
      }),
    );
  }
  return found;
}

/** @throws XoError FILTER_INVALID */
function toPredicate(pattern: object = {}, filter = ""): Predicate {
  const { test = Object.assign(() => true, { fields: [] }) } =
    toSelection(filter);
  const fits = (object: unknown) =>
    matchesPattern(pattern, object) && test(object);
  const fields = unionOfFields([fieldsOfPattern(pattern), test.fields]);
  return Object.assign(fits, { fields });
}

/** The type of the objects, if the pattern requires a single one. */
function typeOf(pattern: object = {}): string | undefined {
  const { type }: { type?: unknown } = pattern;
  return typeof type === "string" ? type : undefined;
}

function* collect(table: ViewTable, visit: (row: number) => void): Steps {
  for (let row = 0; row < table.rows; row++) {
    if (table.isLive(row)) visit(row);
    if (row % STEP === STEP - 1) yield;
  }
}

function isReadable(
  table: ViewTable,
  row: number,
  user: AuthenticatedUser,
): boolean {
  const extent = user.rights.extent("read", table.type(row));
  return typeof extent === "function"
    ? table.passes(row, extent)
    : extent === "all";
}

function add(found: ViewObject[], object: ViewObject): void {
  found.push(object);
  if (found.length > MAX_CALLS)
    throw new XoError("INVALID_PARAMETERS", {
      reason: `more than ${MAX_CALLS} objects match`,
    });
}
