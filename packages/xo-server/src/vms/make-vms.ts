import { XapiError, XoError } from "@xo-server/model";
import { Type, type Static } from "typebox";
import type { TaskContext } from "../tasks/task-context.js";
import {
  createParameters,
  type CreateParameters,
} from "./create-parameters.js";
import { makeVm, type Workshop } from "./make-vm.js";
import { planNewVm } from "./new-vm.js";
import { fillInAll, numberedNames, type Numbered } from "./numbered-names.js";
import { checkWith } from "./resource-sets.js";

/** A pool clones one template some times at once; more only wait there. */
const AT_ONCE = 4;
const MOST = 250;

export const createManyParameters = Type.Object(
  {
    ...createParameters.properties,
    name_label: Type.Optional(
      Type.String({
        minLength: 1,
        description: "Of all, with a place for the number: `web-{index:02}`.",
      }),
    ),
    names: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        minItems: 1,
        maxItems: MOST,
      }),
    ),
    count: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST })),
    firstIndex: Type.Optional(
      Type.Integer({ minimum: 0, description: "Default: 1." }),
    ),
  },
  {
    additionalProperties: true,
    description:
      "As for one VM. `{name}` and `{index}` in configurations, descriptions, names of disks and addresses stand for those of each.",
  },
);
export type CreateManyParameters = Static<typeof createManyParameters>;

export const madeVms = Type.Array(
  Type.Object({ id: Type.String(), name: Type.String() }),
);
type MadeVm = Static<typeof madeVms>[number];

/**
 * What each of them is made with.
 * @throws XoError INVALID_PARAMETERS
 */
export function toOrders({
  names,
  count,
  firstIndex,
  name_label,
  ...shared
}: CreateManyParameters): CreateParameters[] {
  const all = numberedNames({ names, count, firstIndex, name_label });
  const hasMac = shared.VIFs?.some(({ mac = "" }) => mac !== "") === true;
  if (hasMac && all.length > 1)
    throw new XoError("INVALID_PARAMETERS", {
      reason: "several VMs cannot have one MAC address",
    });
  return all.map((one) => ({
    ...filled(shared, one),
    name_label: one.name,
  }));
}

/** What may tell one of them from the others. */
const FILLED: ReadonlySet<string> = new Set([
  ...["name_description", "cloudConfig", "networkConfig", "PV_args"],
  ...["VDIs", "existingDisks", "VIFs", "xenStoreData"],
]);

function filled<T extends object>(shared: T, one: Numbered): T {
  const members = Object.entries(shared) as [string, unknown][];
  return Object.fromEntries(
    members.map(([key, value]) => [
      key,
      FILLED.has(key) ? fillInAll(value, one) : value,
    ]),
  ) as T;
}

/**
 * Several at a time, each wholly or not at all; each is a part of the work.
 * @throws XoError SOME_FAILED tells which are there, and why the others are not; what one throws where only that is asked for
 */
export async function makeVms(
  given: CreateManyParameters,
  workshop: Workshop,
  work: TaskContext,
): Promise<MadeVm[]> {
  const orders = toOrders(given);
  const { objects, sets, context } = workshop;
  const set =
    typeof given.resourceSet === "string"
      ? sets.open(given.resourceSet, context)
      : undefined;
  // What is wrong with all of them is told before any is made.
  planNewVm(orders[0]!, objects, checkWith(set, context));
  await work.persistState({
    names: orders.map(({ name_label }) => name_label),
  });
  const outcomes = await inTurns(orders, work, (order) =>
    work.part(order.name_label, (part) =>
      makeVm(order, {
        ...workshop,
        objects: objects.forTask(part),
        work: part,
      }),
    ),
  );
  return told(orders, outcomes);
}

type Outcome = PromiseSettledResult<string>;

/** AT_ONCE at a time, until nobody wants it any more. */
async function inTurns(
  orders: readonly CreateParameters[],
  work: TaskContext,
  make: (order: CreateParameters) => Promise<string>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const waiting = orders.entries();
  let done = 0;
  const worker = async () => {
    for (const [i, order] of waiting) {
      outcomes[i] = await settle(() => {
        if (work.signal.aborted)
          throw new XoError("ABORTED", { what: order.name_label });
        return make(order);
      });
      work.progress(++done / orders.length);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return outcomes;
}

async function settle(make: () => Promise<string>): Promise<Outcome> {
  const [outcome] = await Promise.allSettled([Promise.resolve().then(make)]);
  return outcome;
}

function told(
  orders: readonly CreateParameters[],
  outcomes: readonly Outcome[],
): MadeVm[] {
  const created: MadeVm[] = [];
  const failures: object[] = [];
  for (const [i, outcome] of outcomes.entries()) {
    const name = orders[i]!.name_label;
    if (outcome.status === "fulfilled")
      created.push({ id: outcome.value, name });
    else failures.push({ name, ...reasonOf(outcome.reason) });
  }
  const [first] = outcomes;
  if (outcomes.length === 1 && first?.status === "rejected") throw first.reason;
  if (failures.length === 0) return created;
  throw new XoError("SOME_FAILED", {
    what: "making VMs",
    failed: failures.length,
    total: orders.length,
    created,
    failures,
  });
}

function reasonOf(error: unknown): object {
  if (error instanceof XapiError)
    return { code: error.code, params: error.params, message: error.message };
  if (error instanceof XoError)
    return { code: error.code, message: error.message };
  return { code: "INTERNAL", message: "internal error" };
}
