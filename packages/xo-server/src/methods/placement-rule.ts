import { XoError } from "@xo-server/model";
import type { NewPlacementRule, PlacementRule, Store } from "@xo-server/store";
import { Type, type Static } from "typebox";
import type { PoolObjects } from "../objects/pool-objects.js";
import {
  defineOperation,
  type HandlerContext,
  type Operation,
} from "../operations/operation.js";
import type { RestRoute } from "../operations/rest-route.js";
import type { XapiGroup } from "../placement/xapi-groups.js";
import { idOf } from "./on-object.js";

export interface PlacementRuleParts {
  readonly store: Pick<Store, "placementRules">;
  readonly objects: Pick<PoolObjects, "get">;
  /** Of pools that are known, by their ids. */
  readonly pools: () => readonly string[];
  /** Those of a pool's own. */
  readonly xapiGroups: (pool: string) => readonly XapiGroup[];
}

const id = Type.String({ minLength: 1, description: "Of a rule." });
const pool = idOf("a pool");
const name = Type.String({ minLength: 1, maxLength: 256 });
const kind = Type.Enum(["together", "apart", "location"], {
  description:
    "together: all on one host; apart: no two on one host; location: on these hosts, or not there.",
});
const strict = Type.Boolean({
  description: "Nothing breaks it; or else it is a wish.",
});
const ids = (description: string) =>
  Type.Array(Type.String({ minLength: 1 }), { maxItems: 1_000, description });
const about = {
  vms: Type.Optional(ids("VMs that it is about.")),
  tag: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description: "Instead of vms: those that have it, now or later.",
    }),
  ),
  hosts: Type.Optional(ids("Of a location.")),
  score: Type.Optional(
    Type.Number({
      minimum: -1e6,
      maximum: 1e6,
      description: "Of a location: below 0 the hosts are avoided. Default: 1.",
    }),
  ),
  weight: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 1e6,
      description: "Of a wish to be together or apart. Default: 1.",
    }),
  ),
};
const closed = { additionalProperties: false } as const;

const PublicRule = Type.Object({
  id,
  pool,
  name,
  kind,
  strict,
  ...about,
  source: Type.Optional(
    Type.String({ description: "xapi: it is the pool's, changed there." }),
  ),
});
type PublicRule = Static<typeof PublicRule>;

const MOST_RULES = 1_000;

/** Rules that say what may, should or must run where. */
export function placementRuleMethods(parts: PlacementRuleParts): Operation[] {
  const { placementRules } = parts.store;
  const find = (ruleId: string): PlacementRule => {
    const rule = placementRules.get(ruleId);
    if (rule !== undefined) return rule;
    throw new XoError("NO_SUCH_OBJECT", { type: "placement rule", id: ruleId });
  };
  const onRule = {
    action: "administrate:place",
    resource: "pool",
    // Of a rule that is not there, nothing is either.
    id: (params: { readonly id: string }) =>
      placementRules.get(params.id)?.pool ?? params.id,
  };
  return [
    getAll(parts),
    defineOperation({
      name: "placementRule.create",
      summary: "A new rule for VMs of a pool; its id.",
      params: Type.Object({ pool, name, kind, strict, ...about }, closed),
      result: Type.String(),
      permission: {
        action: "administrate:place",
        resource: "pool",
        id: ({ pool }) => pool,
      },
      changes: true,
      rest: route("post", "", "CreatePlacementRule", 201),
      async handler(rule) {
        if (placementRules.size >= MOST_RULES)
          throw new XoError("LIMIT_REACHED", {
            limit: MOST_RULES,
            what: "rules of placement",
          });
        await checkRule(rule, parts.objects);
        return (await placementRules.create(toBody(rule))).id;
      },
    }),
    defineOperation({
      name: "placementRule.set",
      summary:
        "Changes a rule; what is not given stays. VMs take the place of a tag, and the other way round.",
      params: Type.Object(
        {
          id,
          name: Type.Optional(name),
          kind: Type.Optional(kind),
          strict: Type.Optional(strict),
          ...about,
        },
        closed,
      ),
      result: Type.Boolean(),
      permission: onRule,
      changes: true,
      rest: route("patch", "/{id}", "UpdatePlacementRule", 204),
      async handler({ id: ruleId, ...patch }) {
        const { vms, tag, ...old } = find(ruleId);
        const named =
          patch.vms === undefined && patch.tag === undefined
            ? { vms, tag }
            : {};
        const rule = toBody({ ...old, ...named, ...patch });
        await checkRule(rule, parts.objects);
        await placementRules.replace(ruleId, rule);
        return true;
      },
    }),
    defineOperation({
      name: "placementRule.delete",
      summary: "Deletes a rule; nothing moves because of it.",
      params: Type.Object({ id }, closed),
      result: Type.Boolean(),
      permission: onRule,
      changes: true,
      rest: route("delete", "/{id}", "DeletePlacementRule", 204),
      async handler(params) {
        await placementRules.delete(params.id);
        return true;
      },
    }),
  ];
}

