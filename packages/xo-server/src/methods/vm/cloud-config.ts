import type { CloudConfig, CloudConfigKind } from "@xo-server/store";
import { Type, type Static } from "typebox";
import type { AuthenticatedUser } from "../../auth/users/authenticated-user.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";

const id = Type.String({ minLength: 1, description: "Id of a template." });
const name = Type.String({
  minLength: 1,
  maxLength: 1024,
  description: "Name of the template.",
});
const template = Type.String({
  minLength: 1,
  description:
    "Text of the template for cloud-init. {name} and {index} are replaced with the name and the index of the VM.",
});
const closed = { additionalProperties: false } as const;

const PublicConfig = Type.Object({
  id: Type.String(),
  name: Type.String(),
  template: Type.String(),
});

/** Templates may contain passwords: only users who can create VMs get them. */
async function list(
  { services, user }: OperationContext,
  requested: CloudConfigKind,
): Promise<Static<typeof PublicConfig>[]> {
  if (user === undefined || !(await mayCreateVms(user, services))) return [];
  return [...services.store.cloudConfigs.list()]
    .filter(({ kind }) => kind === requested)
    .map(toPublic);
}

async function mayCreateVms(
  { id, isAdmin, groups, rights }: AuthenticatedUser,
  { store, queries }: OperationContext["services"],
): Promise<boolean> {
  if (isAdmin) return true;
  const subjects = new Set([id, ...groups]);
  for (const set of store.resourceSets.list())
    if (set.subjects.some((subject) => subjects.has(subject))) return true;
  const type = "VM-template";
  const extent = rights.extent("administrate:create-vm", type);
  if (typeof extent === "string") return extent === "all";
  // Rights on single objects, such as an SR, may include no template.
  return (await queries.count({ type, where: extent })) > 0;
}

const shared = { permission: "admin", changes: true } as const;

const cloudConfigGetAll = defineOperation({
  name: "cloudConfig.getAll",
  summary:
    "List the cloud-init templates. Users who cannot create VMs get an empty list.",
  params: Type.Object({}),
  result: Type.Array(PublicConfig),
  permission: "user",
  handler: (_params, context) => list(context, "user"),
});

const cloudConfigGetAllNetworkConfigs = defineOperation({
  name: "cloudConfig.getAllNetworkConfigs",
  summary:
    "List the templates of network configurations. Users who cannot create VMs get an empty list.",
  params: Type.Object({}),
  result: Type.Array(PublicConfig),
  permission: "user",
  handler: (_params, context) => list(context, "network"),
});

const cloudConfigUpdate = defineOperation({
  ...shared,
  name: "cloudConfig.update",
  summary:
    "Change a cloud-init or network configuration template. Absent properties are not changed.",
  params: Type.Object(
    { id, name: Type.Optional(name), template: Type.Optional(template) },
    closed,
  ),
  result: Type.Boolean(),
  async handler({ id: configId, ...patch }, { services }) {
    await services.store.cloudConfigs.update(configId, patch);
    return true;
  },
});

const cloudConfigDelete = defineOperation({
  ...shared,
  name: "cloudConfig.delete",
  summary:
    "Delete a cloud-init or network configuration template. VMs created with it are not changed.",
  params: Type.Object({ id }, closed),
  result: Type.Boolean(),
  async handler(params, { services }) {
    await services.store.cloudConfigs.delete(params.id);
    return true;
  },
});

function toPublic(config: CloudConfig): Static<typeof PublicConfig> {
  return { id: config.id, name: config.name, template: config.template };
}

/** Templates of cloud-init configurations, which guests apply at their first start. */
export const cloudConfigOperations = [
  cloudConfigGetAll,
  cloudConfigGetAllNetworkConfigs,
  ...(
    [
      [
        "cloudConfig.create",
        "user",
        "Create a cloud-init template and return it.",
      ],
      [
        "cloudConfig.createNetworkConfig",
        "network",
        "Create a template of a network configuration and return it.",
      ],
    ] as const
  ).map(([operation, kind, summary]) =>
    defineOperation({
      ...shared,
      name: operation,
      summary,
      params: Type.Object({ name, template }, closed),
      result: PublicConfig,
      async handler(input, { services }) {
        const created = await services.store.cloudConfigs.create({
          ...input,
          kind,
        });
        return toPublic(created);
      },
    }),
  ),
  cloudConfigUpdate,
  cloudConfigDelete,
];
