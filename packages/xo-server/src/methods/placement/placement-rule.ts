import type { Inventory } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import type { NewPlacementRule, PlacementRule } from "@xo-server/store";
import { Type, type Static } from "typebox";
import type { PoolObjects } from "../../objects/pool-objects.js";
import { isAllowed, type HandlerContext } from "../../operations/operation.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import type { RestRoute } from "../../operations/rest-route.js";
import { xapiGroupsOf, type XapiGroup } from "../../placement/xapi-groups.js";
import { idOf } from "../definition/on-object.js";

const id = Type.String({ minLength: 1, description: "Id of a rule." });
const pool = idOf("a pool");
const name = Type.String({
  minLength: 1,
  maxLength: 256,
  description: "Name of the rule.",
});
const kinds = ["affinity", "anti-affinity", "host-affinity"] as const;
const kind = Type.Enum(kinds, {
  description:
    "affinity: all VMs on one host; anti-affinity: no two VMs on one host; host-affinity: VMs only on these hosts, or (with a negative score) on none of them.",
});
const required = Type.Boolean({
  description:
    "true: a hard constraint, never violated; false: a preference (soft constraint).",
});
const ids = (description: string) =>
  Type.Array(Type.String({ minLength: 1 }), { maxItems: 1_000, description });
const about = {
  vms: Type.Optional(ids("Ids of the VMs of the rule.")),
  tag: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description:
        "Tag, instead of vms: the rule applies to all VMs that have it, now or later.",
    }),
  ),
  hosts: Type.Optional(ids("Ids of the hosts of a host affinity.")),
  score: Type.Optional(
    Type.Number({
      minimum: -1e6,
      maximum: 1e6,
      description:
        "Score of a host affinity; with a negative one the hosts are avoided. Default: 1.",
    }),
  ),
  weight: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 1e6,
      description:
        "Weight of a preferred affinity or anti-affinity. Default: 1.",
    }),
  ),
};
const closed = { additionalProperties: false } as const;

const PublicRule = Type.Object({
  id,
  pool,
  name,
  kind,
  required,
  ...about,
  source: Type.Optional(
    Type.String({
      description: "xapi: defined in the pool, where it can be changed.",
    }),
  ),
});
type PublicRule = Static<typeof PublicRule>;

const MAX_RULES = 1_000;

const find = (
  { services }: Pick<OperationContext, "services">,
  ruleId: string,
): PlacementRule => {
  const rule = services.store.placementRules.get(ruleId);
  if (rule !== undefined) return rule;
  throw noSuchRule(ruleId);
};

const noSuchRule = (id: string) =>
  new XoError("NO_SUCH_OBJECT", { type: "placement rule", id });

/**
 * A rule that the caller may change. A rule of a pool that the caller may not read
 * is reported as missing.
 * @throws XoError NO_SUCH_OBJECT, FORBIDDEN
 */
function changeable(context: OperationContext, ruleId: string): PlacementRule {
  const rule = find(context, ruleId);
  if (!maySee(rule.pool, context)) throw noSuchRule(ruleId);
  context.check("administrate:place", "pool", rule.pool);
  return rule;
}

const onRule = "user";

const EXAMPLE = "00000000-0000-4000-8000-000000000004";

const placementRuleCreate = defineOperation({
  name: "placementRule.create",
  summary:
    "Create a placement rule for VMs of a pool (affinity, anti-affinity or host affinity) and return its id.",
  params: Type.Object(
    {
      pool,
      name,
      kind,
      required,
      ...about,
    },
    closed,
  ),
  result: Type.String(),
  permission: {
    action: "administrate:place",
    resource: "pool",
    id: ({ pool }) => pool,
  },
  changes: true,
  rest: route("post", "", "CreatePlacementRule", 201),
  async handler(rule, { services, objects }) {
    if (services.store.placementRules.size >= MAX_RULES)
      throw new XoError("LIMIT_REACHED", {
        limit: MAX_RULES,
        what: "placement rules",
      });
    await checkRule(rule, objects);
    return (await services.store.placementRules.create(toBody(rule))).id;
  },
});