function getAll({ store, pools, xapiGroups }: PlacementRuleParts): Operation {
  return defineOperation({
    name: "placementRule.getAll",
    summary:
      "Rules of placement, of one pool or of all that the caller may see; also those that pools have themselves.",
    params: Type.Object({ pool: Type.Optional(pool) }, closed),
    result: Type.Array(PublicRule),
    permission: "viewer",
    rest: {
      ...route("get", "", "GetPlacementRules", 200),
      exposure: "allow",
      example: [{ id: EXAMPLE, name: "databases", kind: "apart" }],
    },
    handler: (params, context) => {
      if (params.pool !== undefined) context.check("read", "pool", params.pool);
      const asked =
        params.pool === undefined
          ? pools().filter((one) => maySee(one, context))
          : [params.pool];
      return asked.flatMap((one) => [
        ...Array.from(store.placementRules.list(one), toPublic),
        ...xapiGroups(one).map((group) => ofXapi(one, group)),
      ]);
    },
  });
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

function toPublic({ vms, hosts, ...rule }: PlacementRule): PublicRule {
  return {
    ...rule,
    ...(vms === undefined ? {} : { vms: [...vms] }),
    ...(hosts === undefined ? {} : { hosts: [...hosts] }),
  };
}

function ofXapi(pool: string, { id, name, vms }: XapiGroup): PublicRule {
  const rule = { id, pool, name, kind: "apart" as const, strict: false };
  return { ...rule, vms: [...vms], source: "xapi" };
}

interface GivenRule extends Pick<
  NewPlacementRule,
  "pool" | "name" | "kind" | "strict"
> {
  readonly vms?: readonly string[] | undefined;
  readonly tag?: string | undefined;
  readonly hosts?: readonly string[] | undefined;
  readonly score?: number | undefined;
  readonly weight?: number | undefined;
}

/** Without what a rule of its kind does not have. */
function toBody(given: GivenRule): NewPlacementRule {
  const { pool, name, kind, strict, vms, tag, hosts, score, weight } = given;
  const isLocation = kind === "location";
  return {
    pool,
    name,
    kind,
    strict,
    ...(vms === undefined ? {} : { vms: [...new Set(vms)] }),
    ...(tag === undefined ? {} : { tag }),
    ...(isLocation && hosts !== undefined
      ? { hosts: [...new Set(hosts)] }
      : {}),
    ...(isLocation && score !== undefined ? { score } : {}),
    ...(!isLocation && weight !== undefined ? { weight } : {}),
  };
}

/** Objects that are looked at in one turn: some 20 us each. */
const A_TURN = 25;

/** @throws XoError INVALID_PARAMETERS, NO_SUCH_OBJECT */
async function checkRule(
  { pool, kind, vms, tag, hosts = [], score = 1 }: GivenRule,
  objects: Pick<PoolObjects, "get">,
): Promise<void> {
  if ((vms === undefined) === (tag === undefined))
    throw invalid("a rule is about vms or about a tag");
  if (kind === "location") {
    if (hosts.length === 0) throw invalid("a location has hosts");
    if (score === 0) throw invalid("a score of 0 says nothing");
  } else if (vms !== undefined && new Set(vms).size < 2)
    throw invalid(`${kind} is about two VMs or more`);
  for (const [type, ids] of [
    ["VM", vms ?? []],
    ["host", hosts],
  ] as const)
    for (const [index, one] of ids.entries()) {
      if (objects.get(one, type).object["$pool"] !== pool)
        throw invalid(`${type} ${one} is not in the pool`);
      if (index % A_TURN === A_TURN - 1) await new Promise(setImmediate);
    }
}

function invalid(reason: string): XoError {
  return new XoError("INVALID_PARAMETERS", { reason });
}

const EXAMPLE = "00000000-0000-4000-8000-000000000004";

function route(
  method: RestRoute["method"],
  path: string,
  operationId: string,
  status: 200 | 201 | 204,
): RestRoute {
  const at = { method, path: `/placement-rules${path}` };
  return { ...at, operationId, exposure: "confirm", status };
}
