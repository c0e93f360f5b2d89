import { XapiError, XoError } from "@xo-server/model";
import { Type, type Static } from "typebox";
import type { TaskContext } from "../../tasks/task-context.js";
import {
  createParameters,
  type CreateParameters,
} from "./create-parameters.js";
import {
  createVmFromTemplate,
  type CreationContext,
} from "./create-from-template.js";
import { planNewVm } from "./new-vm.js";
import {
  numberedNames,
  Placeholders,
  type Numbered,
} from "./numbered-names.js";
import { checkWith } from "../limits/resource-sets.js";

/** Number of concurrent creations; a pool queues further clones of one template. */
const MAX_CONCURRENT = 4;
const MAX_VMS = 250;
/** Characters of a name. */
const MAX_NAME = 1024;

export const createManyParameters = Type.Object(
  {
    ...createParameters.properties,
    name_label: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_NAME,
        description:
          "Name of the VMs, with a placeholder for the number: `web-{index:02}`.",
      }),
    ),
    names: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: MAX_NAME }), {
        minItems: 1,
        maxItems: MAX_VMS,
        description: "Names of the VMs, instead of name_label and count.",
      }),
    ),
    count: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_VMS,
        description: "Number of VMs. Default: the number of names.",
      }),
    ),
    firstIndex: Type.Optional(
      Type.Integer({ minimum: 0, description: "Default: 1." }),
    ),
  },
  {
    additionalProperties: true,
    description:
      "Parameters of vm.create. `{name}` and `{index}` in configurations, descriptions, names of disks and addresses are replaced with those of each VM.",
  },
);
export type CreateManyParameters = Static<typeof createManyParameters>;

export const createdVms = Type.Array(
  Type.Object({ id: Type.String(), name: Type.String() }),
);
type CreatedVmName = Static<typeof createdVms>[number];

/**
 * The VMs that are requested.
 * @throws XoError INVALID_PARAMETERS
 */
export function requestedVms(input: CreateManyParameters): Numbered[] {
  const all = numberedNames(input);
  const hasMac = input.VIFs?.some(({ mac = "" }) => mac !== "") === true;
  if (hasMac && all.length > 1)
    throw new XoError("INVALID_PARAMETERS", {
      reason: "several VMs cannot have one MAC address",
    });
  return all;
}

/** @throws XoError INVALID_PARAMETERS: too long with the placeholders replaced */
function parametersOf(
  input: CreateManyParameters,
  one: Numbered,
): CreateParameters {
  const shared = Object.fromEntries(
    Object.entries(input).filter(([key]) => !NUMBERING.has(key)),
  ) as Omit<CreateManyParameters, "names" | "count" | "firstIndex">;
  return { ...filled(shared, one), name_label: one.name };
}

/** Parameters that only say how many VMs there are, and their names. */
const NUMBERING: ReadonlySet<string> = new Set([
  "names",
  "count",
  "firstIndex",
]);

/** Parameters with placeholders. */
const FILLED: ReadonlySet<string> = new Set([
  "name_description",
  "cloudConfig",
  "networkConfig",
  "PV_args",
  "VDIs",
  "existingDisks",
  "VIFs",
  "xenStoreData",
]);

function filled<T extends object>(shared: T, one: Numbered): T {
  const members = Object.entries(shared) as [string, unknown][];
  const placeholders = new Placeholders(one);
  return Object.fromEntries(
    members.map(([key, value]) => [
      key,
      FILLED.has(key) ? placeholders.fillInAll(value) : value,
    ]),
  ) as T;
}

/**
 * Finds errors that apply to all VMs before the first one is created.
 * @throws XoError NO_SUCH_OBJECT, FORBIDDEN, INVALID_PARAMETERS
 */
export function checkVms(
  input: CreateManyParameters,
  { objects, sets, context }: CreationContext,
): void {
  // The longest name stands for all: names do not matter otherwise.
  const longest = requestedVms(input).reduce((one, other) =>
    other.name.length > one.name.length ? other : one,
  );
  const set =
    typeof input.resourceSet === "string"
      ? sets.open(input.resourceSet, context)
      : undefined;
  planNewVm(parametersOf(input, longest), objects, checkWith(set, context));
}

/**
 * Creates several VMs, some concurrently, each completely or not at all; each
 * is a part of the task.
 * @throws XoError SOME_FAILED with the created VMs and the failures; the error
 * itself if only one VM was requested
 */
export async function createVms(
  input: CreateManyParameters,
  workshop: CreationContext,
  work: TaskContext,
): Promise<CreatedVmName[]> {
  const vms = requestedVms(input);
  const { objects } = workshop;
  await work.persistState({ names: vms.map(({ name }) => name) });
  const outcomes = await inTurns(vms, work, (vm) =>
    work.part(vm.name, (part) =>
      createVmFromTemplate(parametersOf(input, vm), {
        ...workshop,
        objects: objects.forTask(part),
        work: part,
      }),
    ),
  );
  return reportCreated(vms, outcomes);
}

type Outcome = PromiseSettledResult<string>;

/** Runs MAX_CONCURRENT creations at a time, until the task is cancelled. */
async function inTurns(
  vms: readonly Numbered[],
  work: TaskContext,
  make: (vm: Numbered) => Promise<string>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const waiting = vms.entries();
  let done = 0;
  const worker = async () => {
    for (const [i, vm] of waiting) {
      outcomes[i] = await settle(() => {
        if (work.signal.aborted)
          throw new XoError("ABORTED", { what: vm.name });
        return make(vm);
      });
      work.progress(++done / vms.length);
    }
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, worker));
  return outcomes;
}

async function settle(make: () => Promise<string>): Promise<Outcome> {
  const [outcome] = await Promise.allSettled([Promise.resolve().then(make)]);
  return outcome;
}

/** Maximum number of failures in the message. */
const MAX_NAMED = 5;

function reportCreated(
  vms: readonly Numbered[],
  outcomes: readonly Outcome[],
): CreatedVmName[] {
  const created: CreatedVmName[] = [];
  const failures: { readonly name: string; readonly message: string }[] = [];
  for (const [i, outcome] of outcomes.entries()) {
    const { name } = vms[i]!;
    if (outcome.status === "fulfilled")
      created.push({ id: outcome.value, name });
    else failures.push({ name, ...reasonOf(outcome.reason) });
  }
  const [first] = outcomes;
  if (outcomes.length === 1 && first?.status === "rejected") throw first.reason;
  if (failures.length === 0) return created;
  throw new XoError("SOME_FAILED", {
    what: "creating VMs",
    failed: failures.length,
    total: vms.length,
    reasons: failures
      .slice(0, MAX_NAMED)
      .map(({ name, message }) => `${name}: ${message}`)
      .join("; "),
    created,
    failures,
  });
}

function reasonOf(error: unknown): {
  readonly code: string;
  readonly params?: readonly string[];
  readonly message: string;
} {
  if (error instanceof XapiError)
    return { code: error.code, params: error.params, message: error.message };
  if (error instanceof XoError)
    return { code: error.code, message: error.message };
  return { code: "INTERNAL", message: "internal error" };
}