const placementRuleSet = defineOperation({
  name: "placementRule.set",
  summary:
    "Change a placement rule. Absent properties are not changed; `vms` replaces a tag, `tag` replaces a list of VMs.",
  params: Type.Object(
    {
      id,
      name: Type.Optional(name),
      kind: Type.Optional(kind),
      required: Type.Optional(required),
      ...about,
    },
    closed,
  ),
  result: Type.Boolean(),
  permission: onRule,
  changes: true,
  rest: route("patch", "/{id}", "UpdatePlacementRule", 204),
  async handler({ id: ruleId, ...patch }, context) {
    const { vms, tag, ...old } = changeable(context, ruleId);
    const named =
      patch.vms === undefined && patch.tag === undefined ? { vms, tag } : {};
    const rule = toBody({ ...old, ...named, ...patch });
    await checkRule(rule, context.objects);
    await context.services.store.placementRules.replace(ruleId, rule);
    return true;
  },
});

const placementRuleDelete = defineOperation({
  name: "placementRule.delete",
  summary: "Delete a placement rule. No VM is migrated.",
  params: Type.Object({ id }, closed),
  result: Type.Boolean(),
  permission: onRule,
  changes: true,
  rest: route("delete", "/{id}", "DeletePlacementRule", 204),
  async handler(params, context) {
    changeable(context, params.id);
    await context.services.store.placementRules.delete(params.id);
    return true;
  },
});

const placementRuleGetAll = defineOperation({
  name: "placementRule.getAll",
  summary:
    "List the placement rules of one pool, or of all pools that the caller may read, including XAPI's VM groups.",
  params: Type.Object({ pool: Type.Optional(pool) }, closed),
  result: Type.Array(PublicRule),
  permission: "viewer",
  rest: {
    ...route("get", "", "GetPlacementRules", 200),
    exposure: "allow",
    example: [{ id: EXAMPLE, name: "databases", kind: "anti-affinity" }],
  },
  handler: async (params, context) => {
    if (params.pool !== undefined) context.check("read", "pool", params.pool);
    const requested =
      params.pool === undefined
        ? poolIds(context.services.inventory).filter((one) =>
            maySee(one, context),
          )
        : [params.pool];
    const rules = requested.flatMap((one) => [
      ...Array.from(context.services.store.placementRules.list(one), toPublic),
      ...xapiGroups(context, one).map((group) => ofXapi(one, group)),
    ]);
    return withoutHidden(rules, context);
  },
});

function poolIds(inventory: Pick<Inventory, "list">): string[] {
  return Array.from(inventory.list("pool"), ({ uuid }) => uuid ?? "");
}

/** Anti-affinity groups of the pool. */
function xapiGroups(
  { services }: Pick<OperationContext, "services">,
  pool: string,
): readonly XapiGroup[] {
  const connection = services.objects.connectionOf(pool) ?? "";
  return xapiGroupsOf(services.inventory, connection);
}

function maySee(pool: string, rights: Pick<HandlerContext, "check">): boolean {
  try {
    rights.check("read", "pool", pool);
    return true;
  } catch (error) {
    if (error instanceof XoError) return false;
    throw error;
  }
}

/** Omits the ids of VMs and hosts that the caller may not read. */
async function withoutHidden(
  rules: readonly PublicRule[],
  { user, permission, objects }: OperationContext,
): Promise<PublicRule[]> {
  const isHidden = (type: "VM" | "host", id: string): boolean => {
    if (user === undefined) return !isAllowed(permission, "viewer");
    if (user.isAdmin || user.rights.extent("read", type) === "all")
      return false;
    const found = objects.find(id);
    return found === undefined || !user.rights.may("read", type, found.object);
  };
  let count = 0;
  const visible = async (type: "VM" | "host", ids: readonly string[]) => {
    const shown: string[] = [];
    for (const id of ids) {
      if (!isHidden(type, id)) shown.push(id);
      if (++count % CHECKS_PER_TURN === 0) await new Promise(setImmediate);
    }
    return shown;
  };
  const shown: PublicRule[] = [];
  for (const { vms, hosts, ...rule } of rules)
    shown.push({
      ...rule,
      ...(vms === undefined ? {} : { vms: await visible("VM", vms) }),
      ...(hosts === undefined ? {} : { hosts: await visible("host", hosts) }),
    });
  return shown;
}

function toPublic({ vms, hosts, ...rule }: PlacementRule): PublicRule {
  return {
    ...rule,
    ...(vms === undefined ? {} : { vms: [...vms] }),
    ...(hosts === undefined ? {} : { hosts: [...hosts] }),
  };
}

function ofXapi(pool: string, { id, name, vms }: XapiGroup): PublicRule {
  return {
    id,
    pool,
    name,
    kind: "anti-affinity",
    required: false,
    vms: [...vms],
    source: "xapi",
  };
}

interface RuleInput extends Pick<
  NewPlacementRule,
  "pool" | "name" | "kind" | "required"
> {
  readonly vms?: readonly string[] | undefined;
  readonly tag?: string | undefined;
  readonly hosts?: readonly string[] | undefined;
  readonly score?: number | undefined;
  readonly weight?: number | undefined;
}

/** Leaves out members that do not apply to the kind of the rule. */
function toBody(input: RuleInput): NewPlacementRule {
  const { pool, name, kind, required, vms, tag, hosts, score, weight } = input;
  const isHostAffinity = kind === "host-affinity";
  return {
    pool,
    name,
    kind,
    required,
    ...(vms === undefined ? {} : { vms: [...new Set(vms)] }),
    ...(tag === undefined ? {} : { tag }),
    ...(isHostAffinity && hosts !== undefined
      ? { hosts: [...new Set(hosts)] }
      : {}),
    ...(isHostAffinity && score !== undefined ? { score } : {}),
    ...(!isHostAffinity && weight !== undefined ? { weight } : {}),
  };
}

/** Objects checked per turn of the event loop: each is parsed, about 20 us. */
const CHECKS_PER_TURN = 25;

/** @throws XoError INVALID_PARAMETERS, NO_SUCH_OBJECT */
async function checkRule(
  { pool, kind, vms, tag, hosts = [], score = 1 }: RuleInput,
  objects: Pick<PoolObjects, "get">,
): Promise<void> {
  if ((vms === undefined) === (tag === undefined))
    throw invalid("a rule needs either vms or a tag");
  if (kind === "host-affinity") {
    if (hosts.length === 0) throw invalid("a host affinity needs hosts");
    if (score === 0) throw invalid("score must not be 0");
  } else if (vms !== undefined && new Set(vms).size < 2)
    throw invalid(`${kind} needs two VMs or more`);
  for (const [type, ids] of [
    ["VM", vms ?? []],
    ["host", hosts],
  ] as const)
    for (const [index, one] of ids.entries()) {
      if (objects.get(one, type).object["$pool"] !== pool)
        throw invalid(`${type} ${one} is not in the pool`);
      if (index % CHECKS_PER_TURN === CHECKS_PER_TURN - 1)
        await new Promise(setImmediate);
    }
}

function invalid(reason: string): XoError {
  return new XoError("INVALID_PARAMETERS", { reason });
}

function route(
  method: RestRoute["method"],
  path: string,
  operationId: string,
  status: 200 | 201 | 204,
): RestRoute {
  const at = { method, path: `/placement-rules${path}` };
  return { ...at, operationId, exposure: "confirm", status };
}

/** Rules for the placement of VMs: affinity, anti-affinity, host affinity. */
export const placementRuleOperations = [
  placementRuleGetAll,
  placementRuleCreate,
  placementRuleSet,
  placementRuleDelete,
];
